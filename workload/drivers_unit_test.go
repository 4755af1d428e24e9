package workload

import (
	"context"
	"math/rand/v2"
	"reflect"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload/lock"
)

func TestALobbySendsWholeRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clean atomic.Bool
		l := newLobby(2, time.Second, clean.Load)
		joined := make(chan *round)
		join := func(patience time.Duration, pushy bool) { joined <- l.join(t.Context(), patience, pushy) }

		wanted := func(want bool) {
			t.Helper()
			if got := l.wanted(); got != want {
				t.Errorf("somebody waits for others: %v, want %v", got, want)
			}
		}
		wanted(false)
		go join(time.Second, false)
		synctest.Wait()
		wanted(true)
		if r := <-joined; r != nil {
			t.Fatalf("one went alone: %+v", r)
		}
		wanted(false)
		go join(time.Second, false)
		go join(time.Second, false)
		a, b := <-joined, <-joined
		if a == nil || a != b || a.generation != 1 {
			t.Fatalf("two went together: %+v and %+v", a, b)
		}
		wanted(false)
		a.end(false)
		go join(time.Second, false)
		if r := <-joined; r != nil {
			t.Fatal("a round began while another was under way")
		}
		b.end(true)

		// A broken round needs a rest, and what it left must be gone.
		start := time.Now()
		time.AfterFunc(5*time.Second, func() { clean.Store(true) })
		go join(time.Minute, false)
		go join(time.Minute, false)
		a, b = <-joined, <-joined
		if a == nil || a != b || a.generation != 2 || time.Since(start) < 5*time.Second {
			t.Fatalf("after a broken round: %+v and %+v after %v", a, b, time.Since(start))
		}
		a.end(false)
		b.end(false)

		// Somebody who does not wait goes alone, and that breaks the round.
		go join(time.Second, true)
		a = <-joined
		if a == nil || !a.short || a.generation != 3 {
			t.Fatalf("alone: %+v", a)
		}
		a.end(false)
		if l.notBefore.IsZero() {
			t.Error("a round of too few did not count as broken")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if r := l.join(ctx, time.Minute, true); r != nil {
			t.Error("somebody went when the run was over")
		}
	})
}

func TestTheClientsOfARunAreAtHomeWithDifferentRecipesAndVisitTogether(t *testing.T) {
	cfg := Config{Target: ours("recipes"), Recipes: lock.RecipesOf(ours("recipes")), Seed: 5}.withSizes()
	cfg.Mix = cfg.Mix.withDefaults()
	r := &run{cfg: cfg, groups: cfg.groups()}
	for index := range len(r.groups) {
		c, again := newClient(r, index), newClient(r, index)
		visits := make(map[histories.Recipe]int)
		patient := 0
		for i := range 1000 {
			at := time.Duration(i) * 20 * time.Millisecond
			g, plan := c.plan(at)
			same, planAgain := again.plan(at)
			if x, y := plan.more.Uint64(), planAgain.more.Uint64(); g != same || x != y {
				t.Fatal("two draws of one seed differ")
			}
			visits[g.Recipe]++
			if plan.way == wayWait && g != r.groups[index] {
				patient++
			}
		}
		for i, g := range r.groups {
			if n := visits[g.Recipe]; n < 40 || (i == index) != (n > 250) {
				t.Errorf("client %d: %d of 1000 cycles with %s", index, n, g.Recipe)
			}
		}
		if patient > 80 {
			t.Errorf("client %d waits for ever %d times away from home", index, patient)
		}
	}
}

func TestEveryRecipeHasItsTime(t *testing.T) {
	cfg := Config{Target: ours("recipes"), Recipes: lock.RecipesOf(ours("recipes")), Seed: 5}.withSizes()
	r := &run{cfg: cfg, groups: cfg.groups()}
	seen := make(map[int]int)
	slot := cfg.SessionTimeout/4 + 1
	for i := range 3 * (len(r.groups) + 1) {
		seen[r.fashion(time.Duration(i)*slot)]++
	}
	for i, g := range r.groups {
		want := 3
		if g.together {
			want = 6
		}
		if seen[i] != want {
			t.Errorf("%s has %d turns in three rounds", g.Recipe, seen[i])
		}
	}
}

