package model_test

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// recorder keeps the observations of a run until all of its zxids are known.
type recorder struct {
	root  string
	names map[int64]string // of sessions
	own   []int64          // the zxids of the program's requests for changes
	steps []recordedStep

	before wire.Stat // of the tree's root, when the program began
}

type recordedStep struct {
	seen        []recorded
	acted       int // how many of them the action caused; the order of sessions in the rest means nothing
	from, to    time.Time
	after       int64 // the last zxid before the step
	last        int64 // the last zxid at its end
	sortsEvents bool  // a session ended in the step
}

// recorded is an observation in raw form.
type recorded struct {
	session string
	kind    Kind
	op      wire.Op
	frame   Frame
	text    string // of an observation that is no frame
}

func (r *recorder) add(o recorded) {
	s := &r.steps[len(r.steps)-1]
	s.seen = append(s.seen, o)
	if o.kind == Reply && writes(o.op) && o.frame.Zxid > 0 {
		r.own = append(r.own, o.frame.Zxid)
	}
}

// transcript returns the observations, in terms of the program.
func (r *recorder) transcript() Transcript {
	slices.Sort(r.own)
	r.own = slices.Compact(r.own)
	t := Transcript{Steps: make([][]Observation, len(r.steps))}
	for i, s := range r.steps {
		t.Steps[i] = make([]Observation, 0, len(s.seen))
		slices.SortStableFunc(s.seen[min(s.acted, len(s.seen)):], func(a, b recorded) int { return strings.Compare(a.session, b.session) })
		for _, o := range s.seen {
			t.Steps[i] = append(t.Steps[i], r.observation(o))
		}
		if s.sortsEvents {
			sortEvents(t.Steps[i])
		}
	}
	return t
}

// sortEvents sorts notifications of a session that follow each other.
func sortEvents(seen []Observation) {
	for from := 0; from < len(seen); {
		to := from + 1
		for to < len(seen) && seen[from].Kind == Event && seen[to].Kind == Event && seen[to].Session == seen[from].Session {
			to++
		}
		slices.SortFunc(seen[from:to], func(a, b Observation) int { return strings.Compare(a.Body, b.Body) })
		from = to
	}
}

func (r *recorder) observation(o recorded) Observation {
	seen := Observation{Session: o.session, Kind: o.kind, Op: o.op, Body: o.text}
	switch o.kind {
	case Reply:
		seen.Err, seen.Zxid = o.frame.Err, r.zxid(o.frame.Zxid)
		seen.Body = r.body(wire.NewReply(o.op), o.frame.Body)
	case Event:
		seen.Zxid = r.zxid(o.frame.Zxid)
		seen.Body = r.body(&wire.WatcherEvent{}, o.frame.Body)
	}
	return seen
}

// body returns a frame's body as text, with any bytes that follow it.
func (r *recorder) body(record wire.Record, data []byte) string {
	if len(data) == 0 {
		return ""
	}
	if record == nil {
		return fmt.Sprintf("%x", data)
	}
	rest, err := wire.Decode(data, record)
	if err != nil {
		return fmt.Sprintf("%x (%v)", data, err)
	}
	text := printer{r.root, r.stat}.text(record)
	if e, ok := record.(*wire.WatcherEvent); ok {
		text = fmt.Sprintf("%s %s state %d", eventName(e.Type), printer{root: r.root}.path(e.Path), e.State)
	}
	if len(rest) > 0 {
		text += fmt.Sprintf(" and %x", rest)
	}
	return text
}

var eventNames = map[wire.EventType]string{
	wire.NodeCreated: "created", wire.NodeDeleted: "deleted",
	wire.NodeDataChanged: "data changed", wire.NodeChildrenChanged: "children changed",
}

func eventName(t wire.EventType) string {
	if name, ok := eventNames[t]; ok {
		return name
	}
	return fmt.Sprintf("event %d", t)
}

// zxid returns the number of the program's changes up to a zxid. So changes by others in
// between, such as the servers' own deletes, do not show.
func (r *recorder) zxid(zxid int64) string {
	if zxid <= 0 {
		return fmt.Sprint(zxid)
	}
	n, found := slices.BinarySearch(r.own, zxid)
	if found {
		n++
	}
	return fmt.Sprintf("+%d", n)
}

// stat returns a stat as text. All programs share the tree's root, the only node without
// a zxid of its creation; its stat is given relative to the beginning of the program.
func (r *recorder) stat(s wire.Stat) string {
	if s.Czxid == 0 {
		s.Version, s.Cversion, s.Aversion, s.NumChildren = s.Version-r.before.Version, s.Cversion-r.before.Cversion, s.Aversion-r.before.Aversion, s.NumChildren-r.before.NumChildren
	}
	return fmt.Sprintf("{czxid=%s mzxid=%s pzxid=%s ctime=%s mtime=%s version=%d cversion=%d aversion=%d owner=%s length=%d children=%d}",
		r.zxid(s.Czxid), r.zxid(s.Mzxid), r.zxid(s.Pzxid), r.time(s.Czxid, s.Ctime), r.time(s.Mzxid, s.Mtime),
		s.Version, s.Cversion, s.Aversion, r.owner(s.EphemeralOwner), s.DataLength, s.NumChildren)
}

func (r *recorder) owner(id int64) string {
	if name, ok := r.names[id]; ok {
		return name
	}
	if id < 256 && id >= 0 {
		return fmt.Sprint(id)
	}
	return fmt.Sprintf("%#x", uint64(id)) // a container, or a time to live
}

// clockSlack bounds the difference between a server's clock and the program's.
const clockSlack = 3 * time.Millisecond

// time reports whether the time of a change lies within the step that made it.
func (r *recorder) time(zxid, ms int64) string {
	i := sort.Search(len(r.steps), func(i int) bool { return r.steps[i].last >= zxid })
	if i == len(r.steps) {
		return "of no step"
	}
	s, t := r.steps[i], time.UnixMilli(ms)
	switch {
	case zxid <= s.after:
		return "earlier"
	case t.Before(s.from.Add(-clockSlack)):
		return "too early"
	case t.After(s.to.Add(clockSlack)):
		return "too late"
	}
	return "ok"
}
