package report

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
)

// Stay is the time of one client in the queue of a lock, as servers have recorded it.
type Stay struct {
	Lock    string
	Recipe  string
	Mode    histories.Mode // of a read/write lock
	Client  string         // its name, which need not be its own alone
	Session string         // "" if there is none: the node was persistent
	Token   histories.Token
	Asked   time.Time
	Granted time.Time // zero: it never held the lock
	Gone    time.Time
	Open    bool   // it was still there at the end of the record
	Lost    bool   // it did not go by itself
	Ended   string // how
	Ahead   int    // the contenders that it found
}

// Past gathers the stays of clients for a page with the timeline of a run's page. Its memory grows
// with what that page shows, at most a million bars, and with the clients.
type Past struct {
	*pass
	from, to time.Time
	latest   time.Duration // the end of the last bar
	clients  map[[2]string]int
	names    []string
	lost     int
	holds    int
}

// pastView is the part of the page's view that a run does not have.
type pastView struct {
	From, To           string
	Locks, Holds, Lost int
}

const wallClock = "2006-01-02 15:04:05.000 UTC"

// NewPast returns a Past of the time between from, which is time 0 of the page, and to; of all time
// from then on if to is zero.
func NewPast(from, to time.Time) *Past {
	header := &histories.Header{Locks: map[string]histories.Lock{}}
	return &Past{pass: newPass(header, &checker.Report{}), from: from, to: to, clients: map[[2]string]int{}}
}

// Add adds a stay. Stays come in any order.
func (p *Past) Add(s *Stay) {
	p.header.Locks[s.Lock] = histories.Lock{Recipe: histories.Recipe(s.Recipe)}
	key := [2]string{s.Client, s.Session}
	process, known := p.clients[key]
	if !known {
		process = len(p.names)
		p.clients[key] = process
		name := s.Client
		if s.Session != "" && s.Session != s.Client {
			name += " (" + s.Session + ")"
		}
		p.names = append(p.names, clip(name))
	}
	lane := p.timeline.lane(process)
	b := bar{
		process: int32(process), owner: p.texts.number(s.Client), session: p.texts.number(s.Session), token: s.Token,
		op: p.texts.number(string(histories.Acquire)), place: int32(min(s.Ahead, 1<<30)) + 1, note: p.texts.number(s.Ended),
	}
	switch s.Mode {
	case histories.ModeRead:
		b.flags = flagRead
	case histories.ModeWrite:
		b.flags = flagWrite
	}
	b.kind = inVain
	if s.Granted.IsZero() {
		if s.Open {
			b.kind, b.flags = unanswered, b.flags|flagOpen
		}
		p.draw(s.Lock, b, s.Asked, s.Gone)
		return
	}
	p.holds++
	b.kind = waited
	if s.Granted.After(s.Asked) {
		p.draw(s.Lock, b, s.Asked, s.Granted)
	}
	b.kind = held
	if s.Open {
		b.flags |= flagOpen
	}
	p.draw(s.Lock, b, s.Granted, s.Gone)
	if s.Lost {
		p.loss(s, lane)
	}
}

// draw adds the part of a bar that is on the page.
func (p *Past) draw(lock string, b bar, from, to time.Time) {
	if b.from, b.to = from.Sub(p.from), to.Sub(p.from); b.to < 0 || p.after(from) {
		return
	}
	if p.after(to) {
		b.to = p.to.Sub(p.from)
	}
	b.from = max(b.from, 0)
	b.to = max(b.from, b.to) // a clock may have been set back
	p.latest = max(p.latest, b.to)
	p.timeline.add(lock, b)
}

// after reports whether a time is after those of the page.
func (p *Past) after(t time.Time) bool { return !p.to.IsZero() && t.After(p.to) }

// loss lists a hold that was lost.
func (p *Past) loss(s *Stay, lane int32) {
	p.lost++
	if s.Gone.Before(p.from) || p.after(s.Gone) {
		return
	}
	if len(p.marks) == maxMarks {
		p.unmarked++
		return
	}
	m := markData{Time: int64(s.Gone.Sub(p.from)), Type: histories.Expired, Lane: lane, Lock: 1 + p.timeline.lock(s.Lock)}
	m.What = clip(fmt.Sprintf("%s: %s held %s for %s, and lost it: %s", s.Gone.UTC().Format(wallClock), s.Client, s.Lock, took(s.Gone.Sub(s.Granted)), s.Ended))
	p.marks = append(p.marks, m)
}

// HTML writes the page of a record that ends at last. When ctx ends, it returns the cause.
func (p *Past) HTML(ctx context.Context, w io.Writer, last time.Time) error {
	if p.to.IsZero() || p.to.After(last) {
		p.to = last
	}
	p.end = max(p.latest, p.to.Sub(p.from))
	data, tracks := p.data()
	data.Names, data.Started = p.names, p.from.UnixMilli()
	page := viewOf("", p.pass, &checker.Report{})
	page.Past = &pastView{p.from.UTC().Format(wallClock), p.to.UTC().Format(wallClock), len(p.header.Locks), p.holds, p.lost}
	return page.write(ctx, w, data, tracks)
}
