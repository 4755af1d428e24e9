package locks

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/inspect"
)

// breakCmd deletes the node of a holder.
type breakCmd struct {
	Path  string `arg:"" help:"The lock."`
	Token string `required:"" help:"The token of the holder, as zkverify locks inspect prints it. If another client holds the lock by now, nothing is deleted." placeholder:"TOKEN"`
	Yes   bool   `help:"Do not ask."`

	Servers serversFlags `embed:""`
}

func (breakCmd) Help() string {
	return words.WithExamples("The lock is free at once, also if its holder is alive: two clients may believe that they hold it. Ask the holder first (zkverify locks ask), or end its process.",
		"zkverify locks break /locks/orders --token 0x300000017")
}

// token parses --token.
func (c *breakCmd) token() (recipes.Token, error) {
	text, _, _ := strings.Cut(c.Token, ".") // leases that share a transaction share their node: the token's Sub is ignored
	zxid, err := strconv.ParseInt(text, 0, 64)
	if err != nil || zxid <= 0 {
		return recipes.Token{}, fmt.Errorf("--token: %q is not a token such as 0x300000017", c.Token)
	}
	return recipes.Token{Zxid: zxid}, nil
}

// Validate is called by kong.
func (c *breakCmd) Validate() error {
	if c.Token == "" {
		return nil // kong reports the missing flag
	}
	_, err := c.token()
	return err
}

// Run is called by kong.
func (c *breakCmd) Run(ctx context.Context, con *Console) error {
	token, err := c.token()
	if err != nil {
		return refuse("%w", err)
	}
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
	victims := l.With(token)
	if len(victims) == 0 {
		return notHeld(l, token)
	}
	con.say("%s", warning(l, victims))
	if err := c.confirm(ctx, con); err != nil {
		return err
	}
	gone, err := inspect.Break(ctx, s, c.Path, token)
	switch {
	case errors.Is(err, inspect.ErrNotHeld):
		if now, readErr := inspect.Read(ctx, s, c.Path); readErr == nil {
			return notHeld(now, token)
		}
		return refuse("%s: the holder with token %v has released it; nothing was deleted", pathText(c.Path), token)
	case unconnected(err), err != nil && ctx.Err() != nil:
		return &Exit{exitUnsure, fmt.Errorf("%w: it is not known whether the node was deleted, see zkverify locks inspect %s", err, pathText(c.Path))}
	case err != nil:
		return explain(ctx, err)
	}
	for i := range gone {
		fmt.Fprintf(con.Out, "deleted %s\n", pathText(gone[i].Path))
	}
	return nil
}

// notHeld returns the error for a token that no holder has. It names the holders.
func notHeld(l *inspect.Lock, token recipes.Token) error {
	const shown = 5
	var holders []string
	for i, h := range l.Holders() {
		if i == shown {
			holders = append(holders, "others")
			break
		}
		holders = append(holders, identified(h))
	}
	return refuse("%s: no client holds it with token %v; nothing was deleted. It is held by %s", pathText(l.Path), token, strings.Join(holders, ", "))
}

// warning describes the effect of the delete on the holder.
func warning(l *inspect.Lock, victims []*inspect.Contender) string {
	h := victims[0]
	what := "the node"
	if len(victims) > 1 {
		what = words.Count(len(victims), "permit")
	}
	_, waiters := l.Count()
	var b strings.Builder
	fmt.Fprintf(&b, "This deletes %s of %s, which holds %s. It has %s.\n", what, identified(h), pathText(l.Path), words.Count(waiters, "waiter"))
	b.WriteString("The lock is free at once. If the holder is alive, it goes on believing that it holds the lock: a holder of recipes until its next heartbeat, a sixth of its session timeout; one of Curator, kazoo or zk.Lock until it releases.\n")
	b.WriteString("What refuses older tokens (recipes.Fence, Lease.Multi) refuses the old holder as soon as the next one has written. What does not is written to by both.")
	return b.String()
}

// confirm asks the user whether to go on. Without a terminal to ask on it returns an error.
func (c *breakCmd) confirm(ctx context.Context, con *Console) error {
	if c.Yes {
		return nil
	}
	if !con.Asks {
		return refuse("there is no terminal to ask on: give --yes to delete the node; nothing was deleted")
	}
	fmt.Fprint(con.Err, "Delete it? Type yes: ")
	answer := make(chan string, 1)
	go func() { // ends with a line, or with the process
		line, err := bufio.NewReader(con.In).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			line = ""
		}
		answer <- line
	}()
	select {
	case line := <-answer:
		if strings.TrimSpace(line) == "yes" {
			return nil
		}
		return &Exit{exitUnsure, errors.New("nothing was deleted")}
	case <-ctx.Done():
		fmt.Fprintln(con.Err)
		return &Exit{exitUnsure, errors.New("interrupted: nothing was deleted")}
	}
}
