package faults

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/zkverify/zkverify/internal/wait"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// Listener is implemented by a World that knows when its clients send requests.
type Listener interface {
	// Sent returns the time at which a client last sent a request other than a ping; the
	// zero time if it is not known.
	Sent(client int) time.Time
	// Answers returns the number of a client's requests, other than pings, that have been
	// answered; 0 if it is not known.
	Answers(client int) int
}

// slowFollowerKind delays the replies to a lock's holder and lets the holder renew its
// lease that way. Then, just when a request of the holder has come through, it cuts the
// follower at the other end off from its peers, and the holder off from the other
// servers. The last reply then took long to reach the holder: a lease that is counted
// from the reply, and not from the request, outlasts the session.
func slowFollowerKind() fault.Kind {
	return fault.Kind{
		Name:        "slow-holder-follower",
		Description: "a lock's holder hears late from its server, a follower, which is then cut off from the other servers",
		Needs:       fault.NeedsPeers, Weight: 1, Early: 3,
		Span:   fault.Timeouts(2.6, 3), // replies are slow for 1 to 1.5 of them
		Params: []fault.Param{fault.Duration("latency", time.Millisecond)},
		Make:   makeSlowFollower,
	}
}

func makeSlowFollower(s fault.Scene) (fault.Fault, error) {
	f, holder, err := holderFollower(s, "slow-holder-follower", func(c fault.Client) bool { return fault.AtHolder.At(c) && (c.Lingers || !s.Exact) })
	if err != nil {
		return fault.Fault{}, err
	}
	t := s.SessionTimeout()
	// Too short for a client to give up its server, and longer than a server's tick and
	// a half, by which the end of a session may be late.
	latency := s.SetDuration(&f, "latency", t/5)
	slow, cut, heal := []links.Link{holder.Links[holder.Linked]}, f.Start, f.Stop
	rest := slices.DeleteFunc(holder.AllLinks(), func(l links.Link) bool { return l == slow[0] })
	f.Endure, f.HealWithin = 5*t/2, f.HealWithin+2*t
	f.Start = func(ctx context.Context) error {
		if err := fault.Each(ctx, slow, func(ctx context.Context, l links.Link) error { return l.DelayReplies(ctx, latency) }); err != nil {
			return err
		}
		wait.For(ctx, t)
		if w, ok := s.World.(Listener); ok {
			awaitRequest(ctx, func() time.Time { return w.Sent(holder.Index) }, t/2)
			wait.For(ctx, passing)
		}
		// The other links are cut too: otherwise the holder would move to another server
		// and keep its session.
		return errors.Join(cut(ctx), fault.Each(ctx, rest, func(ctx context.Context, l links.Link) error { return l.Cut(ctx, links.BlackHole) }))
	}
	f.Stop = func(ctx context.Context) error {
		if err := heal(ctx); err != nil {
			return err
		}
		return fault.Each(ctx, holder.AllLinks(), func(ctx context.Context, l links.Link) error { return l.Heal(ctx) })
	}
	return f, nil
}

// passing bounds the time for a write to go from a server through the leader and back. It
// is shorter than the interval at which the leader asks its followers for active sessions.
const passing = 15 * time.Millisecond

// awaitRequest returns when a request has been sent, or patience has passed.
func awaitRequest(ctx context.Context, sent func() time.Time, patience time.Duration) {
	before, end := sent(), time.Now().Add(patience)
	for sent() == before && time.Now().Before(end) {
		if !wait.For(ctx, time.Millisecond) {
			return
		}
	}
}
