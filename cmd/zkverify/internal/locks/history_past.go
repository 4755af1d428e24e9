package locks

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/zkverify/zkverify/recipes/inspect"
	"github.com/zkverify/zkverify/report"
)

// past gathers the stays of contenders. It keeps a number of them that does not grow with the logs.
type past struct {
	*historyCmd
	con *Console
	out *bufio.Writer
	err error // of out

	there              bool // a contender was at or below the path
	list               bool // a line has been printed for each stay so far
	locks              map[string]*lockPast
	others             folded
	holds, waits       longest
	lost, outOfOrder   longest
	nLost, nOutOfOrder int
	present            []inspect.Stay // at the time of --at
	nHolds             int
	page               *report.Past // of --html; nil: there is nothing to draw so far
	files              *files
}

// lockPast is the record of a lock.
type lockPast struct {
	path                string
	recipe              inspect.Recipe
	holds, gaveUp, lost int
	hold, wait          time.Duration // the longest
	queue               int           // the longest, with its holders
	queued              time.Time     // when
	held                bool          // at the end
}

// folded counts locks that are in no table, because there are too many.
type folded struct{ locks, holds int }

// mostLocks bounds the number of locks of which a record is kept.
const mostLocks = 1 << 16

// add is called for each stay that ends.
func (p *past) add(s *inspect.Stay) {
	if !p.wanted(s.Lock) {
		return
	}
	p.there = true
	held := !s.Granted.IsZero()
	switch {
	case !p.from.IsZero() && s.Gone.Before(p.from), !p.to.IsZero() && s.Asked.After(p.to):
		return
	case !p.at.IsZero():
		if !s.Asked.After(p.at) && s.Gone.After(p.at) || s.End == inspect.EndNone && !s.Asked.After(p.at) {
			p.present = append(p.present, *s)
		}
		return
	}
	if p.HTML != "" {
		p.addToPage(s)
	}
	l := p.lock(s)
	if s.Ahead > l.queue {
		l.queue, l.queued = s.Ahead, s.Asked
	}
	if held {
		p.nHolds++
		l.holds++
		l.hold = max(l.hold, s.Held())
		p.holds.add(p.Top, s, s.Held())
	} else if s.End != inspect.EndNone {
		l.gaveUp++
	}
	if s.Waited() > 0 {
		l.wait = max(l.wait, s.Waited())
		p.waits.add(p.Top, s, s.Waited())
	}
	l.held = l.held || held && s.End == inspect.EndNone
	if s.End == inspect.EndDeleted || s.End == inspect.EndExpired && held {
		p.nLost++
		l.lost++
		p.lost.add(p.Top, s, s.Held())
	}
	if s.Overtook > 0 {
		p.nOutOfOrder++
		p.outOfOrder.add(p.Top, s, time.Duration(s.Overtook))
	}
	p.print(s)
}

// print prints the stay if each one is printed.
func (p *past) print(s *inspect.Stay) {
	switch {
	case p.err != nil:
	case p.JSON:
		p.err = json.NewEncoder(p.out).Encode(stayJSONOf(s))
	case s.Lock == p.Path:
		if !p.list {
			p.list = true
			fmt.Fprintf(p.out, listFormat, "GRANTED, OR CAME", "HELD", "WAITED", "AHEAD", "ENDED", "HOLDER")
		}
		since, held := s.Granted, "-"
		if since.IsZero() {
			since = s.Asked
		} else {
			held = ageText(s.Held())
		}
		_, p.err = fmt.Fprintf(p.out, listFormat, since.UTC().Format(timeLayout+".000"), held, ageText(s.Waited()), fmt.Sprint(s.Ahead), endText(s), p.cut(who(&s.Contender), 15))
	}
}

const listFormat = "%-23s  %-6s  %-6s  %-5s  %-15s  %s\n"

func endText(s *inspect.Stay) string {
	if s.Granted.IsZero() && s.End == inspect.EndReleased {
		return "gave up"
	}
	return string(s.End)
}

// lock returns the record of a lock.
func (p *past) lock(s *inspect.Stay) *lockPast {
	l := p.locks[s.Lock]
	if l == nil {
		if len(p.locks) >= mostLocks {
			p.fold()
		}
		l = &lockPast{path: s.Lock, recipe: s.Recipe}
		p.locks[s.Lock] = l
	}
	l.recipe = s.Recipe
	return l
}

// fold forgets the half of the locks with the fewest events.
func (p *past) fold() {
	all := slices.SortedFunc(maps.Values(p.locks), moreImportant)
	for _, l := range all[len(all)/2:] {
		p.others.locks++
		p.others.holds += l.holds
		delete(p.locks, l.path)
	}
}

// moreImportant orders locks: those with lost holds first, then those that others waited for.
func moreImportant(a, b *lockPast) int {
	return cmp.Or(cmp.Compare(b.lost, a.lost), cmp.Compare(b.wait, a.wait), cmp.Compare(b.hold, a.hold), cmp.Compare(a.path, b.path))
}

// longest keeps the stays of the greatest measure.
type longest struct{ all []measured }

type measured struct {
	inspect.Stay
	measure time.Duration
}

func (l *longest) add(most int, s *inspect.Stay, measure time.Duration) {
	if most == 0 || len(l.all) == most && measure <= l.all[most-1].measure {
		return
	}
	i, _ := slices.BinarySearchFunc(l.all, measure, func(m measured, measure time.Duration) int {
		if m.measure >= measure { // the earlier of two that are as long comes first
			return -1
		}
		return 1
	})
	l.all = slices.Insert(l.all, i, measured{*s, measure})
	l.all = l.all[:min(len(l.all), most)]
}
