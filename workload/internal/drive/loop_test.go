package drive

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/journal"
	"github.com/zkverify/zkverify/workload/internal/servers"
	"github.com/zkverify/zkverify/workload/lock"
)

// driversOf returns the drivers of a run of some recipes with n locks each, which has no
// servers.
func driversOf(t *testing.T, n int, recipes ...histories.Recipe) *Drivers {
	groups := LayOut(recipes, n, 20, true)
	r := &client.Shared{
		Life: t.Context(), Seed: 5, Clients: 20, SessionTimeout: 2 * time.Second,
		Locks: LockTable(groups), Faults: journal.NewCoverage(recipes, LockTable(groups)),
	}
	return New(r, cycle.Mix{}.WithDefaults(), groups)
}

func TestTheClientsOfARunAreAtHomeWithDifferentRecipesAndVisitTogether(t *testing.T) {
	d := driversOf(t, 1, histories.Recipes()...)
	for index := range len(d.Groups) {
		c, again := client.New(d.run, index), client.New(d.run, index)
		visits := make(map[histories.Recipe]int)
		patient := 0
		for i := range 1000 {
			at := time.Duration(i) * 20 * time.Millisecond
			g, plan := d.plan(c, at)
			same, planAgain := d.plan(again, at)
			if x, y := plan.More.Uint64(), planAgain.More.Uint64(); g != same || x != y {
				t.Fatal("two draws of one seed differ")
			}
			visits[g.Name]++
			if plan.Way == cycle.Wait && g != d.Groups[index] {
				patient++
			}
		}
		for i, g := range d.Groups {
			if n := visits[g.Name]; n < 40 || (i == index) != (n > 250) {
				t.Errorf("client %d: %d of 1000 cycles with %s", index, n, g.Name)
			}
		}
		if patient > 80 {
			t.Errorf("client %d waits for ever %d times away from home", index, patient)
		}
	}
}

func TestEveryRecipeHasItsTime(t *testing.T) {
	d := driversOf(t, 1, histories.Recipes()...)
	seen := make(map[int]int)
	slot := d.run.SessionTimeout/4 + 1
	for i := range 3 * (len(d.Groups) + 1) {
		seen[d.fashion(time.Duration(i)*slot)]++
	}
	for i, g := range d.Groups {
		want := 3
		if g.together {
			want = 6
		}
		if seen[i] != want {
			t.Errorf("%s has %d turns in three rounds", g.Name, seen[i])
		}
	}
}

// The presence of several recipes must not change the choices of one of them.
func TestOneRecipeDrawsWhatItDrewByItself(t *testing.T) {
	d := driversOf(t, 5, histories.Mutex)
	c, alone := client.New(d.run, 3), rand.New(rand.NewPCG(5, 4))
	for range 100 {
		_, plan := d.plan(c, 0)
		plan.More = nil
		plan.Doom, plan.Hasty, plan.Hurried, plan.Late = 0, false, false, false // of the second stream, too
		if want := d.mix.Draw(alone, 5, 3, d.run.SessionTimeout); !reflect.DeepEqual(plan, want) {
			t.Fatalf("got %+v, want %+v", plan, want)
		}
	}
}

func TestACycleIsNotDoomedForEver(t *testing.T) {
	target := &mortal{}
	c := client.New(&client.Shared{Clients: 1, Target: target, Faults: journal.NewCoverage(nil, nil), Observer: new(servers.Observer)}, 0)
	if err := c.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		doom(c, time.Second).Stop()
		doom(c, 0).Stop()
		time.Sleep(time.Minute)
		if c.Target() == nil || target.crashed.Load() {
			t.Error("it crashed when its cycle was over")
		}
	})
}

// mortal is a target, and a client of it.
type mortal struct {
	lock.Target
	lock.Client
	crashed atomic.Bool
}

func (m *mortal) Open(context.Context, lock.Env) (lock.Client, error) { return m, nil }
func (*mortal) Conn() *zk.Conn                                        { return nil }
func (m *mortal) Crash()                                              { m.crashed.Store(true) }

// Every process that is there at the end has every lock to get.
func TestAProcessThatFollowsACrashedOneRecoversAtEveryLock(t *testing.T) {
	r := &client.Shared{
		Life: t.Context(), Clients: 1, Target: new(mortal), Journal: &journal.Journal{Recorder: nowhere{}},
		Faults: journal.NewCoverage(nil, nil), Observer: new(servers.Observer),
	}
	f := &followed{}
	d := &Drivers{run: r, Groups: []*Group{
		{recipe: recipe{together: true}, names: []string{"c"}, driver: f}, {names: []string{"a", "b"}, driver: f},
	}}
	c := client.New(r, 0)
	if missed := d.Recover(t.Context(), c); len(missed) != 0 {
		t.Errorf("missed %q", missed)
	}
	c.Background.Wait()
	if want := []string{"0 a", "0 b", "1 c", "1 a", "1 b"}; !slices.Equal(f.got, want) {
		t.Errorf("got %q, want %q", f.got, want)
	}
}

// followed notes the processes that recover at its locks. The first crashes at b.
type followed struct {
	driver
	got []string
}

func (f *followed) recover(ctx context.Context, c *client.Client, name string) bool {
	if f.got = append(f.got, fmt.Sprint(c.Current(), " ", name)); len(f.got) == 2 {
		if c.Open(ctx) == nil {
			c.Crash(histories.Event{})
		}
	}
	return true
}
