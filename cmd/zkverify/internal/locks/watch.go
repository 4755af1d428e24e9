package locks

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/recipes/inspect"
)

// watchCmd shows locks again and again.
type watchCmd struct {
	Paths    []string      `arg:"" name:"path" help:"Watch the locks at and below it."`
	Interval time.Duration `default:"2s" help:"Time between two tables. The locks are read ten times as often, but not more often than every 100ms, nor for more than half of the time."`
	Count    int           `help:"End after this many tables; default when interrupted." placeholder:"N"`
	Top      int           `help:"Show this many locks; default as many as the terminal has room for, otherwise 20." placeholder:"N"`
	JSON     bool          `name:"json" help:"Print a line of JSON for each table."`

	Servers serversFlags `embed:""`
}

func (watchCmd) Help() string {
	return words.WithExamples("GRANTS/S counts contenders that left the queue, also those that gave up; the servers count them, so none is missed. The quantiles of holds and waits are of the last 256 that were seen from beginning to end, to the time between two readings. One that a single reading has seen is shown by its bound, such as <400ms; shorter ones may be missed.",
		"zkverify locks watch /locks",
		"zkverify locks watch --interval 10s --count 6 /locks > locks.txt")
}

// Validate is called by kong.
func (c *watchCmd) Validate() error {
	switch {
	case c.Interval <= 0:
		return fmt.Errorf("--interval must be positive, not %v", c.Interval)
	case c.Count < 0:
		return fmt.Errorf("--count must not be negative, not %d", c.Count)
	case c.Top < 0:
		return fmt.Errorf("--top must not be negative, not %d", c.Top)
	}
	return nil
}

// Bounds on how often the locks are read.
const (
	readingsPerTable = 10
	shortestPause    = 100 * time.Millisecond
)

// Run is called by kong. An interrupt ends it without an error.
func (c *watchCmd) Run(ctx context.Context, con *Console) error {
	s, err := c.Servers.open(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	w := watcher{watchCmd: c, con: con, s: s, period: max(c.Interval/readingsPerTable, shortestPause)}
	if err := w.read(ctx); err != nil {
		return endOf(ctx, explain(ctx, err))
	}
	for n := 1; c.Count == 0 || n <= c.Count; n++ {
		if err := w.interval(ctx); err != nil {
			return endOf(ctx, err)
		}
		if err := w.show(); err != nil {
			return err
		}
	}
	return nil
}

// endOf returns err, but nil after an interrupt.
func endOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// watcher reads locks again and again and shows tables of them.
type watcher struct {
	*watchCmd
	con     *Console
	s       *servers
	sampler inspect.Sampler
	period  time.Duration // between two readings
	drawn   bool
}

// read reads the locks once.
func (w *watcher) read(ctx context.Context) error {
	found, err := inspect.Find(ctx, w.s, w.Paths, inspect.Brief())
	if err != nil {
		return err
	}
	w.sampler.Add(found)
	w.period = max(w.Interval/readingsPerTable, shortestPause, 2*found.Took)
	return nil
}

// interval reads the locks until a table is due.
func (w *watcher) interval(ctx context.Context) error {
	for due := time.Now().Add(w.Interval); ; {
		pause := min(w.period, time.Until(due))
		select {
		case <-time.After(max(0, pause)):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		err := w.read(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, zk.ErrNoNode):
			w.sampler.Add(&inspect.Snapshot{At: time.Now()}) // the servers remove containers that are empty
		case unconnected(err):
			return explain(ctx, err)
		case err != nil:
			w.con.say("%v; trying again", explain(ctx, err))
		}
		if !time.Now().Before(due) {
			return nil
		}
	}
}

// show writes a table.
func (w *watcher) show() error {
	rates := w.sampler.Rates()
	slices.SortFunc(rates, func(a, b inspect.Rate) int {
		return cmp.Or(cmp.Compare(waiting(&b.Lock), waiting(&a.Lock)), cmp.Compare(b.Grants, a.Grants), cmp.Compare(a.Lock.Path, b.Lock.Path))
	})
	if w.JSON {
		return w.showJSON(rates)
	}
	if w.con.Screen == nil {
		var b bytes.Buffer
		w.table(&b, rates, cmp.Or(w.Top, defaultTop))
		fmt.Fprintln(&b)
		_, err := w.con.Out.Write(b.Bytes())
		return err
	}
	width, height := w.con.Size()
	var b bytes.Buffer
	const around = 3 // the headline, the heads of the columns, the cursor
	w.table(&b, rates, cmp.Or(w.Top, max(1, height-around)))
	return w.draw(b.String(), width)
}

// defaultTop is the number of locks that are shown where there is no terminal.
const defaultTop = 20

// draw overwrites the terminal.
func (w *watcher) draw(table string, width int) error {
	var b strings.Builder
	if !w.drawn {
		b.WriteString("\x1b[2J") // clear
		w.drawn = true
	}
	b.WriteString("\x1b[H") // to the top
	for line := range strings.Lines(table) {
		letters := []rune(words.Line(strings.TrimRight(line, "\n")))
		if width > 0 && len(letters) > width {
			letters = letters[:width]
		}
		b.WriteString(string(letters) + "\x1b[K\n") // and clear the rest of the line
	}
	b.WriteString("\x1b[J") // and of the screen
	_, err := io.WriteString(w.con.Screen, b.String())
	return err
}

func (w *watcher) table(out io.Writer, rates []inspect.Rate, top int) {
	waited := 0
	for i := range rates {
		if waiting(&rates[i].Lock) > 0 {
			waited++
		}
	}
	fmt.Fprintf(out, "%s   %s in use, %d waited for, read every %s\n", w.con.now().Format(time.DateTime), words.Count(len(rates), "lock"), waited, ageText(w.period))
	if len(rates) == 0 {
		return
	}
	t := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "LOCK\tHOLDER\tHELD\tWAITERS\tGRANTS/S\tHOLD p50\tp99\tWAIT p50\tp99\tRECIPE")
	for i := range rates[:min(top, len(rates))] {
		r := &rates[i]
		holder, _ := r.Lock.Oldest()
		grants := "-"
		if r.Counted {
			grants = fmt.Sprintf("%.1f", r.Grants)
		}
		lock, who := pathText(r.Lock.Path), holdersText(&r.Lock, holder)
		if w.con.Screen != nil {
			lock, who = shorten(lock, columnLock), shorten(who, columnHolder)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", lock, who, age(holder, w.con.now()),
			waitersText(&r.Lock, waiting(&r.Lock)), grants, quantiles(r.Holds), quantiles(r.Waits), recipeText(&r.Lock))
	}
	t.Flush() //nolint:errcheck // writes to a buffer do not fail
	if n := len(rates) - top; n > 0 && w.con.Screen == nil {
		fmt.Fprintf(out, "and %s\n", words.Count(n, "more lock"))
	}
}

