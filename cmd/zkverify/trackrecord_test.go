package main

import (
	"path/filepath"
	"testing"

	"github.com/zkverify/zkverify/cmd/zkverify/internal/trackrecord"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
)

// Historical bugs of each kind are still caught, on real servers: by steps, by a run of each
// library, by a mutant. Missing software is named. The other bugs take a quarter of an hour.
func TestTheTrackRecord(t *testing.T) {
	ensembletest.EveryNight(t)
	t.Chdir("../..") // the workers are named from there
	args := []string{"track-record", "--out", filepath.Join(t.TempDir(), "record")}
	for _, bug := range []string{"ZOOKEEPER-4925", "CURATOR-621", "kazoo #649", "zk.Lock", "kazoo #291"} {
		args = append(args, "--bug", bug)
	}
	if status, said, _ := inProcess(t, args...); status != exitHolds && status != exitUnavailable {
		t.Errorf("exit status %d:\n%s", status, said)
	}
}

// The totals of a record decide the exit status.
func TestTheExitStatusOfATrackRecord(t *testing.T) {
	out := filepath.Join(t.TempDir(), "record")
	for want, args := range map[int][]string{
		exitHolds:       {"track-record", "--bug", "ZOOKEEPER-1208", "--out", out},
		exitUnavailable: {"track-record", "--bug", "kazoo #649", "--out", out}, // its worker is not in this folder
		exitUsage:       {"track-record", "--bug", "ZOOKEEPER-0", "--out", out},
	} {
		if status, said, _ := inProcess(t, args...); status != want {
			t.Errorf("%q: exit status %d, want %d:\n%s", args, status, want, said)
		}
	}
	if status := statusOf(trackrecord.ErrEscaped); status != exitViolated {
		t.Errorf("a bug has escaped: exit status %d", status)
	}
}
