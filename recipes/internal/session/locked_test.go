package session

import (
	"testing"
	"testing/synctest"
	"time"
)

// Servers whose maxSessionTimeout was lowered grant less when a client reconnects, and
// count its session down by that.
func TestALeaseKeepsToTheShortestTimeoutThatWasGranted(t *testing.T) {
	for _, test := range []struct {
		name    string
		granted []time.Duration // on each reconnect
		want    time.Duration   // session timeout
	}{
		{"none", nil, 3 * time.Second},
		{"a shorter one", []time.Duration{time.Second}, time.Second},
		{"a longer one", []time.Duration{9 * time.Second}, 3 * time.Second},
		{"a shorter one and a longer one", []time.Duration{time.Second, 9 * time.Second}, time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &Session{
					common: &common{cfg: Config{Clock: MachineClock()}, pace: newPace(1, 3*time.Second)},
					ID:     5, timeout: 3 * time.Second, held: make(map[Dependent]struct{}), nudges: make(chan struct{}, 1),
				}
				start := time.Now()
				s.seen.established(start)
				h := &timed{lost: make(chan struct{})}
				s.With(func(l Locked) {
					l.Add(h)
					h.timer = time.AfterFunc(time.Until(l.Deadline()), func() { close(h.lost) })
				})
				for _, timeout := range test.granted {
					if err := (connector{s}).connected(start, handshake{timeout: timeout, session: 5, password: passwordSize}); err != nil {
						t.Fatal(err)
					}
				}
				<-h.lost
				if got, want := time.Since(start), test.want-margin(test.want); got != want {
					t.Errorf("lost after %v, want %v", got, want)
				}
			})
		})
	}
}

// timed is lost when its timer fires.
type timed struct {
	timer *time.Timer
	lost  chan struct{}
}

func (d *timed) Paths() []string           { return nil }
func (d *timed) Lose(Locked, Loss)         {}
func (d *timed) Suspend(bool)              {}
func (d *timed) Remind(left time.Duration) { d.timer.Reset(left) }

// Without WithServerTick the tick counts as 2 s, or as half of the session timeout if that
// is shorter, but at least as half of the least timeout that the servers grant. The tick of
// WithServerTick counts at least as that half, too.
func TestATickIsNotTakenForTooShort(t *testing.T) {
	for _, test := range []struct{ named, least, timeout, want time.Duration }{
		{0, 500 * time.Millisecond, 30 * time.Second, 2 * time.Second},
		{0, 500 * time.Millisecond, 3 * time.Second, 1500 * time.Millisecond},
		{0, 6 * time.Second, 30 * time.Second, 3 * time.Second},
		{200 * time.Millisecond, 400 * time.Millisecond, 3 * time.Second, 200 * time.Millisecond},
		{200 * time.Millisecond, 2 * time.Second, 3 * time.Second, time.Second},
		{3 * time.Second, 500 * time.Millisecond, 10 * time.Second, 3 * time.Second},
	} {
		s := &Session{
			common: &common{cfg: Config{Clock: MachineClock(), Tick: test.named}, pace: newPace(1, test.timeout)},
			held:   make(map[Dependent]struct{}), nudges: make(chan struct{}, 1), ready: make(chan struct{}),
		}
		s.least.Store(int64(test.least))
		if err := (connector{s}).connected(time.Now(), handshake{timeout: test.timeout, session: 5, password: passwordSize}); err != nil {
			t.Fatal(err)
		}
		if s.seen.tick != test.want {
			t.Errorf("named %v, least timeout %v, session timeout %v: %v, want %v", test.named, test.least, test.timeout, s.seen.tick, test.want)
		}
	}
}
