package checker

import (
	"time"

	"github.com/zkverify/zkverify/histories"
)

// ofPermits returns the dimensions of semaphores, and of requests to release.
func ofPermits() []dimension {
	of := ofRecipe
	return []dimension{
		{name: "semaphore/permits of one process", locks: map[string]histories.Lock{"l": {Recipe: histories.Semaphore, Size: 1 << 20}}, grow: func(g *grower, n int) {
			tokens := make([]histories.Token, n)
			for i := range n {
				tokens[i] = g.acquire(7, "l")
			}
			for i := range n {
				g.release(7, "l", tokens[n-1-i])
			}
		}},
		{name: "semaphore/permits of many processes, without tokens", locks: map[string]histories.Lock{"l": {Recipe: histories.Semaphore, Size: 1 << 20}}, grow: func(g *grower, n int) {
			for i := range n {
				g.ask(i, histories.Event{Op: histories.Acquire, Lock: "l"})
				g.grant(i, histories.Token{})
			}
			for i := range n {
				g.release(n-1-i, "l", histories.Token{})
			}
		}},
		{name: "semaphore/permits that are held together, again and again", locks: map[string]histories.Lock{"l": {Recipe: histories.Semaphore, Size: 1 << 20}}, grow: func(g *grower, n int) {
			for i := range n {
				g.ask(n+i, histories.Event{Op: histories.Acquire, Lock: "l"})
				g.grant(n+i, g.enqueue(n+i))
				g.release(i%5, "l", g.acquire(i%5, "l"))
			}
		}},
		of("changes of a size", histories.SharedSemaphore, func(g *grower, n int) {
			for i := range n {
				g.do(9, histories.Event{Op: histories.SetSize, Lock: "l", Size: 2 + i%3})
				g.release(i%5, "l", g.acquire(i%5, "l"))
			}
		}),
		of("changes of a size during one acquire", histories.SharedSemaphore, func(g *grower, n int) {
			g.ask(9, histories.Event{Op: histories.Acquire, Lock: "l"})
			g.enqueue(9)
			for i := range n {
				g.do(8, histories.Event{Op: histories.SetSize, Lock: "l", Size: 2 + i%3})
				g.release(i%5, "l", g.acquire(i%5, "l"))
			}
		}),
		of("changes of a size at once", histories.SharedSemaphore, func(g *grower, n int) {
			for i := range n {
				g.ask(100+i, histories.Event{Op: histories.SetSize, Lock: "l", Size: 2 + i%3})
			}
			for i := range 20 {
				g.release(i%5, "l", g.acquire(i%5, "l"))
			}
			for i := range n {
				g.answer(100+i, histories.OK, nil)
			}
		}),
		of("changes of a size without an answer", histories.SharedSemaphore, func(g *grower, n int) {
			for i := range n {
				g.ask(100+i, histories.Event{Op: histories.SetSize, Lock: "l", Size: 2 + i%3})
				g.answer(100+i, histories.Info, nil)
				g.release(i%5, "l", g.acquire(i%5, "l"))
			}
		}),
		of("a size that drops under many acquires", histories.SharedSemaphore, func(g *grower, n int) {
			g.do(9, histories.Event{Op: histories.SetSize, Lock: "l", Size: n})
			for i := range n {
				g.ask(100+i, histories.Event{Op: histories.Acquire, Lock: "l"})
				g.enqueue(100 + i)
			}
			g.do(9, histories.Event{Op: histories.SetSize, Lock: "l", Size: 1})
			for i := range n {
				g.grant(100+i, histories.Token{Zxid: int64(i + 1)})
			}
		}),
		of("requests", histories.Revocation, func(g *grower, n int) {
			for i := range n {
				token := g.acquire(i%5, "l")
				g.do(9, histories.Event{Op: histories.Revoke, Lock: "l", Token: token})
				g.add(histories.Event{Type: histories.RevokeRequested, Process: i % 5, Lock: "l", Token: token})
				g.release(i%5, "l", token)
			}
		}),
		of("requests for one lease", histories.Revocation, func(g *grower, n int) {
			token := g.acquire(7, "l")
			for range n {
				g.do(9, histories.Event{Op: histories.Revoke, Lock: "l", Token: token})
				g.add(histories.Event{Type: histories.RevokeRequested, Process: 7, Lock: "l", Token: token})
			}
			g.release(7, "l", token)
		}),
		of("requests while one is open", histories.Revocation, func(g *grower, n int) {
			g.ask(8, histories.Event{Op: histories.Revoke, Lock: "l", Token: histories.Token{Zxid: 1}})
			for i := range n {
				token := g.acquire(i%5, "l")
				g.do(9, histories.Event{Op: histories.Revoke, Lock: "l", Token: token})
				g.add(histories.Event{Type: histories.RevokeRequested, Process: i % 5, Lock: "l", Token: token})
				g.release(i%5, "l", token)
			}
		}),
		of("requests, and leases that are lost", histories.Revocation, func(g *grower, n int) {
			for i := range n {
				token := g.acquire(i%5, "l")
				g.do(9, histories.Event{Op: histories.Revoke, Lock: "l", Token: token})
				g.add(histories.Event{Type: histories.RevokeRequested, Process: i % 5, Lock: "l", Token: token})
				g.add(histories.Event{Type: histories.Lost, Process: i % 5, Lock: "l", Token: token})
			}
		}),
		of("tokens that go back", histories.Revocation, func(g *grower, n int) {
			g.zxid = int64(n)
			for i := range n {
				token := histories.Token{Zxid: int64(n - i)}
				g.ask(i%5, histories.Event{Op: histories.Acquire, Lock: "l"})
				g.grant(i%5, token)
				g.release(i%5, "l", token)
				g.add(histories.Event{Type: histories.RevokeRequested, Process: i % 5, Lock: "l", Token: token})
			}
		}),
		of("notices for leases that were never granted", histories.Revocation, func(g *grower, n int) {
			for i := range n {
				g.add(histories.Event{Type: histories.RevokeRequested, Process: i % 5, Lock: "l", Token: histories.Token{Zxid: int64(i + 1)}})
				g.n += int(time.Second / time.Millisecond / 10)
			}
		}),
	}
}

