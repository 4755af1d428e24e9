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

// This test shows how ZooKeeper treats a client that has seen newer transactions than its
// servers.
func TestClientsOfRealServersThatAreWipedGoOn(t *testing.T) {
	ensembletest.EveryNight(t)
	needReal(t, "ZooKeeper refuses a client that has seen more than it")
	for name, test := range map[string]struct {
		servers ensemble.LocalConfig
		client  []recipes.Option
	}{
		"three servers": {},
		"servers that demand SASL": {
			ensemble.LocalConfig{Servers: 1, SASLUsers: saslUsers, Properties: demanding["sessionRequireClientSASLAuth=true"]},
			[]recipes.Option{recipes.WithSASL(recipes.DigestMD5("app", saslUsers["app"]))},
		},
		"servers that demand a digest": {
			ensemble.LocalConfig{Servers: 1, Properties: []string{"zookeeper.enforce.auth.enabled=true", "zookeeper.enforce.auth.schemes=digest"}},
			[]recipes.Option{recipes.WithAuth("digest", []byte("app:secret"))},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.client != nil && os.Getenv(ensembletest.Variable) != "real" {
				t.Skip("make test-real has it; TestClientsOfServersThatHaveLostDataGoOn is about them too")
			}
			wipe(t, test.servers, test.client...)
		})
	}
}

// wipe removes the data of all servers while a client holds a lock.
func wipe(t *testing.T, config ensemble.LocalConfig, options ...recipes.Option) {
	config.TickTime = tick
	own := ensembletest.Start(t, config)
	disks, ok := own.(ensemble.Disks)
	if !ok {
		t.Skip("simulated servers have no folders; TestClientsOfServersThatHaveLostDataGoOn is about them")
	}
	path := uniquePath(t)
	holder := connect(t, addressesOf(own), options...)
	lease := acquire(t, within(t), recipes.NewMutex(holder, path))
	before := holder.SessionID()
	for range 2 * 20 { // more transactions than connecting again takes
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
