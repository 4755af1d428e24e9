package locks

import (
	"context"
	"fmt"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/recipes/inspect"
)

// askCmd asks holders to release.
type askCmd struct {
	Path string `arg:"" help:"The lock."`

	Servers serversFlags `embed:""`
}

func (askCmd) Help() string {
	return words.WithExamples("The request is Curator's: the data of the holder's node becomes __REVOKE__. A holder that listens (WithRevocation or OnRevoke of recipes, makeRevocable of Curator) may release the lock. No client is forced.",
		"zkverify locks ask /locks/orders")
}

// Run is called by kong.
func (c *askCmd) Run(ctx context.Context, con *Console) error {
	s, err := c.Servers.open(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	l, err := inspect.Read(ctx, s, c.Path)
	if err != nil {
		return explain(ctx, err)
	}
	if err := touchable(l); err != nil {
		return err
	}
	asked := 0
	said := make(map[string]bool) // the permits of one acquire are one hold
	for _, h := range l.Holders() {
		name := identified(h)
		if h.Library != inspect.LibraryCurator {
			con.say("%s cannot be asked: locks of %s know no such request", name, h.Library)
			continue
		}
		if err := s.revoke(ctx, h.Path); err != nil {
			return explain(ctx, err)
		}
		asked++
		if !said[name] {
			fmt.Fprintf(con.Out, "asked %s to release %s\n", name, pathText(c.Path))
		}
		said[name] = true
	}
	if asked == 0 {
		return &Exit{exitUsage, fmt.Errorf("%s: no holder could be asked", pathText(c.Path))}
	}
	con.tell("", "No client is forced: a holder releases if its program listens to the request, and wants to. See who holds the lock by zkverify locks inspect.")
	return nil
}

// revoke asks the holder with a node to release.
func (s *servers) revoke(ctx context.Context, node string) error {
	bounded, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	err := s.client.Revoke(bounded, s.whole(node))
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return s.lost(errSilent)
	}
	return err
}

// touchable returns an error unless the lock is of a known recipe and has a holder.
func touchable(l *inspect.Lock) error {
	switch {
	case l.Recipe == inspect.Unknown:
		return refuse("%s: its nodes are those of no recipe that is known here, so it is left alone", pathText(l.Path))
	case l.Recipe == inspect.DoubleBarrier:
		return refuse("%s: a double barrier has members, and no holder", pathText(l.Path))
	}
	if holders, _ := l.Count(); holders == 0 {
		return refuse("%s: no client holds it", pathText(l.Path))
	}
	return nil
}
