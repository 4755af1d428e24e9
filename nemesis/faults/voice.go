package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// voice is what one server says to others: requests on the links that it has opened, and
// replies on those that the others have. It may say it on either.
type voice struct{ opened, accepted []links.Link }

func voiceOf(e ensemble.Ensemble, from int, to ...int) (v voice, err error) {
	peers, ok := e.(ensemble.PeerLinks)
	if !ok {
		return v, fmt.Errorf("this ensemble (%s) has no links between its servers", e.Kind())
	}
	for _, other := range to {
		v.opened, v.accepted = append(v.opened, peers.Peer(from, other)...), append(v.accepted, peers.Peer(other, from)...)
	}
	return v, nil
}

// links are those of both directions.
func (v voice) links() []links.Link {
	return slices.Concat(v.opened, v.accepted)
}

// lose has all of it be lost.
func (v voice) lose(ctx context.Context) error {
	cut := func(cut links.Cut) func(context.Context, links.Link) error {
		return func(ctx context.Context, l links.Link) error { return l.Cut(ctx, cut) }
	}
	return errors.Join(fault.Each(ctx, v.opened, cut(links.RequestsLost)), fault.Each(ctx, v.accepted, cut(links.RepliesLost)))
}

// hold has it held back until the links change.
func (v voice) hold(ctx context.Context) error {
	stall := func(requests bool) func(context.Context, links.Link) error {
		return func(ctx context.Context, l links.Link) error { return l.Stall(ctx, requests, !requests) }
	}
	return errors.Join(fault.Each(ctx, v.opened, stall(true)), fault.Each(ctx, v.accepted, stall(false)))
}
