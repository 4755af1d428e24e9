package inspect_test

import (
	"context"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/inspect"
)

// sample reads the locks every period for some time.
func (w *world) sample(s *inspect.Sampler, period, duration time.Duration) {
	w.T.Helper()
	for end := time.Now().Add(duration); time.Now().Before(end); time.Sleep(period) {
		found, err := inspect.Find(w.T.Context(), w.conn, []string{"/"}, inspect.Brief())
		if err != nil {
			w.T.Fatal(err)
		}
		s.Add(found)
	}
}

func rateOf(t *testing.T, s *inspect.Sampler, path string) inspect.Rate {
	t.Helper()
	for _, r := range s.Rates() {
		if r.Lock.Path == path {
			return r
		}
	}
	t.Fatalf("%s is in no rate", path)
	return inspect.Rate{}
}

func near(got, want, by time.Duration) bool { return (got - want).Abs() <= by }

// Two clients that hold a lock for a second each, in turn: each holds for 1 s, and waits
// for as long.
func TestASamplerTellsGrantsHoldsAndWaits(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(t.Context())
		var busy sync.WaitGroup
		w.ephemeral("/quiet/"+curator(1, "lock-", 1), "")
		for _, name := range []string{"a", "b"} {
			c := w.client(name)
			semaphore, mutex := recipes.NewSemaphore(c, "/s", 1), recipes.NewMutex(c, "/m")
			for _, l := range []recipes.Lock{mutex, semaphore} {
				busy.Go(func() {
					for ctx.Err() == nil {
						if lease, err := l.Acquire(ctx); err == nil {
							time.Sleep(time.Second)
							_ = lease.Release(context.Background())
						}
					}
				})
			}
		}
		time.Sleep(5 * time.Second)
		const period = 100 * time.Millisecond
		var s inspect.Sampler
		w.sample(&s, period, time.Minute)
		for _, path := range []string{"/m", "/s"} {
			r := rateOf(t, &s, path)
			if !r.Counted || math.Abs(r.Grants-1) > 0.05 {
				t.Errorf("%s: %.2f grants a second, counted %v", path, r.Grants, r.Counted)
			}
			if r.Holds.N < 50 || !near(r.Holds.P50, time.Second, 2*period) || !near(r.Holds.P99, time.Second, 2*period) {
				t.Errorf("%s: holds %+v", path, r.Holds)
			}
			if r.Waits.N < 50 || !near(r.Waits.P50, time.Second, 2*period) {
				t.Errorf("%s: waits %+v", path, r.Waits)
			}
			w.sample(&s, period, time.Minute) // Rates began a new interval for all locks
		}
		if r := rateOf(t, &s, "/quiet"); r.Grants != 0 || !r.Counted || r.Holds.N != 0 || r.Waits.N != 0 {
			t.Errorf("a lock that does not change: %+v", r)
		}
		cancel()
		busy.Wait()
	})
}

// Grants between two snapshots are counted, however short the holds are.
func TestShortHoldsAreCounted(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.ephemeral("/m/"+curator(1, "lock-", 1), "stays first")
		var s inspect.Sampler
		s.Add(w.find("/"))
		if r := rateOf(t, &s, "/m"); r.Counted {
			t.Errorf("after one snapshot: %+v", r)
		}
		begun := time.Now()
		const n = 100
		for i := range n {
			node := "/m/" + curator(2, "lock-", 2+i)
			w.ephemeral(node, "")
			if err := w.conn.Delete(node, -1); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		s.Add(w.find("/"))
		took := time.Since(begun).Seconds()
		if r := rateOf(t, &s, "/m"); !r.Counted || math.Abs(r.Grants*took-n) > 1 {
			t.Errorf("%.2f grants in %.2f s, want %d", r.Grants*took, took, n)
		}
		// Contenders that come are not counted, and contenders that leave are.
		for i := range 3 {
			w.ephemeral("/m/"+curator(4, "lock-", 200+i), "")
		}
		time.Sleep(time.Second)
		s.Add(w.find("/"))
		if r := rateOf(t, &s, "/m"); r.Grants != 0 {
			t.Errorf("%.2f grants a second while contenders came", r.Grants)
		}
		for i := range 3 {
			if err := w.conn.Delete("/m/"+curator(4, "lock-", 200+i), -1); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		s.Add(w.find("/"))
		if r := rateOf(t, &s, "/m"); r.Grants < 2 || r.Grants > 3 {
			t.Errorf("%.2f grants a second when three contenders left in one", r.Grants)
		}
		// The node is deleted and created anew: the counts of the two are not compared.
		if err := w.conn.Delete("/m/"+curator(1, "lock-", 1), -1); err != nil {
			t.Fatal(err)
		}
		if err := w.conn.Delete("/m", -1); err != nil {
			t.Fatal(err)
		}
		w.ephemeral("/m/"+curator(3, "lock-", 1), "")
		time.Sleep(time.Second)
		s.Add(w.find("/"))
		if r := rateOf(t, &s, "/m"); r.Counted {
			t.Errorf("of another node: %+v", r)
		}
	})
}

// A lock that is not in use is in no rate, but its last hold is counted.
func TestALockThatIsFreeIsInNoRate(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.persistent("/m", "")
		var s inspect.Sampler
		s.Add(w.find("/"))
		time.Sleep(time.Second)
		node := "/m/" + curator(1, "lock-", 1)
		w.ephemeral(node, "")
		s.Add(w.find("/"))
		time.Sleep(time.Second)
		s.Add(w.find("/"))
		time.Sleep(2 * time.Second)
		if err := w.conn.Delete(node, -1); err != nil {
			t.Fatal(err)
		}
		s.Add(w.find("/"))
		if rates := s.Rates(); len(rates) != 0 {
			t.Errorf("rates %+v", rates)
		}
		w.ephemeral(node, "")
		time.Sleep(time.Second)
		s.Add(w.find("/"))
		if r := rateOf(t, &s, "/m"); r.Holds.N != 1 || r.Holds.AtMost50 || !near(r.Holds.P50, 3*time.Second, 100*time.Millisecond) {
			t.Errorf("holds %+v", r.Holds)
		}
	})
}

// A hold that one snapshot alone has seen lasted less than twice the time between two.
func TestASamplerKnowsOnlyABoundOfAShortHold(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		const period = 200 * time.Millisecond
		var s inspect.Sampler
		c := w.client("a")
		w.ephemeral("/m/"+curator(9, "lock-", 9), "") // the lock is in use before, so that beginnings are seen
		for range 3 {
			w.sample(&s, period, period)
			lease, err := recipes.NewMutex(c, "/once").Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			w.sample(&s, period, period)
			if err := lease.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		w.sample(&s, period, period)
		w.ephemeral("/once/"+curator(9, "lock-", 9), "") // so that the lock is in the last snapshot
		w.sample(&s, period, period)
		got := rateOf(t, &s, "/once").Holds
		if got.N != 3 || !got.AtMost50 || !got.AtMost99 || got.P50 < period || got.P50 > 2*period+10*time.Millisecond {
			t.Errorf("holds %+v, want three of at most %v", got, 2*period)
		}
	})
}