// What several recipes share out must not change what one of them decides.
func TestOneRecipeDrawsWhatItDrewByItself(t *testing.T) {
	cfg := Config{Target: ours("plain"), Seed: 5}.withSizes()
	cfg.Mix = cfg.Mix.withDefaults()
	r := &run{cfg: cfg, groups: cfg.groups()}
	c, alone := newClient(r, 3), rand.New(rand.NewPCG(5, 4))
	for range 100 {
		_, plan := c.plan(0)
		plan.more = nil
		plan.doom, plan.hasty, plan.hurried, plan.late = 0, false, false, false // of the second stream, too
		if want := cfg.Mix.draw(alone, 5, 3, cfg.SessionTimeout); !reflect.DeepEqual(plan, want) {
			t.Fatalf("got %+v, want %+v", plan, want)
		}
	}
}

func TestRecipesAreSelectedByName(t *testing.T) {
	all := lock.RecipesOf(ours("recipes"))
	for _, c := range []struct {
		target lock.Target
		names  []string
		want   []histories.Recipe // nil: refused
	}{
		{ours("recipes"), nil, []histories.Recipe{histories.Mutex}},
		{ours("recipes"), []string{"all"}, all},
		{ours("recipes"), []string{"barrier", "mutex", "barrier"}, []histories.Recipe{histories.Mutex, histories.Barrier}},
		{ours("recipes"), []string{"padlock"}, nil},
		{ours("plain"), []string{"all"}, []histories.Recipe{histories.Mutex}},
		{ours("plain"), []string{"mutex", "barrier"}, nil},
	} {
		got, err := SelectRecipes(c.target, c.names)
		if !reflect.DeepEqual(got, c.want) || (err == nil) != (c.want != nil) {
			t.Errorf("%s %v: got %v, %v; want %v", c.target.Name(), c.names, got, err, c.want)
		}
	}
}

func TestAPlaceAmongSeveralLocksIsThatOfTheLockItNames(t *testing.T) {
	rec := &memory{}
	c := &client{run: &run{journal: &journal{Recorder: rec}}, wire: newWire(nil, time.Second)}
	a := &attempt{c: c, open: true, Event: histories.Event{Op: histories.Acquire, Parts: []histories.Part{{Lock: "x"}, {Lock: "y"}}}}
	ctx := lock.WithAttempt(t.Context(), lock.Attempt{Enqueued: a.enqueued})
	lock.Enqueued(ctx, lock.Place{Lock: "y", Token: histories.Token{Zxid: 2}, Ahead: 1})
	lock.Enqueued(ctx, lock.Place{Lock: "z"})
	lock.Enqueued(ctx, lock.Place{})
	if len(rec.events) != 1 || rec.events[0].Lock != "y" || rec.events[0].Parts != nil || rec.events[0].Position != 1 {
		t.Errorf("recorded %+v", rec.events)
	}
}

func TestTheNumberOfANodeIsRead(t *testing.T) {
	for node, want := range map[string]int{
		"_c_01234567-0123-0123-0123-0123456789ab-lock-0000000012":  12,
		"_c_01234567-0123-0123-0123-0123456789ab-lock--2147483648": -2147483648,
	} {
		if got := lock.Sequence(node); got != want {
			t.Errorf("%s: %d, want %d", node, got, want)
		}
	}
}

