package recipes

import (
	"context"
	"fmt"
)

// ownerKey is the key of the owner in a context.
type ownerKey struct{}

// owner identifies the holder of a lock. A second acquire of one owner re-enters.
type owner struct {
	id     string
	leases []*Lease // whose contexts led to this one, outermost first; none with WithOwner
}

// WithOwner returns a context with which acquires are made in the name of id:
// while a lock is held by id, acquiring it again by id through the same Client
// re-enters. Owners of different clients are different, whatever their ids. With
// an empty id the context has no owner, and each acquire is one of its own.
func WithOwner(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, ownerKey{}, owner{id: id})
}

func ownerOf(ctx context.Context) owner {
	o, _ := ctx.Value(ownerKey{}).(owner)
	return o
}

// checkOwner refuses a context whose own lease on this path is over: going on
// as if it still held would hide the loss.
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
