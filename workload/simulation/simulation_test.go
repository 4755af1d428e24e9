package simulation

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/workload/folder"
)

// spec returns the Spec of a run of half a virtual minute.
func spec(seed int64, plan, target string) Spec {
	return Spec{Seed: seed, Plan: plan, Target: target, Duration: 30 * time.Second, SessionTimeout: 2 * time.Second}
}

func run(t *testing.T, s Spec, look Look) (Outcome, string) {
	t.Helper()
	dir := t.TempDir()
	o, err := Run(t, dir, s, look)
	if err != nil || o.Trouble != "" {
		t.Fatalf("%v %s", err, o.Trouble)
	}
	return o, dir
}

func TestTheRecipesHoldInEveryPlan(t *testing.T) {
	for _, p := range Plans() {
		t.Run(p.Name, func(t *testing.T) {
			began, seed := time.Now(), int64(1)
			if p.Name == "swarm" {
				seed = 2 // the first draws no faults
			}
			o, _ := run(t, spec(seed, p.Name, "recipes"), Look{})
			if !o.Passed() || o.Cycles == 0 || o.Struck == 0 || o.Messages == 0 {
				t.Errorf("%s (%s), %d cycles, %d faults, %d messages", o.Outcome, o.Reason, o.Cycles, o.Struck, o.Messages)
			}
			if o.Virtual < 30*time.Second {
				t.Errorf("it took %v of virtual time and %v of real time", o.Virtual, time.Since(began))
			}
		})
	}
}

func TestALockWithABugIsFoundOut(t *testing.T) {
	dir := ""
	o := violation(t, func(s Spec) (Outcome, error) {
		dir = t.TempDir()
		return Run(t, dir, s, Look{})
	})
	if !slices.Contains(o.Violated, "mutual exclusion") {
		t.Errorf("%v", o.Violated)
	}
	for _, name := range []string{folder.History, folder.Verdict, folder.Page, folder.JUnit} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestARunEndsWhereItIsTold(t *testing.T) {
	o, dir := run(t, spec(1, "random", "recipes"), Look{Until: 5 * time.Second, Trace: true})
	if o.Virtual > 8*time.Second {
		t.Errorf("it took %v", o.Virtual)
	}
	text, err := os.ReadFile(filepath.Join(dir, TraceFile))
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(text), "\n"); lines != o.Messages {
		t.Errorf("%d lines of %d messages", lines, o.Messages)
	}
}

func TestASpecThatCannotBeCarriedOutIsAnError(t *testing.T) {
	for name, change := range map[string]func(*Spec){
		"target":  func(s *Spec) { s.Target = "nobody" },
		"recipe":  func(s *Spec) { s.Recipes = []string{"latch"} },
		"plan":    func(s *Spec) { s.Plan = "ramdom" },
		"version": func(s *Spec) { s.ZooKeeper = "3.4.0" },
		"fault":   func(s *Spec) { s.Faults = []string{"flood"} },
	} {
		s := spec(1, "random", "recipes")
		change(&s)
		if o, err := Run(t, t.TempDir(), s, Look{}); err == nil {
			t.Errorf("%s: no error, but %+v", name, o.Outcome)
		}
	}
}

func TestAnUnknownPlanIsTold(t *testing.T) {
	if _, err := PlanNamed("ramdom"); err == nil || !strings.Contains(err.Error(), `did you mean "random"?`) {
		t.Error(err)
	}
}

func TestSwarmDrawsAnotherWorldForEachSeed(t *testing.T) {
	faults, clients, ticks := map[string]bool{}, map[int]bool{}, map[time.Duration]bool{}
	for seed := range int64(50) {
		w, err := spec(seed, "swarm", "recipes").world()
		if err != nil {
			t.Fatal(err)
		}
		again, _ := spec(seed, "swarm", "recipes").world()
		if !slices.Equal(w.Faults, again.Faults) || w.Clients != again.Clients || w.Mix != again.Mix || w.tick != again.tick {
			t.Error("the same seed draws another world")
		}
		faults[strings.Join(w.Faults, " ")], clients[w.Clients] = true, true
		ticks[w.tick] = true
		if 2*w.tick > w.SessionTimeout {
			t.Errorf("seed %d: servers with a tick of %v give no session of %v", seed, w.tick, w.SessionTimeout)
		}
		if trip := 2 * w.latency; w.RoundTrip < trip || w.RoundTrip > time.Duration((1+w.spread)*float64(trip)) {
			t.Errorf("seed %d: the recovery counts on round trips of %v, with messages of %v to %v times as much", seed, w.RoundTrip, w.latency, 1+w.spread)
		}
	}
	if len(faults) < 40 || len(clients) < 5 || len(ticks) != len(swarmTicks) {
		t.Errorf("%d choices of faults, %d numbers of clients, %d ticks", len(faults), len(clients), len(ticks))
	}
}

// The servers grant what is asked for, as those of a run do.
func TestSessionsMayBeShortAndLong(t *testing.T) {
	for _, timeout := range []time.Duration{400 * time.Millisecond, 2 * time.Minute} {
		s := spec(1, "random", "recipes")
		s.SessionTimeout, s.Duration, s.Faults = timeout, 2*time.Second, []string{"reset"}
		if o, _ := run(t, s, Look{}); !o.Passed() || o.Cycles == 0 {
			t.Errorf("sessions of %v: %s (%s), %d cycles", timeout, o.Outcome, o.Reason, o.Cycles)
		}
	}
}

// A caller that asks for shorter sessions gets them: the tick stays the bench's.
func TestSwarmDrawsNoTickThatIsTooLongForTheSessions(t *testing.T) {
	for seed := range int64(20) {
		s := spec(seed, "swarm", "recipes")
		s.SessionTimeout = 600 * time.Millisecond
		w, err := s.world()
		if err != nil {
			t.Fatal(err)
		}
		if 2*w.tick > s.SessionTimeout {
			t.Errorf("seed %d: a tick of %v", seed, w.tick)
		}
	}
}
