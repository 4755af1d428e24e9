package locks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/recipes/inspect"
)

// cut shortens a text where there is a terminal.
func (p *past) cut(text string, most int) string {
	if p.con.Screen == nil {
		return text
	}
	return shorten(text, most)
}

// write writes what was gathered.
func (p *past) write(f *files) error {
	switch {
	case p.err != nil:
		return p.err
	case p.JSON:
		if !p.at.IsZero() {
			for i := range p.present {
				if err := json.NewEncoder(p.out).Encode(stayJSONOf(&p.present[i])); err != nil {
					return err
				}
			}
		}
		return json.NewEncoder(p.out).Encode(map[string]any{"summary": p.summary(f)})
	}
	if p.list {
		fmt.Fprintln(p.out)
	}
	fmt.Fprintf(p.out, "%s from %s to %s UTC, %s\n", words.Count(f.transactions, "transaction"), timeText(f.first.Time), timeText(f.last.Time),
		words.Count(len(f.dirs), "folder"))
	if !p.at.IsZero() {
		return p.writePresent()
	}
	if len(p.locks) == 0 {
		fmt.Fprintln(p.out, "no lock had a contender")
		return nil
	}
	p.writeLocks()
	if !p.list {
		p.section("Longest holds", p.holds, func(s *inspect.Stay) (time.Time, string, string) { return s.Granted, ageText(s.Held()), endText(s) })
		p.section("Longest waits", p.waits, func(s *inspect.Stay) (time.Time, string, string) {
			if s.Granted.IsZero() {
				return s.Asked, ageText(s.Waited()), endText(s)
			}
			return s.Asked, ageText(s.Waited()), "granted"
		})
		p.queues()
	}
	p.section(fmt.Sprintf("Lost: expired, or deleted by another session (%d)", p.nLost), p.lost, func(s *inspect.Stay) (time.Time, string, string) {
		if s.End == inspect.EndDeleted {
			return s.Gone, ageText(s.Held()), "by " + sessionID(s.By)
		}
		return s.Gone, ageText(s.Held()), endText(s)
	})
	p.section(fmt.Sprintf("Out of order (%d): they came ahead of nodes that were there", p.nOutOfOrder), p.outOfOrder, func(s *inspect.Stay) (time.Time, string, string) {
		return s.Asked, ageText(s.Held()), fmt.Sprintf("passed %d", s.Overtook)
	})
	return nil
}

func (p *past) writeLocks() {
	fmt.Fprintln(p.out)
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "LOCK\tRECIPE\tHOLDS\tLONGEST\tWAITED\tQUEUE\tLOST")
	all := slices.SortedFunc(maps.Values(p.locks), moreImportant)
	const most = 100
	for _, l := range all[:min(most, len(all))] {
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%d\t%d\n", p.cut(pathText(l.path), 28), l.recipe, l.holds, ageText(l.hold), ageText(l.wait), l.queue, l.lost)
	}
	w.Flush() //nolint:errcheck // the error of a bufio.Writer stays until Flush
	if n := len(all) - most + p.others.locks; n > 0 && (len(all) > most || p.others.locks > 0) {
		fmt.Fprintf(p.out, "and %s\n", words.Count(n, "more lock"))
	}
}

// section lists stays.
func (p *past) section(title string, of longest, columns func(*inspect.Stay) (time.Time, string, string)) {
	if len(of.all) == 0 {
		return
	}
	fmt.Fprintf(p.out, "\n%s\n", title)
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for i := range of.all {
		s := &of.all[i].Stay
		at, lasted, how := columns(s)
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", timeText(at), lasted, how, p.cut(pathText(s.Lock), 16), p.cut(who(&s.Contender), 16))
	}
	w.Flush() //nolint:errcheck // the error of a bufio.Writer stays until Flush
}

// queues lists the longest queues.
func (p *past) queues() {
	all := slices.SortedFunc(maps.Values(p.locks), func(a, b *lockPast) int { return cmp.Or(cmp.Compare(b.queue, a.queue), cmp.Compare(a.path, b.path)) })
	all = slices.DeleteFunc(all[:min(p.Top, len(all))], func(l *lockPast) bool { return l.queue == 0 })
	if len(all) == 0 {
		return
	}
	fmt.Fprint(p.out, "\nLongest queues\n")
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, l := range all {
		fmt.Fprintf(w, "%s\t%d ahead\t%s\n", timeText(l.queued), l.queue, p.cut(pathText(l.path), 48))
	}
	w.Flush() //nolint:errcheck // the error of a bufio.Writer stays until Flush
}

// holdsAt reports whether a stay held the lock at a time.
func holdsAt(s *inspect.Stay, at time.Time) bool { return !s.Granted.IsZero() && !s.Granted.After(at) }

// writePresent shows the contenders at the time of --at.
func (p *past) writePresent() error {
	fmt.Fprintf(p.out, "at %s UTC:\n\n", timeText(p.at))
	if len(p.present) == 0 {
		fmt.Fprintln(p.out, "no lock was held or waited for")
		return nil
	}
	slices.SortFunc(p.present, func(a, b inspect.Stay) int {
		first := 1
		if holdsAt(&a, p.at) {
			first = -1
		}
		if holdsAt(&a, p.at) == holdsAt(&b, p.at) {
			first = 0
		}
		return cmp.Or(cmp.Compare(a.Lock, b.Lock), first, a.Contender.Token.Compare(b.Contender.Token))
	})
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "LOCK\tSTATE\tFOR\tTHEN\tAFTER\tHOLDER")
	for i := range p.present {
		s := &p.present[i]
		state, since, then, until := "waits", s.Asked, endText(s), s.Gone
		switch {
		case holdsAt(s, p.at):
			state, since = "holds", s.Granted
		case !s.Granted.IsZero():
			then, until = "granted", s.Granted
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", p.cut(pathText(s.Lock), 20), state, ageText(p.at.Sub(since)), then, ageText(max(0, until.Sub(p.at))), p.cut(who(&s.Contender), 19))
	}
	return w.Flush()
}
