package checker

import (
	"strconv"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// meetFaults adds leases that meet faults.
func meetFaults(r histories.Recipe, add func(string, func(g *grower, n int))) {
	add("sessions", func(g *grower, n int) {
		for i := range n {
			g.acquire(i, "l")
			g.add(histories.Event{Type: histories.Expired, Process: -1, Session: sessionOf(i)})
		}
	})
	add("faults on others, and leases", func(g *grower, n int) {
		for i := range n {
			g.fault(i, "pause", []int{9}, nil, false)
			token := g.acquire(i%5, "l")
			g.fault(i, "pause", nil, nil, true)
			g.release(i%5, "l", token)
		}
	})
	for _, name := range []string{histories.WorkerPause, histories.ForcedExpiry, histories.NodeDeletion, "latency"} {
		add(name+" of who holds", func(g *grower, n int) {
			for i := range n {
				token := g.acquire(i%5, "l")
				params := map[string]string{"session": sessionOf(i % 5), "lock": "l", "token": strconv.FormatInt(token.Zxid, 10)}
				g.fault(i, name, []int{i % 5}, params, false)
				g.fault(i, name, []int{i % 5}, params, true)
				g.release(i%5, "l", token)
			}
		})
		add(name+" at once", func(g *grower, n int) {
			for i := range n {
				g.fault(i, name, []int{9}, map[string]string{"session": sessionOf(9), "lock": "l", "token": "77"}, false)
			}
			for i := range 20 {
				g.release(i%5, "l", g.acquire(i%5, "l"))
			}
			for i := range n {
				g.fault(i, name, []int{9}, map[string]string{"session": sessionOf(9), "lock": "l", "token": "77"}, true)
			}
		})
		add(name+" during one lease", func(g *grower, n int) {
			g.acquire(7, "l")
			for i := range n {
				params := map[string]string{"session": sessionOf(7), "lock": "l", "token": "1"}
				g.fault(i, name, []int{7}, params, false)
				g.fault(i, name, []int{7}, params, true)
			}
		})
	}
}

// standStill adds leases during stalls, broken links and recovery.
func standStill(r histories.Recipe, add func(string, func(g *grower, n int))) {
	add("stalls", func(g *grower, n int) {
		for i := range n {
			token := g.acquire(i%5, "l")
			since := time.Duration(g.n) * time.Millisecond
			g.n++
			g.add(histories.Event{Type: histories.Stalled, Process: -1, Since: since})
			g.release(i%5, "l", token)
		}
	})
	add("links that break", func(g *grower, n int) {
		token := g.acquire(7, "l")
		mode := writeMode(r)
		for range n {
			g.add(histories.Event{Type: histories.Suspended, Process: 7, Lock: "l", Mode: mode, Token: token, Session: sessionOf(7)})
			g.add(histories.Event{Type: histories.Resumed, Process: 7, Lock: "l", Mode: mode, Token: token, Session: sessionOf(7)})
		}
		g.release(7, "l", token)
	})
	add("in recovery", func(g *grower, n int) {
		g.add(histories.Event{Type: histories.PhaseStart, Process: -1, Phase: histories.PhaseChaos})
		g.add(histories.Event{Type: histories.PhaseStart, Process: -1, Phase: histories.PhaseRecovery})
		for i := range n {
			g.ask(i, histories.Event{Op: histories.TryAcquire, Lock: "l"})
			g.answer(i, histories.Fail, func(e *histories.Event) { e.Refused = true })
		}
		g.n += 20_000
		for i := range n {
			g.ask(i, histories.Event{Op: histories.TryAcquire, Lock: "l"})
			g.answer(i, histories.Fail, func(e *histories.Event) { e.Refused = true })
		}
		g.add(histories.Event{Type: histories.PhaseStart, Process: -1, Phase: histories.PhaseEnd})
	})
}

// say adds answers of leases and locks.
func say(r histories.Recipe, add func(string, func(g *grower, n int))) {
	add("sayings of a lease", func(g *grower, n int) {
		token := g.acquire(7, "l")
		left := time.Second
		for range n {
			g.says(7, token, histories.Saying{Valid: new(true), Left: &left, Depth: 1, State: histories.StateHeld, Held: new(true)})
		}
	})
	add("sayings that it holds, of many processes", func(g *grower, n int) {
		for i := range n {
			g.acquire(i, "l")
		}
		for i := range n {
			g.says(i, histories.Token{}, histories.Saying{Held: new(true)})
		}
		for i := range n {
			g.says(n+i, histories.Token{}, histories.Saying{Held: new(true)})
		}
	})
}

// areTold adds notifications of observers, and lists of a queue.
func areTold(r histories.Recipe, add func(string, func(g *grower, n int))) {
	add("lists of a queue", func(g *grower, n int) {
		token := g.acquire(7, "l")
		for range n {
			g.says(7, token, histories.Saying{Queue: []histories.Participant{{Token: token, Session: sessionOf(7)}}})
		}
		g.release(7, "l", token)
	})
	add("lists of a queue in which many stand", func(g *grower, n int) {
		token := g.acquire(n, "l")
		for i := range n {
			g.ask(i, histories.Event{Op: histories.Acquire, Lock: "l"})
			g.enqueue(i)
			g.says(n, token, histories.Saying{Queue: []histories.Participant{{Token: token, Session: sessionOf(n)}}})
		}
		g.release(n, "l", token)
	})
	add("lists of a queue that many have left", func(g *grower, n int) {
		for i := range n {
			token := g.acquire(i%5, "l")
			g.says(i%5, token, histories.Saying{Queue: []histories.Participant{{Token: token, Session: sessionOf(i % 5)}}})
			g.release(i%5, "l", token)
		}
	})
	add("observers", func(g *grower, n int) {
		for i := range n {
			token := g.acquire(i%5, "l")
			g.says(i%5, token, histories.Saying{Told: histories.ToldAcquired})
			g.release(i%5, "l", token)
			g.says(i%5, token, histories.Saying{Told: histories.ToldReleased})
		}
	})
	add("observers of acquires that are told of the grants late", func(g *grower, n int) {
		tokens := make([]histories.Token, n)
		told := func(what string, token histories.Token) {
			g.add(histories.Event{
				Type: histories.Says, Process: 7, Lock: "l", Mode: writeMode(r), Token: token, Owner: "owner",
				Saying: &histories.Saying{Asked: time.Duration(g.n) * time.Millisecond, Told: what},
			})
		}
		for i := range n {
			g.ask(7, histories.Event{Op: histories.Acquire, Lock: "l", Owner: "owner"})
			told(histories.ToldAcquiring, histories.Token{})
			tokens[i] = g.enqueue(7)
			g.grant(7, tokens[i])
			g.release(7, "l", tokens[i])
		}
		for i := range n {
			told(histories.ToldAcquired, tokens[n-1-i])
		}
	})
	add("observers that are told late", func(g *grower, n int) {
		tokens := make([]histories.Token, n)
		for i := range n {
			tokens[i] = g.acquire(7, "l")
			g.says(7, tokens[i], histories.Saying{Told: histories.ToldAcquired})
			g.release(7, "l", tokens[i])
		}
		for i := range n {
			g.says(7, tokens[i], histories.Saying{Told: histories.ToldReleased})
		}
	})
}

// write adds counters.
func write(r histories.Recipe, add func(string, func(g *grower, n int))) {
	if r.Guards() {
		for _, store := range []string{histories.StoreFenced, histories.StorePlain} {
			counter := func(g *grower, process, value int) {
				g.ask(process, histories.Event{Op: histories.Read, Lock: "l", Mode: writeMode(r), Store: store})
				g.answer(process, histories.OK, func(e *histories.Event) { e.Value = int64(value - 1) })
				g.do(process, histories.Event{Op: histories.Write, Lock: "l", Mode: writeMode(r), Store: store, Value: int64(value)})
			}
			add("writes, "+store, func(g *grower, n int) {
				for i := range n {
					token := g.acquire(i%5, "l")
					counter(g, i%5, i+1)
					g.release(i%5, "l", token)
				}
			})
			add("writes while one is open, "+store, func(g *grower, n int) {
				g.ask(9, histories.Event{Op: histories.Write, Lock: "l", Mode: writeMode(r), Store: store, Value: int64(n + 1)})
				for i := range n {
					counter(g, i%5, i+1)
				}
			})
			add("writes with gaps, backwards, "+store, func(g *grower, n int) {
				g.ask(9, histories.Event{Op: histories.Write, Lock: "l", Mode: writeMode(r), Store: store, Value: int64(3*n + 1)})
				for i := range n {
					g.do(i%5, histories.Event{Op: histories.Write, Lock: "l", Mode: writeMode(r), Store: store, Value: int64(2 * (n - i))})
				}
			})
			add("writes without an answer, "+store, func(g *grower, n int) {
				for i := range n {
					g.acquire(i, "l")
					g.ask(i, histories.Event{Op: histories.Write, Lock: "l", Mode: writeMode(r), Store: store, Value: int64(i + 1)})
					g.answer(i, histories.Info, nil)
				}
			})
		}
	}
}
