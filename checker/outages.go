package checker

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// outages notes when servers were down or silent though no fault of the run hit them.
type outages struct {
	facts.Deaf
	least   time.Duration // a shorter silence is that of a busy machine
	inForce map[int]*histories.Fault
	hit     map[int]bool    // by server: a fault has hit it since it was last seen to answer
	open    map[int]*outage // by server
	all     []*outage
}

// outage is a time in which a server was down or silent.
type outage struct {
	server   int
	state    histories.ServerState
	from, to time.Duration // to: -1 if it lasts
}

func newOutages(header *histories.Header) *outages {
	return &outages{least: max(header.SessionTimeout, time.Second), inForce: map[int]*histories.Fault{}, hit: map[int]bool{}, open: map[int]*outage{}}
}

func (o *outages) Event(_ int, e *histories.Event) {
	switch e.Type {
	case histories.FaultStart:
		f := *e.Fault
		o.inForce[f.ID] = &f
		for _, id := range f.Servers() {
			o.hit[id] = true
		}
	case histories.FaultStop:
		delete(o.inForce, e.Fault.ID)
	case histories.ServerSeen:
		o.seen(e.Time, e.Server)
	}
}

func (o *outages) seen(at time.Duration, s *histories.Server) {
	if s.State != histories.Down && s.State != histories.Silent {
		if x := o.open[s.ID]; x != nil {
			x.to = at
			delete(o.open, s.ID)
		}
		o.hit[s.ID] = o.isHit(s.ID)
		return
	}
	if o.open[s.ID] == nil && !o.hit[s.ID] && !o.isHit(s.ID) && len(o.all) < keptOutages {
		x := &outage{s.ID, s.State, at, -1}
		o.open[s.ID] = x
		o.all = append(o.all, x)
	}
}

// isHit reports whether a fault in force hits a server. One that names no targets may hit any.
func (o *outages) isHit(server int) bool {
	for _, f := range o.inForce {
		if len(f.Targets) == 0 || slices.Contains(f.Servers(), server) {
			return true
		}
	}
	return false
}

// keptOutages bounds the outages that are kept, mostOutages those that the note names.
const (
	keptOutages = 1000
	mostOutages = 3
)

// tell describes the outages in a sentence; "" if there were none.
func (o *outages) tell(end time.Duration) string {
	var all []string
	for _, x := range o.all {
		until, over := "to "+verdict.At(x.to), x.to
		if x.to < 0 {
			until, over = "until the end", end
		}
		what := "accepted no connection"
		if x.state == histories.Silent {
			if over-x.from < o.least {
				continue
			}
			what = "did not answer"
		}
		all = append(all, fmt.Sprintf("server %d %s from %s %s", x.server, what, verdict.At(x.from), until))
	}
	if len(all) == 0 {
		return ""
	}
	if more := len(all) - mostOutages; more > 0 {
		all = append(all[:mostOutages], words.Count(more, "more outage"))
	}
	return strings.Join(all, "; ") + ": no fault of the run explains this, so something else stopped the servers"
}
