package recipes

import (
	"context"
	"fmt"
)

// ownerKey is the key of the owner in a context.
type ownerKey struct{}

// owner identifies the holder of a lock. A second acquire by the same owner re-enters.
type owner struct {
	id     string
	leases []*Lease // leases whose contexts this context derives from, outermost first; none with WithOwner
}

// WithOwner returns a context that makes id the owner of acquires: while id holds a lock, another
// acquire by id through the same [Client] re-enters. Equal ids of different clients are different
// owners. With an empty id each acquire has an owner of its own.
func WithOwner(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, ownerKey{}, owner{id: id})
}

func ownerOf(ctx context.Context) owner {
	o, _ := ctx.Value(ownerKey{}).(owner)
	return o
}

// checkOwner returns an error for a context whose own lease on this path is over: an acquire that
// succeeded with it would hide the loss.
func checkOwner(o owner, path string) error {
	for i := len(o.leases) - 1; i >= 0; i-- {
		if o.leases[i].Path() != path {
			continue
		}
		switch o.leases[i].State() {
		case Lost:
			return ErrLeaseLost
		case Released:
			return fmt.Errorf("%w: the lease of this context was released", ErrNotHeld)
		}
		return nil
	}
	return nil
}