func TestARecipeThatWasMetSeldomIsHitBeforeOthers(t *testing.T) {
	cfg := Config{Target: ours("recipes"), Recipes: []histories.Recipe{histories.Mutex, histories.Semaphore, histories.Barrier}}.withSizes()
	r := &run{cfg: cfg, groups: cfg.groups(), met: make(map[meeting]int), active: make(map[int]*striking)}
	r.locks = lockTable(r.groups)
	for i, name := range []string{"lock-0", "semaphore-0"} {
		c := newClient(r, i)
		c.addHold(&hold{c: c, event: histories.Event{Lock: name}})
		r.clients = append(r.clients, c)
	}
	w := world{r}
	picked := func(kind string, patient bool, among ...int) (got []int) {
		var from []fault.Client
		for _, i := range among {
			from = append(from, w.Clients()[i])
		}
		for _, c := range w.Rarest(kind, fault.AtHolder, from, patient) {
			got = append(got, c.Index)
		}
		return got
	}
	if got := picked("down", true, 0, 1); len(got) != 2 {
		t.Errorf("of two that were never hit, %v", got)
	}
	w.Struck(1, fault.Fault{Name: "down", Clients: []int{0}})
	if got := picked("down", true, 0, 1); !reflect.DeepEqual(got, []int{1}) {
		t.Errorf("after a fault that met a mutex, %v", got)
	}
	if got := picked("latency", true, 0, 1); !reflect.DeepEqual(got, []int{1}) {
		t.Errorf("while no fault has found the semaphore held, %v", got)
	}
	if got := picked("down", true, 0); got != nil {
		t.Errorf("a semaphore may come, and still %v", got)
	}
	if got := picked("down", false, 0); !reflect.DeepEqual(got, []int{0}) {
		t.Errorf("with no more patience, %v", got)
	}
	w.Struck(2, fault.Fault{Name: "reset", Clients: []int{1}})
	if got := picked("latency", true, 0, 1); len(got) != 2 {
		t.Errorf("for another fault, once both were found held: %v", got)
	}
}

func TestAFaultMeetsWhatItsClientsComeToDo(t *testing.T) {
	cfg := Config{Target: ours("recipes")}.withSizes()
	r := &run{cfg: cfg, groups: cfg.groups(), met: make(map[meeting]int), active: make(map[int]*striking)}
	r.locks = lockTable(r.groups)
	r.clients = []*client{newClient(r, 0), newClient(r, 1)}
	w := world{r}
	if w.Ripe("down") {
		t.Error("ripe while nobody does anything")
	}
	met := func(state fault.Aim) int { return r.met[meeting{"down", doing{state, histories.Mutex}}] }
	hit, other := r.clients[0], r.clients[1]
	hit.setAt(histories.Mutex)
	other.setAt(histories.Mutex)
	w.Struck(1, fault.Fault{Name: "down", Clients: []int{0}})
	other.setWaiting(true)
	for range 2 {
		hit.setAsking(true)
		hit.setAsking(false)
	}
	if met(fault.AtWaiter) != 0 || met(fault.AtEnqueuing) != 1 {
		t.Errorf("one fault, whose client never had a place: %v", r.met)
	}
	for range 2 {
		hit.setAsking(true)
		hit.setQueued(stand{})
		hit.setAsking(false)
	}
	if met(fault.AtWaiter) != 1 || met(fault.AtEnqueuing) != 1 || met(fault.AtReleasing) != 0 {
		t.Errorf("one fault, whose client waited twice: %v", r.met)
	}
	w.Healed(1, fault.Fault{})
	hit.setReleasing(true)
	if met(fault.AtReleasing) != 0 {
		t.Errorf("a fault that is over: %v", r.met)
	}
	clients := w.Clients()
	hit.setReleasing(false)
	if got := w.Rarest("down", fault.AtAnyone, clients, true); len(got) != 0 {
		t.Errorf("a holder may come, whom none has met, and still %v", got)
	}
	hit.addHold(&hold{c: hit, event: histories.Event{Lock: "lock-0"}})
	if got := w.Rarest("down", fault.AtAnyone, clients, true); len(got) != 1 || got[0].Index != 0 {
		t.Errorf("the first holder: %v", got)
	}
	if !w.Ripe("down") {
		t.Error("not ripe for the first holder")
	}
	w.Struck(2, fault.Fault{Name: "down"})
	if w.Ripe("down") {
		t.Error("ripe for what was met")
	}
	hit.setReleasing(true)
	if !w.Ripe("down") {
		t.Error("not ripe when all was met")
	}
}
