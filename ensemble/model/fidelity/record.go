package fidelity

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// recorder keeps what a run sees until all of its zxids are known.
type recorder struct {
	root  string
	names map[int64]string // of sessions
	own   []int64          // the zxids of the program's requests for changes
	steps []recordedStep

	before wire.Stat // of the tree's root, as the program began
}

type recordedStep struct {
	seen        []recorded
	acted       int // how many of them came from the action; the sessions' order in the rest means nothing
	from, to    time.Time
	after       int64 // the last zxid before the step
	last        int64 // and at its end
	sortsEvents bool  // a session ended in it
}

// recorded is an observation as it came.
type recorded struct {
	session string
	kind    Kind
	op      wire.Op
	frame   Frame
	text    string // of what is not a frame
}

func (r *recorder) add(o recorded) {
	s := &r.steps[len(r.steps)-1]
	s.seen = append(s.seen, o)
	if o.kind == Reply && writes(o.op) && o.frame.Zxid > 0 {
		r.own = append(r.own, o.frame.Zxid)
	}
}

// transcript is what was recorded, in terms of the program.
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

// sortEvents sorts each session's notifications, where they follow each other.
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

// body is a frame's body as text, with the bytes that do not belong to it.
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

// zxid is the number of the program's changes up to a zxid. So what others change in
// between, such as the servers' own deletes, does not show.
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

// stat is a stat as text. All programs share the tree's root, the only node they meet that
// no zxid has created: of it only what changes during the program is said.
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

// clockSlack is by how much a server's clock may differ from the program's.
const clockSlack = 3 * time.Millisecond

// time says whether a change has a time in the step that made it.
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
