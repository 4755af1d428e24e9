package locks

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/recipes"
)

// belief is a hold as its client has recorded it.
type belief struct {
	lock, session string
	from, to      time.Time // from the return of the acquire to the call of the release
}

// beliefs collects the holds of all clients.
type beliefs struct {
	mu  sync.Mutex
	all []belief
}

func (b *beliefs) add(one belief) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, one)
}

// work takes the locks in turn.
func (b *beliefs) work(t *testing.T, addrs []string, times int) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := recipes.Connect(ctx, addrs, recipes.WithSessionTimeout(4*time.Second))
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close(ctx) //nolint:errcheck // the session expires otherwise
	for i := range times {
		for _, l := range []recipes.Lock{recipes.NewMutex(c, "/mutex"), recipes.NewSemaphore(c, "/semaphore", 2)} {
			lease, err := l.Acquire(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			from := time.Now()
			time.Sleep(time.Duration(i%3) * time.Millisecond)
			b.add(belief{lease.Path(), sessionID(lease.SessionID()), from, time.Now()})
			if err := lease.Release(ctx); err != nil {
				t.Error(err)
			}
		}
	}
}

// curator takes them in a process of Curator, which ends while it holds the mutex. It returns the
// session that then expires.
func (b *beliefs) curator(t *testing.T, tools ensemble.CuratorTools, classes string, addrs []string, times int) (expires string) {
	out, err := exec.CommandContext(t.Context(), tools.Java, append([]string{"-Dzookeeper.sasl.client=false", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"},
		append(tools.Arguments(classes, "Locker"), strings.Join(addrs, ","), fmt.Sprint(times))...)...).Output()
	if err != nil {
		t.Errorf("Curator: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		var lock string
		var session, from, to int64
		if n, _ := fmt.Sscan(line, &lock, &session, &from, &to); n == 4 {
			b.add(belief{lock, sessionID(session), time.UnixMilli(from), time.UnixMilli(to)})
		} else if n == 2 {
			expires = sessionID(session)
		}
	}
	return expires
}

// Clients of recipes and of Curator share locks on real servers, and one of them dies. Each hold
// that a client has recorded is within one that history tells, and the holds of a mutex do not
// overlap.
func TestHistoryTellsTheTruth(t *testing.T) {
	if testing.Short() {
		t.Skip("needs servers")
	}
	ensembletest.Real(t, "history reads what ZooKeeper writes to disk")
	if ensembletest.Simulated(t) {
		t.Skip("needs real servers")
	}
	tools, err := ensemble.FindCurator()
	if err != nil {
		t.Skip(err)
	}
	ensembletest.Turn(t)
	classes, dir := t.TempDir(), t.TempDir()
	if err := tools.Compile(t.Context(), classes, filepath.Join("testdata", "Locker.java")); err != nil {
		t.Fatal(err)
	}
	l, err := ensemble.StartLocal(t.Context(), ensemble.LocalConfig{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	var addrs, dirs []string
	for i, s := range l.Servers() {
		addrs, dirs = append(addrs, s.Addr), append(dirs, filepath.Join(dir, fmt.Sprintf("server-%d", i+1), "data"))
	}
	const times = 40
	var b beliefs
	var expires string
	var clients sync.WaitGroup
	for range 3 {
		clients.Go(func() { b.work(t, addrs, times) })
	}
	clients.Go(func() { expires = b.curator(t, tools, classes, addrs, times) })
	clients.Wait()
	b.work(t, addrs, 1) // gets the mutex when the session of Curator has expired
	compareBeliefs(t, b.all, expires, stays(t, dirs))
}

// stays returns the stays that history prints.
func stays(t *testing.T, dirs []string) (all []stayJSON) {
	t.Helper()
	a := history(t, append([]string{"--json"}, dirs...)...)
	a.want(t, 0, nil, nil)
	lines := strings.Split(strings.TrimSpace(a.out), "\n")
	for _, line := range lines[:len(lines)-1] {
		var s stayJSON
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		if s.Granted != nil {
			all = append(all, s)
		}
	}
	return all
}

func compareBeliefs(t *testing.T, beliefs []belief, expires string, told []stayJSON) {
	t.Helper()
	const exact = 2 * time.Millisecond // logs have milliseconds
	used := make([]bool, len(told))
	for _, b := range beliefs {
		i := slices.IndexFunc(told, func(s stayJSON) bool {
			return s.Lock == b.lock && s.Session == b.session && s.End == "released" && !s.Granted.After(b.from.Add(exact)) && !s.Gone.Before(b.to.Add(-exact))
		})
		if i < 0 || used[i] {
			t.Errorf("no hold of its own for %+v", b)
			continue
		}
		used[i] = true
	}
	var before *stayJSON
	for i := range told {
		s := &told[i]
		if dies := s.Session == expires && s.End == "session expired"; !used[i] && (!dies || s.Lock != "/mutex") {
			t.Errorf("no client has recorded %+v", s)
		} else if dies && s.Held < 1 {
			t.Errorf("the hold of the dead client: %+v", s)
		}
		if s.Lock != "/mutex" {
			continue
		}
		if before != nil && s.Granted.Before(*before.Gone) {
			t.Errorf("two holders: %+v\n%+v", before, s)
		}
		before = s
	}
	if want := len(beliefs) + 1; len(told) != want {
		t.Errorf("%d holds, want %d", len(told), want)
	}
}
