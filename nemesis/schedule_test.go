package nemesis

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/nemesis/faults"
)

func plan(seed int64, duration time.Duration) Plan {
	return Plan{Seed: seed, Duration: duration, SessionTimeout: 2 * time.Second, Kinds: faults.List()}
}

func TestTheSameSeedDrawsTheSameSchedule(t *testing.T) {
	a, b := Draw(plan(7, time.Minute)), Draw(plan(7, time.Minute))
	if !reflect.DeepEqual(a, b) {
		t.Error("two draws differ")
	}
	if reflect.DeepEqual(a, Draw(plan(8, time.Minute))) {
		t.Error("another seed drew the same schedule")
	}
}

func TestAScheduleSurvivesJSON(t *testing.T) {
	want := Draw(plan(7, time.Minute))
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Schedule
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("the schedule read back differs")
	}
}

// A seed draws the same other faults on servers with and without clocks of their own.
func TestFaultsOfClocksAreDrawnApart(t *testing.T) {
	for seed := range int64(50) {
		p := plan(seed, time.Minute)
		with := Draw(p)
		p.Kinds = slices.DeleteFunc(slices.Clone(p.Kinds), fault.Kind.OfClocks)
		without := Draw(p)
		clocks := slices.DeleteFunc(slices.Clone(with.Steps), func(s Step) bool { return !strings.HasPrefix(s.Fault, "clock-") })
		others := slices.DeleteFunc(slices.Clone(with.Steps), func(s Step) bool { return strings.HasPrefix(s.Fault, "clock-") })
		if !reflect.DeepEqual(others, without.Steps) {
			t.Fatalf("seed %d: without faults of clocks others are drawn", seed)
		}
		for i, s := range clocks {
			if i > 0 && clocks[i-1].At+clocks[i-1].For > s.At {
				t.Errorf("seed %d: %+v begins in %+v", seed, s, clocks[i-1])
			}
		}
		if len(clocks) < 4 {
			t.Errorf("seed %d: %d faults of clocks in a minute", seed, len(clocks))
		}
	}
}

// schedules calls check with many drawn schedules.
func schedules(check func(seed int64, d time.Duration, s Schedule)) {
	for seed := range int64(200) {
		for _, d := range []time.Duration{20 * time.Second, time.Minute} {
			check(seed, d, Draw(plan(seed, d)))
		}
	}
}

func TestADrawnScheduleHasEveryKindOfFault(t *testing.T) {
	for seed := range int64(100) {
		for d, has := range map[time.Duration]func(fault.Kind) bool{
			// Two rounds have room for all but those of worker processes, three for these too.
			20 * time.Second:  func(k fault.Kind) bool { return k.Needs == fault.NeedsNothing || k.Early == 1 || k.Early == 2 },
			30 * time.Second:  func(k fault.Kind) bool { return !k.OfServers() || k.Early == 1 || k.Early == 2 },
			time.Minute:       func(k fault.Kind) bool { return !k.OfServers() || k.Early > 0 },
			150 * time.Second: func(fault.Kind) bool { return true },
		} {
			seen := make(map[string]int)
			p := plan(seed, d)
			if d == 20*time.Second {
				p.Kinds, _ = faults.List().Select([]string{"all"}, nil, false)
			}
			for _, step := range Draw(p).Steps {
				seen[step.Fault]++
			}
			for _, k := range faults.List() {
				if seen[k.Name] == 0 && has(k) {
					t.Errorf("seed %d, %v: no %s in %v", seed, d, k.Name, seen)
				}
			}
		}
	}
}

// The lease rests on evidence that a deposed leader could give, and each fault finds one holder.
func TestAMinuteDeposesSeveralLeaders(t *testing.T) {
	all, once := 0, 0
	for seed := range int64(200) {
		n := 0
		for _, step := range Draw(plan(seed, time.Minute)).Steps {
			if step.Fault == "deposed-leader" {
				n++
			}
		}
		all += n
		if n < 2 {
			once++
		}
	}
	if all < 2*200 || once > 20 {
		t.Errorf("%d leaders are deposed in 200 minutes, fewer than two in %d of them", all, once)
	}
}

