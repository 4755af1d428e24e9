package trackrecord

import (
	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"slices"
	"testing"
)

// The steps that show a bug have no findings about servers in which the bug is fixed.
func TestMendedServersShowNothing(t *testing.T) {
	ensembletest.EveryNight(t)
	for _, b := range builtInRecord(t).Bugs {
		if b.Mended == "" {
			continue
		}
		t.Run(b.ID, func(t *testing.T) {
			if !slices.ContainsFunc(ensemble.Installations(), func(i ensemble.Installation) bool { return i.Version == b.Mended }) {
				t.Skipf("ZooKeeper %s is not installed", b.Mended)
			}
			script := *b.Steps
			script.ZooKeeper = b.Mended
			found, err := carryOut(t.Context(), script, t.TempDir())
			if err != nil || len(found) > 0 {
				t.Errorf("%v, %v", found, err)
			}
		})
	}
}
