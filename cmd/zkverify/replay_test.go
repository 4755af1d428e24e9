package main

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload"
)

func TestAHistoryIsRunAgainWithTheOptionsThatItWasRecordedWith(t *testing.T) {
	locks := 3
	want := runCmd{
		Recipe: []string{"mutex", "readwrite"}, Target: "recipes", Duration: 9 * time.Second, Clients: new(7), Locks: &locks, Faults: []string{"down", "latency"},
		Mix: mixFlags{Hold: 3 * time.Millisecond, Patience: 50 * time.Millisecond, Try: 0.125, HoldOn: 1, Race: 0.5},
	}
	want.Servers.Ensemble, want.Servers.SessionTimeout, want.Servers.Tick, want.Servers.SyncLimit = "external", 3*time.Second, 100*time.Millisecond, 9
	want.Servers.Voters = 3
	options := want // as it was recorded
	options.Servers.Addresses = []string{"zk1:2181", "zk2:2181"}
	got, left, err := recorded(histories.Header{Target: "recipes", Seed: -5, Ensemble: "external", Options: options.options([]histories.Recipe{histories.Mutex, histories.ReadWrite})})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{`--servers "zk1:2181,zk2:2181"`}; !slices.Equal(left, want) {
		t.Errorf("left are %q, want %q", left, want)
	}
	if got.Seed == nil || *got.Seed != -5 {
		t.Errorf("seed %v", got.Seed)
	}
	got.Seed, got.Engines = nil, engineFlags{}
	if !reflect.DeepEqual(*got, want) {
		t.Errorf("got  %+v\nwant %+v", *got, want)
	}
}

// A history is data: it must not name programs, files or servers that a replay runs, reads, writes
// or calls.
func TestAReplayTakesNothingFromAHistoryThatNamesSomethingHere(t *testing.T) {
	plain := map[string]string{"recipe": "mutex", "duration": "5s", "ensemble": "local"}
	base, _, err := recorded(histories.Header{Target: "recipes", Options: plain})
	if err != nil {
		t.Fatal(err)
	}
	parser, err := kong.New(new(struct {
		Run runCmd `cmd:""`
	}), helpVars())
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{"": true, "no such option": true, "-": true, "seed=1 --java": true}
	for _, node := range parser.Model.Children {
		for _, group := range node.AllFlags(false) {
			for _, flag := range group {
				names[flag.Name] = true
			}
		}
	}
	if len(names) < 40 {
		t.Fatalf("%d options are known", len(names))
	}
	for name := range names {
		if slices.Contains(ofTheRun, name) || name == "provocation" {
			continue
		}
		options := maps.Clone(plain)
		options[name] = "/tmp/here\x1b[31m"
		run, left, err := recorded(histories.Header{Target: "recipes", Options: options})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !reflect.DeepEqual(run, base) {
			t.Errorf("%s: the run is %+v, want %+v", name, run, base)
		}
		if name != "zookeeper" && (len(left) != 1 || strings.ContainsAny(left[0], "\x1b\n")) {
			t.Errorf("%s: left are %q", name, left)
		}
	}
}

func TestATrialOfTheSelfTestIsRunAgainAsItWas(t *testing.T) {
	run, _, err := recorded(histories.Header{
		Target: "naive", Recipe: "mutex", Seed: 5, SessionTimeout: time.Second, Options: map[string]string{"provocation": "foreign-child"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var cfg workload.Config
	run.again.amend(&cfg)
	if run.Target != "naive" || run.Servers.SessionTimeout != time.Second || cfg.Foreign != "foreign" || cfg.Clients != 3 || *run.Clients != 3 || cfg.Duration != run.Duration || cfg.Mix.HoldOn != 1 {
		t.Errorf("run %+v with %+v", run, cfg)
	}
}

func TestAHistoryThatDoesNotSayHowItWasMadeIsNotRunAgain(t *testing.T) {
	for says, h := range map[string]histories.Header{
		"with which options":     {Target: "mine"},
		"at least 1, not 0":      {Target: "recipes", Options: map[string]string{"clients": "0"}},
		"1000 at most":           {Target: "recipes", Options: map[string]string{"clients": "1000000"}},
		"100 at most":            {Target: "recipes", Options: map[string]string{"workers": "1000000"}},
		"24h0m0s at most":        {Target: "recipes", Options: map[string]string{"duration": "100000h"}},
		"unknown mutant or prov": {Target: "recipes", Recipe: "mutex", SessionTimeout: time.Second, Options: map[string]string{"provocation": "nothing"}},
	} {
		if _, _, err := recorded(h); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v; want %q", err, says)
		}
	}
}

// A replay runs the recorded version of ZooKeeper if it is installed, and neither the
// flags nor the environment name another one.
func TestAReplayRunsTheVersionThatWasRecorded(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", home)
	t.Setenv("ZKVERIFY_ZOOKEEPER", "")
	t.Setenv("ZOOKEEPER_HOME", "")
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	lib := filepath.Join(cache, "zkverify", "zookeeper-99.9.1", "lib")
	if err := os.MkdirAll(lib, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(lib, "zookeeper-99.9.1.jar"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ asked, set, recorded, want string }{
		{"", "", "99.9.1", "99.9.1"},
		{"", "", "99.9.2", ""}, // the default
		{"", "", "", ""},
		{"3.9.6", "", "99.9.1", "3.9.6"},
		{"", "/opt/zookeeper", "99.9.1", ""}, // the one that the environment names
	} {
		t.Setenv("ZKVERIFY_ZOOKEEPER", c.set)
		if got := (&replayCmd{ZooKeeper: c.asked}).zooKeeper(c.recorded); got != c.want {
			t.Errorf("%+v: got %q", c, got)
		}
	}
	// A replay of a self-test's trial has its clients in as many workers as the trial.
	run, _, err := recorded(histories.Header{Target: "recipes", Recipe: "mutex", SessionTimeout: time.Second, Options: map[string]string{"provocation": "paused-holders"}})
	if err != nil || run.Workers.N != 3 {
		t.Errorf("got %+v, %v", run, err)
	}
	// The path of ZooKeeper on the machine that recorded the history is not used here.
	run, _, err = recorded(histories.Header{Target: "recipes", Options: map[string]string{"recipe": "mutex", "zookeeper": "/elsewhere"}})
	if err != nil || run.Servers.ZooKeeper != "" {
		t.Errorf("got %+v, %v", run, err)
	}
}
