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

// voice holds the links that carry the messages of one server to others: as requests on the links
// that it opened, and as replies on the links that the others opened. It may use either.
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

// links returns the links that were opened by either side.
func (v voice) links() []links.Link {
	return slices.Concat(v.opened, v.accepted)
}

// lose makes the links lose the messages.
func (v voice) lose(ctx context.Context) error {
	cut := func(cut links.Cut) func(context.Context, links.Link) error {
		return func(ctx context.Context, l links.Link) error { return l.Cut(ctx, cut) }
	}
	return errors.Join(fault.Each(ctx, v.opened, cut(links.RequestsLost)), fault.Each(ctx, v.accepted, cut(links.RepliesLost)))
}

// hold makes the links hold the messages back until the links are changed again.
func (v voice) hold(ctx context.Context) error {
	stall := func(requests bool) func(context.Context, links.Link) error {
		return func(ctx context.Context, l links.Link) error { return l.Stall(ctx, requests, !requests) }
	}
	return errors.Join(fault.Each(ctx, v.opened, stall(true)), fault.Each(ctx, v.accepted, stall(false)))
}
