package locks

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/recipes/inspect"
)

// lsCmd lists locks.
type lsCmd struct {
	Paths []string `arg:"" name:"path" help:"List the locks at and below it."`
	JSON  bool     `name:"json" help:"Print JSON."`

	Servers serversFlags `embed:""`
}

func (lsCmd) Help() string {
	return words.WithExamples("The locks with the most waiters come first. A lock that no client holds or waits for has no nodes, and is not listed. Ages are those of nodes, by this machine's clock: a hold is at most as old as its node. Exit status 2 if something could not be read.",
		"zkverify locks ls /locks",
		"zkverify locks ls --json --servers zk1:2181,zk2:2181,zk3:2181 /")
}

// Run is called by kong.
func (c *lsCmd) Run(ctx context.Context, con *Console) error {
	s, err := c.Servers.open(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	found, err := inspect.Find(ctx, s, c.Paths, inspect.Brief())
	if err != nil {
		return explain(ctx, err)
	}
	slices.SortStableFunc(found.Locks, func(a, b inspect.Lock) int { return cmp.Compare(waiting(&b), waiting(&a)) })
	if c.JSON {
		err = writeJSON(con.Out, listing{Locks: summaries(found.Locks, con.now()), Unreadable: unreadables(found)})
	} else {
		err = writeList(con.Out, found.Locks, con.now())
	}
	return cmp.Or(err, unread(con, found))
}

func waiting(l *inspect.Lock) int {
	_, n := l.Count()
	return n
}

// unread prints the paths that could not be read, and returns the error if there are any.
func unread(con *Console, found *inspect.Snapshot) error {
	const shown = 10
	for i, u := range found.Unreadable {
		if i == shown {
			con.say("%d more could not be read", len(found.Unreadable)-shown)
			break
		}
		con.say("%s could not be read: %v (give credentials by --auth-file)", pathText(u.Path), u.Err)
	}
	if len(found.Unreadable) > 0 {
		return &Exit{Status: exitUnsure}
	}
	return nil
}

func writeList(out io.Writer, locks []inspect.Lock, now time.Time) error {
	if len(locks) == 0 {
		_, err := fmt.Fprintln(out, "no lock is held or waited for")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "LOCK\tRECIPE\tHOLDER\tHELD\tWAITERS\tWAITED")
	for i := range locks {
		l := &locks[i]
		holder, waiter := l.Oldest()
		_, waiters := l.Count()
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", pathText(l.Path), recipeText(l), holdersText(l, holder), age(holder, now), waitersText(l, waiters), age(waiter, now))
	}
	return w.Flush()
}

// holdersText names the oldest holder, and counts the others.
func holdersText(l *inspect.Lock, holder *inspect.Contender) string {
	holders, _ := l.Count()
	switch {
	case l.Recipe == inspect.Unknown:
		return "?"
	case holder == nil && holders > 0:
		return words.Count(holders, "holder")
	case holder == nil:
		return "-"
	case holders > 1:
		return fmt.Sprintf("%s and %d more", who(holder), holders-1)
	}
	return who(holder)
}

func waitersText(l *inspect.Lock, n int) string {
	if l.Recipe == inspect.Unknown {
		return words.Count(n, "node")
	}
	return fmt.Sprint(n)
}

func age(c *inspect.Contender, now time.Time) string {
	if c == nil || !c.Read {
		return "-"
	}
	return ageText(inspect.Age(now, c.Since))
}

func writeJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
