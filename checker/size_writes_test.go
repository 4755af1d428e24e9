package checker

import (
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/service"
)

// While a change of a size is under way, its session writes to the size once for it.
func TestAChangeOfASizeIsCarriedOutOnce(t *testing.T) {
	// set calls or answers a change by process p in the session of process s.
	set := func(r *run, ms int, typ histories.Type, p, s int) {
		r.op(ms, typ, p, histories.SetSize, histories.Event{Size: 2, Session: session(s)})
	}
	once := func(r *run) { set(r, 10, histories.Invoke, 1, 1); set(r, 50, histories.OK, 1, 1) }
	write := func(ms, s int) service.Write { return service.Write{At: at(ms, 40+ms), By: session(s)} }
	for name, test := range map[string]struct {
		run    func(*run)
		writes []service.Write
		clock  time.Duration
		twice  bool
	}{
		"one write":                           {once, []service.Write{write(20, 1)}, 0, false},
		"two writes":                          {once, []service.Write{write(20, 1), write(40, 1)}, 0, true},
		"two writes, by an inexact log":       {once, []service.Write{write(20, 1), write(40, 1)}, 1, false},
		"another client's in between":         {once, []service.Write{write(20, 1), write(30, 2), write(40, 1)}, 0, true},
		"another client's second":             {once, []service.Write{write(20, 1), write(30, 2)}, 0, false},
		"one before the call":                 {once, []service.Write{write(9, 1), write(30, 1)}, 0, false},
		"one after the answer":                {once, []service.Write{write(30, 1), write(51, 1)}, 0, false},
		"the session that created the size":   {func(r *run) { set(r, 10, histories.Invoke, 3, 3); set(r, 50, histories.OK, 3, 3) }, []service.Write{write(20, 0), write(30, 0)}, 0, true},
		"the second in the next session":      {func(r *run) { set(r, 10, histories.Invoke, 1, 1); set(r, 50, histories.OK, 1, 4) }, []service.Write{write(20, 1), write(40, 4)}, 0, true},
		"one that is not answered":            {func(r *run) { set(r, 10, histories.Invoke, 1, 1); r.crash(60, 1) }, []service.Write{write(20, 1), write(40, 1)}, 0, true},
		"an earlier one that failed":          {func(r *run) { set(r, 5, histories.Invoke, 6, 1); set(r, 9, histories.Info, 6, 1); once(r) }, []service.Write{write(20, 1), write(40, 1)}, 0, false},
		"an earlier one that succeeded":       {func(r *run) { set(r, 5, histories.Invoke, 6, 1); set(r, 9, histories.OK, 6, 1); once(r) }, []service.Write{write(7, 1), write(20, 1), write(40, 1)}, 0, true},
		"an earlier one of another session":   {func(r *run) { set(r, 5, histories.Invoke, 6, 6); set(r, 9, histories.Info, 6, 6); once(r) }, []service.Write{write(20, 1), write(40, 1)}, 0, true},
		"an earlier one of several sessions":  {func(r *run) { set(r, 5, histories.Invoke, 6, 6); set(r, 9, histories.Info, 6, 7); once(r) }, []service.Write{write(20, 1), write(40, 1)}, 0, false},
		"two at a time of a session":          {func(r *run) { set(r, 5, histories.Invoke, 6, 1); once(r); set(r, 55, histories.OK, 6, 1) }, []service.Write{write(20, 1), write(40, 1)}, 0, false},
		"two at a time, and three writes":     {func(r *run) { set(r, 5, histories.Invoke, 6, 1); once(r); set(r, 55, histories.OK, 6, 1) }, []service.Write{write(20, 1), write(30, 1), write(40, 1)}, 0, true},
		"a later one that has a write too":    {func(r *run) { once(r); set(r, 60, histories.Invoke, 1, 1); set(r, 70, histories.OK, 1, 1) }, []service.Write{write(20, 1), write(65, 1)}, 0, false},
		"a size that was deleted and is back": {once, nil, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			log := newServers()
			log.Clock = test.clock
			for i := range test.writes {
				if test.writes[i].By == session(0) {
					test.writes[i].By = "" // the owner's own
				}
			}
			log.Standing = []service.Node{{Path: "a-size", Session: session(3), Created: at(1, 40), Writes: test.writes}}
			if test.writes == nil {
				gone := at(2, 41)
				log.Standing[0].Deleted = &gone
				log.Standing = append(log.Standing, service.Node{Path: "a-size", Session: session(3), Created: at(3, 42), Writes: []service.Write{write(20, 1), write(40, 1)}})
			}
			r := newRun(t)
			semaphore(histories.SharedSemaphore, test.run)(r)
			r.permits(100, 2, 1, 200)
			v := r.report(WithService(&log.Log)).Verdict(Permits)
			found := len(v.Witnesses) > 0
			if found != test.twice || found && !strings.Contains(v.Witnesses[0].What, "which wrote the size by 0x") {
				t.Errorf("%v %v", v.Outcome, v.Witnesses)
			}
		})
	}
}

// A change that succeeds has written to the size, or has been replaced by another one meanwhile.
func TestAChangeOfASizeThatSucceedsIsCarriedOut(t *testing.T) {
	write := func(ms, s int) service.Write { return service.Write{At: at(ms, 40+ms), By: session(s)} }
	for name, test := range map[string]struct {
		answer histories.Type
		writes []service.Write
		never  bool
	}{
		"it writes":                             {histories.OK, []service.Write{write(20, 1)}, false},
		"another one writes":                    {histories.OK, []service.Write{write(20, 2)}, false},
		"none writes":                           {histories.OK, nil, true},
		"another one wrote before":              {histories.OK, []service.Write{write(9, 2)}, true},
		"another one writes later":              {histories.OK, []service.Write{write(51, 2)}, true},
		"none writes, and it is not known done": {histories.Info, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			log := newServers()
			log.Clock = 0
			log.Standing = []service.Node{{Path: "a-size", Session: session(3), Created: at(1, 40), Writes: test.writes}}
			r := newRun(t)
			semaphore(histories.SharedSemaphore, func(r *run) {
				r.op(10, histories.Invoke, 1, histories.SetSize, histories.Event{Size: 2, Session: session(1)})
				r.op(50, test.answer, 1, histories.SetSize, histories.Event{Size: 2, Session: session(1)})
			})(r)
			r.permits(100, 2, 1, 200)
			v := r.report(WithService(&log.Log)).Verdict(Permits)
			found := len(v.Witnesses) > 0
			if found != test.never || found && !strings.Contains(v.Witnesses[0].What, "succeeded at 0.050000 s, and no client wrote the size meanwhile") {
				t.Errorf("%v %v", v.Outcome, v.Witnesses)
			}
		})
	}
}
