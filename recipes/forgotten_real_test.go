package recipes_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/recipes"
)

// What ZooKeeper does with a client that has seen more than its servers.
func TestClientsOfRealServersThatAreWipedGoOn(t *testing.T) {
	ensembletest.EveryNight(t)
	needReal(t, "ZooKeeper refuses a client that has seen more than it")
	own := ensembletest.Start(t, ensemble.LocalConfig{TickTime: tick})
	disks, ok := own.(ensemble.Disks)
	if !ok {
		t.Skip("simulated servers have no folders; TestClientsOfServersThatHaveLostDataGoOn is about them")
	}
	var addrs []string
	for _, s := range own.Servers() {
		addrs = append(addrs, s.Addr)
	}
	path := uniquePath(t)
	holder := connect(t, addrs)
	lease := acquire(t, within(t), recipes.NewMutex(holder, path))
	before := holder.SessionID()
	for range 2 * 20 { // more than what connecting again takes
		release(t, acquire(t, within(t), recipes.NewMutex(holder, path+"-other")))
	}

	for _, s := range own.Servers() {
		if err := own.Kill(t.Context(), s.ID); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range own.Servers() {
		dir, err := disks.DataDir(t.Context(), s.ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(dir, "version-2")); err != nil {
			t.Fatal(err)
		}
	}
	var starts sync.WaitGroup // each waits for a quorum
	for _, s := range own.Servers() {
		starts.Go(func() {
			if err := own.Restart(t.Context(), s.ID); err != nil {
				t.Error(err)
			}
		})
	}
	starts.Wait()
	select {
	case <-lease.Lost():
	case <-time.After(patient):
		t.Error("the holder is not told")
	}
	l := acquire(t, within(t), recipes.NewMutex(holder, path))
	if holder.SessionID() == before {
		t.Errorf("it is in session %#x still", before)
	}
	release(t, l)
}
