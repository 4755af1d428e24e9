package recipes_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/recipes"
)

// The steps of docs/operations.md, Restoring servers, while clients that are not stopped hold
// locks and wait for them.
func TestRestoringServersStepByStep(t *testing.T) {
	needReal(t, "it puts the files of servers back")
	if os.Getenv(ensembletest.Variable) != "real" {
		t.Skip("it takes half a minute: make test-real runs it")
	}
	for name, test := range map[string]struct {
		epoch  string // of all servers; "" is that of the backup
		backup bool
		higher bool // tokens continue after the earlier ones
	}{
		"a backup, with its epochs":      {"", true, false},
		"a backup, with newer epochs":    {"newest", true, true},
		"no backup, with a higher epoch": {"1000", false, true},
		"no backup":                      {"", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			own := ensembletest.Start(t, ensemble.LocalConfig{TickTime: tick})
			r := &restored{t, own}
			early, holder, waiter := connect(t, addressesOf(own)), connect(t, addressesOf(own)), connect(t, addressesOf(own))
			path := uniquePath(t)
			leases := []*recipes.Lease{acquire(t, within(t), recipes.NewMutex(early, path+"-early"))}
			backup := filepath.Join(t.TempDir(), "backup")
			if err := os.CopyFS(backup, os.DirFS(r.data(1))); err != nil { // copy of a running server
				t.Fatal(err)
			}
			r.elect()
			r.elect() // so that the next leader of the backup has a lower epoch
			leases = append(leases, acquire(t, within(t), recipes.NewMutex(holder, path)))
			waiting := []<-chan result{acquiring(t.Context(), recipes.NewMutex(waiter, path+"-early")), acquiring(t.Context(), recipes.NewMutex(waiter, path))}

			r.each(own.Kill)
			time.Sleep(timeout)
			for _, l := range leases {
				if l.Valid() {
					t.Errorf("the lease of %s is valid a session timeout after the servers were stopped", l.Path())
				}
			}
			newest := r.epoch()
			for id := 1; id <= 3; id++ {
				if err := os.RemoveAll(r.data(id)); err != nil {
					t.Fatal(err)
				}
				if test.backup {
					if err := os.CopyFS(r.data(id), os.DirFS(backup)); err != nil {
						t.Fatal(err)
					}
				}
				if test.epoch != "" {
					r.setEpoch(id, strings.Replace(test.epoch, "newest", newest, 1))
				}
			}
			r.each(own.Restart)
			began := time.Now()
			for i, w := range waiting {
				l := (<-w).ok(t)
				t.Logf("%s is granted %v after a quorum serves, with token %v after %v", l.Path(), time.Since(began), l.Token(), leases[i].Token())
				if higher := l.Token().Compare(leases[i].Token()) > 0; higher != test.higher && l.Path() == path {
					t.Errorf("token %v after %v", l.Token(), leases[i].Token())
				}
				release(t, l)
			}
			for _, c := range []*recipes.Client{early, holder} {
				release(t, acquire(t, within(t), recipes.NewMutex(c, path)))
			}
		})
	}
}

// restored holds servers whose data are restored.
type restored struct {
	*testing.T
	own ensembletest.Servers
}

// each calls do for all servers at once, because a start waits for a quorum.
func (r *restored) each(do func(ctx context.Context, id int) error) {
	r.Helper()
	var all sync.WaitGroup
	for id := 1; id <= 3; id++ {
		all.Go(func() {
			if err := do(r.Context(), id); err != nil {
				r.Error(err)
			}
		})
	}
	all.Wait()
}

// elect makes another server lead, in the next epoch.
func (r *restored) elect() {
	r.Helper()
	leader, err := r.own.Leader(within(r.T))
	if err == nil {
		err = errors.Join(r.own.Kill(r.Context(), leader), r.own.Restart(r.Context(), leader))
	}
	if err != nil {
		r.Fatal(err)
	}
	eventually(r.T, "a server leads", func() bool { _, err := r.own.Leader(within(r.T)); return err == nil })
}

func (r *restored) data(id int) string {
	r.Helper()
	dir, err := r.own.(ensemble.Disks).DataDir(r.Context(), id)
	if err != nil {
		r.Fatal(err)
	}
	return filepath.Join(dir, "version-2")
}

// epoch returns the newest epoch of all servers.
func (r *restored) epoch() string {
	r.Helper()
	newest := 0
	for id := 1; id <= 3; id++ {
		for _, file := range epochs {
			text, err := os.ReadFile(filepath.Join(r.data(id), file))
			n, bad := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil || bad != nil {
				r.Fatal(err, bad)
			}
			newest = max(newest, n)
		}
	}
	return strconv.Itoa(newest)
}

func (r *restored) setEpoch(id int, epoch string) {
	r.Helper()
	err := os.MkdirAll(r.data(id), 0o700)
	for _, file := range epochs {
		err = errors.Join(err, os.WriteFile(filepath.Join(r.data(id), file), []byte(epoch), 0o600))
	}
	if err != nil {
		r.Fatal(err)
	}
}

// epochs holds the names of the files beside the snapshots that contain an epoch.
var epochs = []string{"acceptedEpoch", "currentEpoch"}