// ofBarriers returns the dimensions of barriers.
func ofBarriers() []dimension {
	of := ofRecipe
	b := func(op histories.Op) histories.Event { return histories.Event{Op: op, Lock: "l"} }
	round := func(op histories.Op, generation int) histories.Event {
		return histories.Event{Op: op, Lock: "l", Generation: generation}
	}
	return []dimension{
		of("sets, removes and waits", histories.Barrier, func(g *grower, n int) {
			for i := range n {
				g.do(8, b(histories.Set))
				g.ask(i%5, b(histories.Wait))
				g.do(9, b(histories.Remove))
				g.answer(i%5, histories.OK, nil)
			}
		}),
		of("waits at once", histories.Barrier, func(g *grower, n int) {
			g.do(n, b(histories.Set))
			for i := range n {
				g.ask(i, b(histories.Wait))
			}
			g.do(n, b(histories.Remove))
			for i := range n {
				g.answer(i, histories.OK, nil)
			}
		}),
		of("sets and removes while one waits", histories.Barrier, func(g *grower, n int) {
			g.do(7, b(histories.Set))
			g.ask(6, b(histories.Wait))
			for i := range n {
				g.do(8, b(histories.Set))
				g.do(9, b(histories.Remove))
				g.do(i%5, b(histories.Wait))
			}
		}),
		of("removes and waits while one removes", histories.Barrier, func(g *grower, n int) {
			g.do(7, b(histories.Set))
			g.ask(6, b(histories.Remove))
			for i := range n {
				g.do(9, b(histories.Remove))
				g.do(8, b(histories.Set))
				g.do(i%5, b(histories.Wait))
			}
		}),
		of("removes at once", histories.Barrier, func(g *grower, n int) {
			g.do(n, b(histories.Set))
			for i := range n {
				g.ask(i, b(histories.Remove))
			}
			for i := range n {
				g.do(n+1+i%5, b(histories.Wait))
				g.answer(i, histories.OK, nil)
			}
		}),
		of("removes without an answer", histories.Barrier, func(g *grower, n int) {
			for i := range n {
				g.do(1, b(histories.Set))
				g.ask(100+i, b(histories.Remove))
				g.answer(100+i, histories.Info, nil)
				g.do(2, b(histories.Wait))
			}
		}),
		of("rounds", histories.DoubleBarrier, func(g *grower, n int) {
			for i := range n {
				for _, op := range []histories.Op{histories.Enter, histories.Leave} {
					for p := range 3 {
						g.ask(p, round(op, i+1))
					}
					for p := range 3 {
						g.answer(p, histories.OK, nil)
					}
				}
			}
		}),
		{name: "doublebarrier/members", grow: func(g *grower, n int) {
			g.h.Header.Locks = map[string]histories.Lock{"l": {Recipe: histories.DoubleBarrier, Size: n}}
			for generation := range 2 {
				for _, op := range []histories.Op{histories.Enter, histories.Leave} {
					for p := range n {
						g.ask(p, round(op, generation+1))
					}
					for p := range n {
						g.answer(p, histories.OK, nil)
					}
				}
			}
		}},
		of("members who come one by one", histories.DoubleBarrier, func(g *grower, n int) {
			for p := range n {
				g.do(p, round(histories.Enter, 1))
			}
			for p := range n {
				g.do(p, round(histories.Leave, 1))
			}
			g.do(0, round(histories.Enter, 2))
		}),
		of("members who give up", histories.DoubleBarrier, func(g *grower, n int) {
			for p := range n {
				g.ask(p, round(histories.Enter, 1))
				g.answer(p, histories.Fail, func(e *histories.Event) { e.Token = g.newToken() })
			}
			for p := range n {
				g.ask(n+p, round(histories.Enter, 1))
			}
			for p := range n {
				g.answer(n+p, histories.OK, func(e *histories.Event) { e.Token = histories.Token{Zxid: int64(n)} })
			}
		}),
		of("one member, again and again", histories.DoubleBarrier, func(g *grower, n int) {
			for range n {
				g.do(1, round(histories.Enter, 1))
				g.do(1, round(histories.Leave, 1))
			}
		}),
		of("rounds backwards", histories.DoubleBarrier, func(g *grower, n int) {
			for i := range n {
				g.do(i%5, round(histories.Enter, n-i))
			}
		}),
		of("rounds while a member stays", histories.DoubleBarrier, func(g *grower, n int) {
			g.ask(9, round(histories.Enter, 1))
			for i := range n {
				for p := range 3 {
					g.do(p, round(histories.Enter, i+1))
				}
				for p := range 3 {
					g.do(p, round(histories.Leave, i+1))
				}
			}
		}),
	}
}
