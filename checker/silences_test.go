package checker

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

func TestASilenceExcusesOnlyWhatItCanAccountFor(t *testing.T) {
	type span [2]int // ms
	stop := span{5000, 5200}
	for name, in := range map[string]struct {
		violations, silences []span
		want                 verdict.Outcome
	}{
		"in the middle of it":                         {[]span{{5050, 5100}}, []span{stop}, verdict.Unknown},
		"an instant in it":                            {[]span{{5050, 5050}}, []span{stop}, verdict.Unknown},
		"what it held up":                             {[]span{{5190, 5300}}, []span{stop}, verdict.Unknown},
		"before it":                                   {[]span{{4000, 4900}}, []span{stop}, verdict.Violated},
		"an instant before it":                        {[]span{{4000, 4000}}, []span{stop}, verdict.Violated},
		"long after it":                               {[]span{{5500, 5600}}, []span{stop}, verdict.Violated},
		"much longer than it":                         {[]span{{5000, 7000}}, []span{stop}, verdict.Violated},
		"one in it and one not":                       {[]span{{5050, 5100}, {9000, 9001}}, []span{stop}, verdict.Violated},
		"both in it":                                  {[]span{{5050, 5100}, {5060, 5080}}, []span{stop}, verdict.Unknown},
		"each in one of two":                          {[]span{{5050, 5100}, {9000, 9001}}, []span{stop, {8900, 9050}}, verdict.Unknown},
		"longer than each, and not than all":          {[]span{{5000, 7000}}, []span{stop, {5500, 5700}, {6500, 6700}}, verdict.Unknown},
		"no silence":                                  {[]span{{5050, 5100}}, nil, verdict.Violated},
		"a silence as long as a session, a short one": {[]span{{9000, 10000}}, []span{{6000, 8000}}, verdict.Unknown},
	} {
		v := verdict.Verdict{Guarantee: MutualExclusion, Promised: true, Outcome: verdict.Violated, Reason: "two holders"}
		at := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
		for _, s := range in.violations {
			v.Witnesses = append(v.Witnesses, verdict.Witness{From: at(s[0]), To: at(s[1])})
		}
		r := &Report{Verdicts: []verdict.Verdict{v}}
		for i, s := range in.silences {
			r.Silences = append(r.Silences, histories.Silence{Worker: i + 1, From: at(s[0]), To: at(s[1])})
		}
		if got := r.Outcome(); got != in.want || r.Void() {
			t.Errorf("%s: %s (%s), void %v; want %s, and not the servers to blame", name, got, r.Reason(), r.Void(), in.want)
		}
		stored, err := json.Marshal(r)
		again := &Report{}
		if err != nil || json.Unmarshal(stored, again) != nil || again.Outcome() != in.want || again.Reason() != r.Reason() {
			t.Errorf("%s: read again it is %s (%s)", name, again.Outcome(), again.Reason())
		}
	}
}

func TestASilenceDoesNotExcuseAGrantThatWasTooEarlyOnTheServers(t *testing.T) {
	for order, want := range map[verdict.Order]verdict.Outcome{verdict.GrantedEarly: verdict.Violated, verdict.InTurn: verdict.Unknown, "": verdict.Unknown} {
		v := verdict.Verdict{Guarantee: MutualExclusion, Promised: true, Outcome: verdict.Violated, Witnesses: []verdict.Witness{{From: 5, To: 6, Order: order}}}
		r := &Report{Verdicts: []verdict.Verdict{v}, Silences: []histories.Silence{{Worker: 1, From: 1, To: 9}}}
		if got := r.Outcome(); got != want {
			t.Errorf("%q: %s, want %s", order, got, want)
		}
	}
}

func TestNobodyIsBlamedForAStopOfAWorkerThatNoFaultMade(t *testing.T) {
	r := newRun(t)
	r.want(0, 1).got(1, 1, 1).cycle(3, 5, 2, 2).lost(6, 1)
	for name, in := range map[string]struct {
		silences []histories.Silence
		want     verdict.Outcome
	}{
		"about then": {[]histories.Silence{{Worker: 2, From: 2 * time.Millisecond, To: 6 * time.Millisecond}}, verdict.Unknown},
		"later":      {[]histories.Silence{{Worker: 2, From: 600 * time.Millisecond, To: 800 * time.Millisecond}}, verdict.Violated},
		"never":      {nil, verdict.Violated},
	} {
		h := *r.h
		h.Events = append(slices.Clone(r.h.Events), histories.Event{
			Time: time.Second, Type: histories.CensusDone, Process: -1, Census: &histories.Census{Silences: in.silences},
		})
		rep, err := Check(t.Context(), &h)
		if err != nil {
			t.Fatal(err)
		}
		if o := rep.Outcome(); o != in.want || in.want == verdict.Unknown && !strings.Contains(rep.Reason(), "worker 2 said nothing from 0.002000 s to 0.006000 s") {
			t.Errorf("%s: %s (%s), want %s", name, o, rep.Reason(), in.want)
		}
		if noted := slices.ContainsFunc(rep.Notes, func(n string) bool { return strings.Contains(n, "worker processes were stopped") }); noted != (in.silences != nil) {
			t.Errorf("%s: the notes are %q", name, rep.Notes)
		}
	}
}
