package locks

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/recipes/inspect"
)

// inspectCmd shows one lock.
type inspectCmd struct {
	Path string `arg:"" help:"The lock."`
	JSON bool   `name:"json" help:"Print JSON."`

	Servers serversFlags `embed:""`
}

func (inspectCmd) Help() string {
	return words.WithExamples("The address of a client and the state of its session come from the four-letter words cons and dump, which the servers have to allow (4lw.commands.whitelist=srvr,cons,dump).",
		"zkverify locks inspect /locks/orders")
}

// Run is called by kong.
func (c *inspectCmd) Run(ctx context.Context, con *Console) error {
	s, err := c.Servers.open(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	l, err := inspect.Read(ctx, s, c.Path)
	if err != nil {
		return explain(ctx, err)
	}
	sessions := s.sessions() // read after the lock, so that sessions that have ended since are gone
	if ctx.Err() != nil {
		return interrupted(ctx)
	}
	if c.JSON {
		return writeJSON(con.Out, detailsOf(l, sessions, con.now()))
	}
	return writeLock(con, l, sessions)
}

// details is the JSON of inspect.
type details struct {
	Path     string            `json:"path"`
	Recipe   inspect.Recipe    `json:"recipe"`
	Size     int               `json:"size,omitempty"` // of a semaphore, if its nodes tell it
	Queue    []*contender      `json:"queue"`
	Foreign  []string          `json:"foreign,omitempty"`
	Ready    *time.Time        `json:"roundSince,omitempty"` // of a double barrier
	Changing bool              `json:"changing,omitempty"`
	Unasked  map[string]string `json:"unasked,omitempty"` // servers that did not tell of their sessions, and why
}

func detailsOf(l *inspect.Lock, sessions *inspect.Sessions, now time.Time) details {
	d := details{Path: l.Path, Recipe: l.Recipe, Size: l.Size, Foreign: l.Foreign, Changing: l.Changing, Queue: []*contender{}, Unasked: map[string]string{}}
	for i := range l.Queue {
		d.Queue = append(d.Queue, contenderOf(&l.Queue[i], now, sessions))
	}
	for addr, err := range sessions.Unasked {
		d.Unasked[addr] = err.Error()
	}
	if l.Round != nil {
		d.Ready = words.Time(l.Round.Since)
	}
	return d
}

func writeLock(con *Console, l *inspect.Lock, sessions *inspect.Sessions) error {
	out, now := con.Out, con.now()
	fmt.Fprintf(out, "%s: %s\n", pathText(l.Path), headline(l, now))
	if len(l.Queue) > 0 {
		fmt.Fprintln(out)
	}
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	if len(l.Queue) > 0 {
		fmt.Fprintln(w, "#\tSTATE\tAGE\tTOKEN\tSESSION\tSESSION IS\tCLIENT\tDATA\tNODE")
	}
	for i := range l.Queue {
		c := &l.Queue[i]
		session := "none"
		if c.Session != 0 {
			session = sessionID(c.Session)
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%v\t%s\t%s\t%s\t%s\t%s\n", i+1, stateText(l, c), age(c, now), c.Token, session,
			sessionStateText(sessions, c.Session), dash(sessions.Client(c.Session)), dash(dataText(c)), nodeText(l, c))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, note := range notes(l, sessions) {
		fmt.Fprintln(out)
		con.tell("", note)
	}
	return nil
}

// headline sums up the table in words.
func headline(l *inspect.Lock, now time.Time) string {
	holders, waiters := l.Count()
	switch l.Recipe {
	case inspect.Unknown:
		return "unknown: " + words.Count(waiters, "node") + " that no recipe names so"
	case inspect.DoubleBarrier:
		if l.Round == nil {
			return fmt.Sprintf("%s, %s, no round has begun", recipeText(l), words.Count(waiters, "member"))
		}
		text := fmt.Sprintf("%s, a round of %s began %s ago", recipeText(l), words.Count(holders, "member"), ageText(inspect.Age(now, l.Round.Since)))
		if waiters > 0 {
			text += ", " + words.Count(waiters, "member") + " outside it"
		}
		return text
	case inspect.Election:
		return fmt.Sprintf("%s, %s, %s", recipeText(l), words.Count(holders, "leader"), words.Count(waiters, "other candidate"))
	case inspect.Semaphore:
		of := ""
		if l.Size > 0 {
			of = fmt.Sprintf(" of %d", l.Size)
		}
		return fmt.Sprintf("%s, %s%s out, %s", recipeText(l), words.Count(holders, "permit"), of, words.Count(waiters, "waiter"))
	}
	return fmt.Sprintf("%s, %s, %s", recipeText(l), words.Count(holders, "holder"), words.Count(waiters, "waiter"))
}

func stateText(l *inspect.Lock, c *inspect.Contender) string {
	state := "waits"
	switch {
	case l.Recipe == inspect.Unknown:
		return "?"
	case l.Recipe == inspect.DoubleBarrier && c.Holds:
		return "inside"
	case l.Recipe == inspect.Election && c.Holds:
		return "leads"
	case c.Holds:
		state = "holds"
	}
	if c.Kind == inspect.KindRead || c.Kind == inspect.KindWrite {
		state += " (" + string(c.Kind) + ")"
	}
	return state
}

// sessionStateText returns the state of a session, with the time that it has left if that is
// short.
func sessionStateText(sessions *inspect.Sessions, session int64) string {
	state := sessions.State(session)
	left, known := sessions.Left(session)
	switch {
	case state == inspect.SessionNone:
		return "-"
	case known && (state == inspect.SessionExpiring || state == inspect.SessionUnheard):
		return fmt.Sprintf("%s (%s left)", state, ageText(left))
	}
	return string(state)
}

// nodeText returns a node's path relative to the lock, which for kazoo may be a path beside it.
func nodeText(l *inspect.Lock, c *inspect.Contender) string {
	if dir := path.Dir(c.Path); dir == l.Path {
		return pathText(path.Base(c.Path))
	} else if path.Dir(dir) == l.Path {
		return pathText(path.Base(dir) + "/" + path.Base(c.Path))
	}
	return pathText(c.Path)
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// notes returns remarks about facts that the table does not show.
func notes(l *inspect.Lock, sessions *inspect.Sessions) (notes []string) {
	if l.Changing {
		notes = append(notes, "The queue changed each time it was read: some of it may be missing.")
	}
	if len(l.Foreign) > 0 {
		notes = append(notes, fmt.Sprintf("%s that are not of this recipe: see zkverify locks doctor.", words.Count(len(l.Foreign), "child node")))
	}
	for _, addr := range slices.Sorted(maps.Keys(sessions.Unasked)) {
		notes = append(notes, fmt.Sprintf("%s does not tell of its sessions: %v", addr, sessions.Unasked[addr]))
	}
	return notes
}