func TestFourOfTenClientsAreHitAtOnce(t *testing.T) {
	ofServers := map[string]bool{}
	for _, k := range faults.List() {
		ofServers[k.Name] = k.OfServers()
	}
	for clients, want := range map[int]int{0: 4, 1: 1, 3: 1, 10: 4, 18: 7, 40: 16} {
		p := plan(3, 10*time.Minute)
		p.Clients = clients
		most := 0
		steps := Draw(p).Steps
		for i, step := range steps {
			if ofServers[step.Fault] {
				continue
			}
			at := 0
			for _, other := range steps[:i+1] {
				if !ofServers[other.Fault] && other.At+other.For > step.At || other.At == step.At {
					at++
				}
			}
			most = max(most, at)
		}
		if most != want {
			t.Errorf("%d clients: %d faults at once, want %d", clients, most, want)
		}
	}
}

func TestADrawnScheduleHitsServersWithOneFaultAtATime(t *testing.T) {
	schedules(func(seed int64, _ time.Duration, s Schedule) {
		var busy time.Duration
		for _, step := range s.Steps {
			kind, err := faults.List().Named(step.Fault)
			if err != nil {
				t.Fatal(err)
			}
			if kind.OfServers() && !kind.OfClocks() {
				if step.At < busy {
					t.Errorf("seed %d: %s at %v, another one until %v", seed, step.Fault, step.At, busy)
				}
				busy = step.At + step.For
			}
		}
	})
}

func TestADrawnScheduleIsOverBeforeItsEndAndCalmForAQuarterOfIt(t *testing.T) {
	schedules(func(seed int64, d time.Duration, s Schedule) {
		const grain = 10 * time.Millisecond
		hit := make(map[time.Duration]bool)
		for _, step := range s.Steps {
			if step.At < 0 || step.At+step.For > d-3*time.Second {
				t.Errorf("seed %d, %v: %+v leaves no calm at the end", seed, d, step)
			}
			for at := step.At / grain; at <= (step.At+step.For)/grain; at++ {
				hit[at] = true
			}
		}
		if storm := time.Duration(len(hit)) * grain; storm > d*3/4 {
			t.Errorf("seed %d: faults in force for %v of %v", seed, storm, d)
		}
	})
}

func TestAMinuteHasEnoughFaultsAimedAtHoldersAndExpiries(t *testing.T) {
	for seed := range int64(200) {
		var aimed, expiries int
		p := plan(seed, time.Minute)
		p.Kinds, _ = faults.List().Select([]string{"all"}, nil, false)
		for _, step := range Draw(p).Steps {
			if step.Pick.Aim == fault.AtHolder {
				aimed++
			}
			if strings.HasPrefix(step.Fault, "expire-") && step.Pick.Aim != fault.AtAnyone {
				expiries++
			}
		}
		if aimed < 15 || expiries < 8 {
			t.Errorf("seed %d: %d faults aimed at holders, %d expiries aimed at holders or waiters", seed, aimed, expiries)
		}
	}
}

func TestFaultsAreSelectedByName(t *testing.T) {
	for name, c := range map[string]struct {
		names []string
		on    ensemble.Ensemble
		want  int
		err   string
	}{
		"all of them with servers of our own":                  {[]string{"all"}, (*ensemble.Local)(nil), len(faults.List()) - 8, ""},
		"all but those of servers with servers that are yours": {[]string{"all"}, (*ensemble.Ext)(nil), 13, ""},
		"none":                   {[]string{"none"}, nil, 0, ""},
		"two, one of them twice": {[]string{"down", "latency", "down"}, nil, 2, ""},
		"an unknown one is an error that names the known ones":              {[]string{"dwon"}, nil, 0, "known: all, none, down"},
		"one that needs links between servers, with servers that are yours": {[]string{"isolate-leader"}, (*ensemble.Ext)(nil), 0, "needs links between the servers"},
		"one that needs processes, with servers that are yours":             {[]string{"kill-server"}, (*ensemble.Ext)(nil), 0, "needs the servers' processes"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := faults.List().Select(c.names, c.on, false)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v; want one that says %q", err, c.err)
				}
				return
			}
			if err != nil || len(got) != c.want {
				t.Errorf("%d kinds, error %v; want %d", len(got), err, c.want)
			}
		})
	}
}
