package session

import (
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// TestNoHistoryOfAttemptsIsHasty draws the behavior of servers, and counts the attempts.
func TestNoHistoryOfAttemptsIsHasty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		timeout := time.Duration(rapid.IntRange(1, 60_000).Draw(t, "timeout in ms")) * time.Millisecond
		servers := rapid.IntRange(1, 40).Draw(t, "servers")
		p := newPace(servers, timeout)
		now := time.Now()
		var begun []time.Time
		for range 200 {
			now = now.Add(p.next(now, longestWait(timeout)))
			begun = append(begun, now)
			if n := len(begun); n > maxConnects && now.Sub(begun[n-1-maxConnects]) < p.window {
				t.Fatalf("%d attempts in %v", maxConnects+1, now.Sub(begun[n-1-maxConnects]))
			}
			// The outcome of the attempt. The session begins with the attempt here, so
			// that it seems to last longer than it does.
			switch rapid.SampledFrom([]string{"refused", "established", "served", "expired"}).Draw(t, "outcome") {
			case "established":
				p.shaken = now
			case "served":
				p.established()
				p.confirmed()
			case "expired":
				p.expired()
			}
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(timeout)).Draw(t, "lasted")))
		}
	})
}

func TestWaitsDoubleUpToTheirBound(t *testing.T) {
	t.Parallel()
	p := newPace(3, 30*time.Second)
	now := time.Now()
	for try := range 30 {
		wait := p.next(now, longestWait(30*time.Second))
		most := 2 * time.Second
		if try < 3 {
			most = 0
		} else if try < 3+8 {
			most = 10 * time.Millisecond << (try - 3)
		}
		if wait < most/2 || wait > most {
			t.Errorf("attempt %d waits %v, want %v to %v", try, wait, most/2, most)
		}
		now = now.Add(wait)
	}
	for timeout, want := range map[time.Duration]time.Duration{
		time.Millisecond: leastWait, 600 * time.Millisecond: 100 * time.Millisecond, time.Minute: 2 * time.Second,
	} {
		if got := longestWait(timeout); got != want {
			t.Errorf("the longest wait of a session timeout of %v is %v, want %v", timeout, got, want)
		}
	}
}

func TestTheWindowIsAFifthOfTheSessionTimeoutAndFiveSecondsAtMost(t *testing.T) {
	t.Parallel()
	for timeout, want := range map[time.Duration]time.Duration{
		time.Second: 200 * time.Millisecond, 25 * time.Second: 5 * time.Second, 26 * time.Second: 5 * time.Second, time.Minute: 5 * time.Second,
	} {
		if got := newPace(3, timeout).window; got != want {
			t.Errorf("%v of a session timeout of %v, want %v", got, timeout, want)
		}
	}
}

func TestWhatResetsTheWait(t *testing.T) {
	t.Parallel()
	const longest = 2 * time.Second
	for _, test := range []struct {
		name    string
		outcome func(p *pace, now time.Time) (lasted time.Duration)
		reset   bool
	}{
		{"a refusal does not", func(*pace, time.Time) time.Duration { return 0 }, false},
		{"a session that ends at once does not", func(p *pace, now time.Time) time.Duration { p.shaken = now; return 0 }, false},
		{"a session that nearly lasts does not", func(p *pace, now time.Time) time.Duration { p.shaken = now; return longest - 1 }, false},
		{"one that lasts does", func(p *pace, now time.Time) time.Duration { p.shaken = now; return longest }, true},
		{"one in which a write was confirmed does", func(p *pace, now time.Time) time.Duration { p.established(); p.confirmed(); return 0 }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPace(1, time.Minute)
			now := time.Now()
			for range 15 { // to the longest wait
				now = now.Add(p.next(now, longest))
			}
			now = now.Add(test.outcome(p, now))
			waited := p.next(now, longest)
			again := p.next(now.Add(waited), longest)
			if reset := waited == 0 && again <= leastWait; reset != test.reset {
				t.Errorf("the next attempts wait %v and %v", waited, again)
			}
		})
	}
}

// A connection that only asks a server counts towards the bound of a window.
func TestAnotherConnectionOfAnAttemptCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPace(maxConnects, 10*time.Second)
		start := time.Now()
		for range maxConnects / 2 {
			if err := p.await(t.Context(), 10*time.Second); err != nil {
				t.Fatal(err)
			}
			if err := p.awaitAnother(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("the first %d connections take %v", maxConnects, took)
		}
		if err := p.awaitAnother(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != p.window {
			t.Errorf("one more comes after %v, want %v", took, p.window)
		}
	})
}
