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

// Listener is implemented by a World that hears when its clients send requests.
type Listener interface {
	// Sent returns when a client last sent a request, and not just a ping; the zero
	// time when that is not known.
	Sent(client int) time.Time
	// Answers returns how many of a client's requests, other than pings, have been
	// answered; 0 when that is not known.
	Answers(client int) int
}

// slowFollowerKind makes what a lock's holder hears slow, lets the holder renew its
// lease that way, and then cuts the follower at the other end off from its peers,
// and the holder from the other servers, just when a request of the holder has come through. What the holder hears last
// then took long to reach it: a lease that is counted from an answer, and not from
// the request, outlasts the session.
func slowFollowerKind() fault.Kind {
	return fault.Kind{
		Name:        "slow-holder-follower",
		Description: "a lock's holder hears late from its server, a follower, which is then cut off from the other servers",
		Needs:       fault.NeedsPeers, Weight: 1, Early: 3,
		Span:   fault.Timeouts(2.6, 3), // of which it is slow for the first, and at most half of another
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
	// Below what a client takes for the loss of its server, and more than a server's
	// tick and a half, by which the end of a session may be late.
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
		// It has nowhere to go, or it would, and keep its session.
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

// passing is what a write takes at most to go from a server through the leader and
// back: less than it takes the leader to ask its followers who is active.
const passing = 15 * time.Millisecond

// awaitRequest returns when a request has been sent, or patience ends.
func awaitRequest(ctx context.Context, sent func() time.Time, patience time.Duration) {
	before, end := sent(), time.Now().Add(patience)
	for sent() == before && time.Now().Before(end) {
		if !wait.For(ctx, time.Millisecond) {
			return
		}
	}
}
