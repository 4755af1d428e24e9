package report

import (
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
)

// pass gathers the data for a page in one reading of the events.
type pass struct {
	header   *histories.Header
	texts    *texts
	timeline *timeline
	latency  *latencies
	stories  []*story
	faults   []faultData
	active   map[int]int // faults by ID
	phases   []phaseData
	sessions map[string]int32 // the last lane of each session
	servers  []*serverData    // by ID
	marks    []markData
	unmarked int // events beyond maxMarks, and beyond maxSayings
	sayings  sayings
	end      time.Duration
	events   int

	violations int // of the run
}

// faultData is a fault on the page, times in ns.
type faultData struct {
	ID      int               `json:"id"`
	Name    string            `json:"name"`
	Targets []string          `json:"targets,omitempty"`
	Params  map[string]string `json:"params,omitempty"`
	Lanes   []int32           `json:"lanes,omitempty"` // the lanes that it hit; none: all
	Servers []int             `json:"servers,omitempty"`
	Does    string            `json:"does,omitempty"` // to those servers
	From    int64             `json:"from"`
	To      int64             `json:"to"`
	Open    bool              `json:"open,omitempty"`
}

type phaseData struct {
	Name string `json:"name"`
	From int64  `json:"from"`
}

// markData is one event in the list of events.
type markData struct {
	Time int64          `json:"t"`
	Type histories.Type `json:"y"`
	What string         `json:"w"`
	Line int            `json:"l"`
	Lane int32          `json:"p"`           // -1: none
	Lock int32          `json:"k,omitempty"` // 1 + its number; 0: none
}

// maxMarks bounds the events in the list.
const maxMarks = 20_000

// aroundViolations is the distance from a violation up to which the counters are drawn.
const aroundViolations = time.Second

func newPass(header *histories.Header, r *checker.Report) *pass {
	p := &pass{header: header, texts: newTexts(), latency: newLatencies(header), stories: storiesOf(header, r), active: map[int]int{}, sessions: map[string]int32{}, sayings: sayings{header: header, last: map[string]*sayingRow{}}, violations: violationsOf(r)}
	type window struct{ from, to time.Duration }
	var windows []window
	for _, s := range p.stories {
		// A violation that lasts for minutes is shown from its beginning.
		windows = append(windows, window{s.witness.From - aroundViolations, min(s.witness.To, s.witness.From+10*aroundViolations) + aroundViolations})
	}
	p.timeline = newTimeline(header, p.texts, func(from, to time.Duration) bool {
		return slices.ContainsFunc(windows, func(w window) bool { return to >= w.from && from <= w.to })
	})
	return p
}

// read reads all events, until ctx ends.
func (p *pass) read(ctx context.Context, events iter.Seq2[*histories.Event, error]) error {
	for e, err := range events {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p.step(e)
	}
	p.timeline.end(p.end)
	p.endServers()
	p.sayings.finish(p.marks)
	for i := range p.faults {
		if f := &p.faults[i]; f.Open {
			f.To = int64(p.end)
		}
	}
	return nil
}

func (p *pass) step(e *histories.Event) {
	p.end = e.Time
	p.timeline.step(e)
	p.latency.step(e)
	if e.Process >= 0 && e.Session != "" && e.Type == histories.Invoke {
		p.sessions[e.Session] = p.timeline.lane(e.Process)
	}
	for _, s := range p.stories {
		s.step(p.events, e)
	}
	switch e.Type {
	case histories.FaultStart:
		f := faultData{ID: e.Fault.ID, Name: clip(e.Fault.Name), Params: e.Fault.Params, From: int64(e.Time), Open: true}
		for _, t := range e.Fault.Targets {
			f.Targets = append(f.Targets, clip(t))
		}
		for _, process := range e.Fault.Processes {
			if process >= 0 {
				f.Lanes = append(f.Lanes, p.timeline.lane(process))
			}
		}
		if f.Servers = e.Fault.Servers(); len(f.Servers) > 0 {
			f.Does = clip(done(e.Fault))
		}
		for _, id := range f.Servers {
			p.server(id)
		}
		p.active[f.ID] = len(p.faults)
		p.faults = append(p.faults, f)
	case histories.FaultStop:
		if i, ok := p.active[e.Fault.ID]; ok {
			p.faults[i].To, p.faults[i].Open = int64(e.Time), false
			if n := e.Fault.Params[histories.Reached]; n != "" {
				params := map[string]string{histories.Reached: n}
				maps.Copy(params, p.faults[i].Params)
				p.faults[i].Params = params
			}
		}
	case histories.ServerSeen:
		if !p.serverSeen(e) {
			p.events++
			return
		}
	case histories.PhaseStart:
		p.phases = append(p.phases, phaseData{e.Phase, int64(e.Time)})
	case histories.Suspended, histories.Resumed, histories.Lost, histories.Expired, histories.Crash, histories.RevokeRequested, histories.Info, histories.CensusDone, histories.Closing, histories.Closed, histories.Stalled:
	case histories.Says:
		if became := p.sayings.add(e, len(p.marks), p.timeline.near(e.Time, e.Time)); became != listed {
			if became == crowded {
				p.unmarked++
			}
			p.events++
			return
		}
	default:
		p.events++
		return
	}
	p.mark(e)
	p.events++
}

func (p *pass) mark(e *histories.Event) {
	if len(p.marks) == maxMarks {
		p.unmarked++
		return
	}
	m := markData{Time: int64(e.Time), Type: e.Type, What: clip(tell(p.header, e)), Line: histories.Line(p.events), Lane: -1}
	if e.Process >= 0 {
		m.Lane = p.timeline.lane(e.Process)
	} else if lane, known := p.sessions[e.Session]; known && e.Type == histories.Expired {
		m.Lane = lane
	}
	if keys := locksOf(e); len(keys) > 0 {
		m.Lock = 1 + p.timeline.lock(keys[0])
	}
	p.marks = append(p.marks, m)
}