// The widths of columns on a terminal: the first three columns and WAITERS fit into 80.
const (
	columnLock   = 32
	columnHolder = 24
)

// shorten cuts letters from the middle of a text, so that its end stays.
func shorten(text string, most int) string {
	letters := []rune(text)
	if len(letters) <= most {
		return text
	}
	half := (most - 1) / 2
	return string(letters[:most-1-half]) + "…" + string(letters[len(letters)-half:])
}

// quantiles formats quantiles. A bound, of what one reading alone has seen, begins with <.
func quantiles(q inspect.Quantiles) string {
	if q.N == 0 {
		return "-\t-"
	}
	text := func(d time.Duration, atMost bool) string {
		if atMost {
			return "<" + ageText(d)
		}
		return ageText(d)
	}
	return text(q.P50, q.AtMost50) + "\t" + text(q.P99, q.AtMost99)
}

// tableJSON is a table as a line of JSON.
type tableJSON struct {
	At    time.Time  `json:"at"`
	Every float64    `json:"readEverySeconds"`
	Locks []rateJSON `json:"locks"`
}

type rateJSON struct {
	summary
	Grants *float64       `json:"grantsPerSecond,omitempty"`
	Holds  *quantilesJSON `json:"holdSeconds,omitempty"`
	Waits  *quantilesJSON `json:"waitSeconds,omitempty"`
}

type quantilesJSON struct {
	N        int     `json:"seen"`
	P50      float64 `json:"p50"`
	P99      float64 `json:"p99"`
	AtMost50 bool    `json:"p50IsABound,omitempty"`
	AtMost99 bool    `json:"p99IsABound,omitempty"`
}

func (w *watcher) showJSON(rates []inspect.Rate) error {
	t := tableJSON{At: w.con.now(), Every: w.period.Seconds(), Locks: []rateJSON{}}
	if w.Top > 0 {
		rates = rates[:min(w.Top, len(rates))]
	}
	for i := range rates {
		r := &rates[i]
		j := rateJSON{summary: summaryOf(&r.Lock, t.At), Holds: quantilesOf(r.Holds), Waits: quantilesOf(r.Waits)}
		if r.Counted {
			j.Grants = &r.Grants
		}
		t.Locks = append(t.Locks, j)
	}
	return json.NewEncoder(w.con.Out).Encode(t)
}

func quantilesOf(q inspect.Quantiles) *quantilesJSON {
	if q.N == 0 {
		return nil
	}
	return &quantilesJSON{q.N, q.P50.Seconds(), q.P99.Seconds(), q.AtMost50, q.AtMost99}
}
