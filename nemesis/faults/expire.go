package faults

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// expireWithin bounds the time of a forced expiry: it takes milliseconds while the
// ensemble serves.
const expireWithin = 2 * time.Second

// expireKind forces a session to expire: another connection presents the session's id
// and password to a server and closes the session. The client cannot be warned; a lock
// can still promise that the fence holds and that the loss is reported soon.
func expireKind() fault.Kind {
	return fault.Kind{
		Name:        histories.ForcedExpiry,
		Description: "a client's session is forced to expire, as by an administrator",
		Weight:      4,
		Span:        fault.Instant,
		Make: func(s fault.Scene) (fault.Fault, error) {
			c, err := s.Victim()
			if err != nil {
				return fault.Fault{}, err
			}
			e, timeout := s.Ensemble(), s.SessionTimeout()
			return fault.Fault{
				Name:       histories.ForcedExpiry,
				Params:     map[string]string{"session": fmt.Sprintf("0x%016x", uint64(c.Session))},
				HealWithin: expireWithin,
				Start: func(ctx context.Context) error {
					return expireAnywhere(ctx, e, c.Linked, c.Session, c.Password, timeout)
				},
			}.OnClients(c), nil
		},
	}
}

// expireAnywhere tries the client's own server first, which certainly knows the
// session. Other servers may not know it yet, but the first may not serve.
func expireAnywhere(ctx context.Context, e ensemble.Ensemble, first int, session int64, password []byte, timeout time.Duration) error {
	var servers []ensemble.Server
	for _, server := range e.Servers() {
		if server.ID == first {
			servers = slices.Insert(servers, 0, server)
		} else {
			servers = append(servers, server)
		}
	}
	return ensemble.ExpireAnywhere(ctx, servers, expireWithin/3, session, password, timeout)
}
