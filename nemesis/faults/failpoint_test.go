package faults

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/failpoints"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// jvms are three servers with failpoints, which no test uses.
type jvms struct {
	ensemble.Ensemble
	ensemble.Processes
	without bool
}

func (jvms) Kind() string               { return "local" }
func (jvms) Servers() []ensemble.Server { return []ensemble.Server{{ID: 1}, {ID: 2}, {ID: 3}} }
func (j jvms) HasFailpoints() bool      { return !j.without }
func (jvms) Agent(int) failpoints.Agent { return failpoints.Agent{} }

type jvmWorld struct{ ensemble ensemble.Ensemble }

func (w jvmWorld) Ensemble() ensemble.Ensemble { return w.ensemble }
func (jvmWorld) SessionTimeout() time.Duration { return 2 * time.Second }
func (jvmWorld) Clients() []fault.Client       { return nil }

func failpointScene(p fault.Pick) fault.Scene {
	s := fault.NewScene(jvmWorld{jvms{}}, failpointFault, p, nil, true)
	s.Leader = 2
	return s
}

func TestAFailpointIsDrawn(t *testing.T) {
	seen := map[string]int{}
	for draw := range uint32(1000) {
		f, err := failpointKind().Make(failpointScene(fault.Pick{Draw: draw}))
		if err != nil {
			t.Fatal(err)
		}
		again, err := failpointKind().Make(failpointScene(fault.Pick{Draw: draw}))
		if err != nil || !maps.Equal(f.Params, again.Params) || !slices.Equal(f.Targets, again.Targets) {
			t.Fatalf("draw %d is %v on %v, and then %v on %v: %v", draw, f.Params, f.Targets, again.Params, again.Targets, err)
		}
		point, action := f.Params["point"], f.Params["action"]
		seen[point+" "+action]++
		if _, waits := f.Params["delay"]; waits != (action == "delay") {
			t.Errorf("%s has parameters %v", action, f.Params)
		}
		switch role := f.Params["role"]; {
		case strings.HasSuffix(point, "-ack") || point == "diff-sync" || point == "snap-sync":
			if role != "follower" {
				t.Errorf("%s at a %s", point, role)
			}
		case point == "before-session-close" && role != "leader":
			t.Errorf("%s at a %s", point, role)
		}
	}
	for _, p := range failpoints.Points() {
		for _, a := range failpoints.Actions() {
			// An exception at the log damages the server for good.
			if n := seen[p.Name+" "+string(a)]; (n > 0) == (strings.HasSuffix(p.Name, "-log-sync") && a == failpoints.Exception) {
				t.Errorf("%s at %s was drawn %d times", a, p.Name, n)
			}
		}
	}
}

func TestAScheduleSaysWhichFailpoint(t *testing.T) {
	params := map[string]string{"point": "snap-sync", "action": "delay", "delay": "7ms"}
	kind := failpointKind()
	for server, want := range map[fault.Server]string{"1": "server 1", "3": "server 3", "2": "server 1", fault.TheLeader: "server 1"} { // 2 leads, and a learner is wanted
		pick := fault.Pick{Server: server, Params: params}
		f, err := kind.Make(failpointScene(pick))
		if err := errors.Join(err, kind.Allows(pick)); err != nil {
			t.Fatal(err)
		}
		if f.Targets[0] != want || f.Params["point"] != "snap-sync" || f.Params["delay"] != "7ms" {
			t.Errorf("server %s: %v on %v, want %s", server, f.Params, f.Targets, want)
		}
	}
	if _, err := kind.Make(failpointScene(fault.Pick{Server: "3", Params: map[string]string{"point": "before-session-close"}})); err == nil || errors.Is(err, fault.ErrNobody) {
		t.Errorf("a follower ends no session, and the error is %v", err)
	}
	for name, params := range map[string]map[string]string{
		"a point that is not there": {"point": "nowhere"}, "an action that is not there": {"action": "explode"},
		"a delay of nothing": {"action": "delay", "delay": "0s"}, "a delay of an exception": {"action": "exception", "delay": "1s"}, "a delay of any action": {"delay": "1s"},
	} {
		if err := kind.Allows(fault.Pick{Params: params}); err == nil {
			t.Errorf("%s is allowed", name)
		}
	}
}

func TestFailpointsAreForServersThatHaveThem(t *testing.T) {
	for _, without := range []ensemble.Ensemble{jvms{without: true}, (*ensemble.Ext)(nil)} {
		if all, err := List().Select([]string{"all"}, without, true); err != nil || slices.ContainsFunc(all, func(k fault.Kind) bool { return k.Name == failpointFault }) {
			t.Errorf("%T: it is one of all, error %v", without, err)
		}
		if _, err := List().Select([]string{failpointFault}, without, true); err == nil || !strings.Contains(err.Error(), "Byteman") {
			t.Errorf("%T: error %v", without, err)
		}
	}
	if _, err := List().Select([]string{failpointFault}, jvms{}, true); err != nil {
		t.Error(err)
	}
	if all, err := List().Select([]string{"all"}, jvms{}, true); err != nil || slices.ContainsFunc(all, func(k fault.Kind) bool { return k.Name == failpointFault }) {
		t.Errorf("it is one of all where it can be had, error %v", err)
	}
	if both, err := List().Select([]string{"all", failpointFault}, jvms{}, true); err != nil || !slices.ContainsFunc(both, func(k fault.Kind) bool { return k.Name == failpointFault }) {
		t.Errorf("it is asked for beside all, and not there, error %v", err)
	}
	for names, want := range map[string]bool{"": false, "all": false, "all,failpoint": true, "down, failpoint": true, "none": false, "down,kill-server": false} {
		if got := List().AskFailpoints(strings.FieldsFunc(names, func(r rune) bool { return r == ',' })); got != want {
			t.Errorf("faults %q ask for failpoints: %v", names, got)
		}
	}
}
