package checker

import (
	"strconv"

	"github.com/zkverify/zkverify/histories"
)

// ofSome returns the dimensions in which histories of some recipes grow.
func ofSome() []dimension {
	parts := func(n int) []histories.Part {
		all := make([]histories.Part, n)
		for i := range all {
			all[i].Lock = strconv.Itoa(i)
		}
		return all
	}
	of := ofRecipe
	all := []dimension{
		{name: "multilock/members", bytes: func(n int) int { return n }, grow: func(g *grower, n int) {
			g.h.Header.Locks = map[string]histories.Lock{}
			members := parts(n)
			for _, m := range members {
				g.h.Header.Locks[m.Lock] = histories.Lock{Recipe: histories.MultiLock}
			}
			for k := range 2 {
				g.ask(k, histories.Event{Op: histories.Acquire, Parts: members})
				for i := range members {
					g.zxid++
					members[i].Token = histories.Token{Zxid: g.zxid}
					g.add(histories.Event{Type: histories.Enqueued, Process: k, Lock: members[i].Lock, Token: members[i].Token, Session: sessionOf(k)})
				}
				granted := append([]histories.Part(nil), members...)
				g.answer(k, histories.OK, func(e *histories.Event) { e.Parts, e.Depth = granted, 1 })
				g.add(histories.Event{Type: histories.Suspended, Process: k, Parts: granted})
				g.add(histories.Event{Type: histories.Resumed, Process: k, Parts: granted})
				g.ask(k, histories.Event{Op: histories.Release, Parts: granted, Depth: 1})
				for i := range members {
					g.add(histories.Event{Type: histories.Lost, Process: k, Lock: members[i].Lock, Token: members[i].Token})
				}
				g.answer(k, histories.OK, nil)
			}
			g.ask(3, histories.Event{Op: histories.Acquire, Parts: members})
			g.answer(3, histories.OK, func(e *histories.Event) { e.Depth = 1 })
			g.add(histories.Event{Type: histories.Lost, Process: 3, Parts: members})
		}},
		{name: "multilock/acquires of two at once", locks: map[string]histories.Lock{"0": {Recipe: histories.MultiLock}, "1": {Recipe: histories.MultiLock}}, grow: func(g *grower, n int) {
			members := parts(2)
			for i := range n {
				g.ask(i, histories.Event{Op: histories.Acquire, Parts: members})
				for _, m := range members {
					g.zxid++
					g.add(histories.Event{Type: histories.Enqueued, Process: i, Lock: m.Lock, Token: histories.Token{Zxid: g.zxid}, Session: sessionOf(i)})
				}
			}
			for i := range n {
				typ := histories.OK
				if i%2 == 0 {
					typ = histories.Fail
				}
				g.answer(i, typ, func(e *histories.Event) {
					e.Parts = []histories.Part{{Lock: "0", Token: histories.Token{Zxid: int64(2*i + 1)}}, {Lock: "1", Token: histories.Token{Zxid: int64(2*i + 2)}}}
				})
			}
		}},
		{name: "multilock/acquires of two that fail, while one is open", locks: map[string]histories.Lock{"0": {Recipe: histories.MultiLock}, "1": {Recipe: histories.MultiLock}}, grow: func(g *grower, n int) {
			members := parts(2)
			g.ask(9, histories.Event{Op: histories.Acquire, Parts: members})
			for i := range n {
				p := i % 5
				g.ask(p, histories.Event{Op: histories.Acquire, Parts: members})
				for _, m := range members {
					g.zxid++
					g.add(histories.Event{Type: histories.Enqueued, Process: p, Lock: m.Lock, Token: histories.Token{Zxid: g.zxid}, Session: sessionOf(p)})
				}
				g.answer(p, histories.Fail, nil)
				g.release(p, "0", g.acquire(p, "0"))
			}
		}},
		of("acquires that fail, behind those that are granted", histories.Mutex, func(g *grower, n int) {
			tokens := make([]histories.Token, 2*n)
			for i := range 2 * n {
				g.ask(i, histories.Event{Op: histories.Acquire, Lock: "l"})
				tokens[i] = g.enqueue(i)
			}
			for i := range n {
				g.answer(n+i, histories.Fail, nil)
			}
			for i := range n {
				g.grant(i, tokens[i])
				g.release(i, "l", tokens[i])
			}
		}),
		of("acquires that fail without a place, and grants", histories.Mutex, func(g *grower, n int) {
			for i := range n {
				g.ask(i, histories.Event{Op: histories.Acquire, Lock: "l"})
			}
			for i := range n {
				g.answer(i, histories.Fail, nil)
				g.release(n, "l", g.acquire(n, "l"))
			}
		}),
		of("acquires of one session that fail, and grants in it", histories.Mutex, func(g *grower, n int) {
			for i := range n {
				g.ask(i, histories.Event{Op: histories.Acquire, Lock: "l", Session: sessionOf(0)})
				g.enqueue(i)
				g.answer(i, histories.Fail, nil)
				g.ask(n, histories.Event{Op: histories.Acquire, Lock: "l", Session: sessionOf(0)})
				token := g.enqueue(n)
				g.grant(n, token)
				g.release(n, "l", token)
			}
		}),
		{name: "multilock/pairs of locks", grow: func(g *grower, n int) {
			g.h.Header.Locks = map[string]histories.Lock{}
			for i := range n {
				members := []histories.Part{{Lock: "a" + strconv.Itoa(i)}, {Lock: "b" + strconv.Itoa(i)}}
				for k := range members {
					g.h.Header.Locks[members[k].Lock] = histories.Lock{Recipe: histories.MultiLock}
				}
				g.ask(i, histories.Event{Op: histories.Acquire, Parts: members})
				for _, m := range members {
					g.zxid++
					g.add(histories.Event{Type: histories.Enqueued, Process: i, Lock: m.Lock, Token: histories.Token{Zxid: g.zxid}, Session: sessionOf(i)})
				}
			}
			for i := range n {
				g.answer(i, histories.Fail, nil)
			}
		}},
		of("writers and readers at once", histories.ReadWrite, func(g *grower, n int) {
			for i := range n {
				mode := histories.ModeRead
				if i%10 == 0 {
					mode = histories.ModeWrite
				}
				g.ask(i, histories.Event{Op: histories.Acquire, Lock: "l", Mode: mode})
				g.grant(i, g.enqueue(i))
			}
		}),
		of("readers at once", histories.ReadWrite, func(g *grower, n int) {
			tokens := make([]histories.Token, n)
			for i := range n {
				g.ask(i, histories.Event{Op: histories.Acquire, Lock: "l", Mode: histories.ModeRead})
				tokens[i] = g.enqueue(i)
				g.grant(i, tokens[i])
			}
			for i := range n {
				g.ask(i, histories.Event{Op: histories.Release, Lock: "l", Mode: histories.ModeRead, Token: tokens[i], Depth: 1})
				g.answer(i, histories.OK, nil)
			}
		}),
		of("downgrades", histories.ReadWrite, func(g *grower, n int) {
			for i := range n {
				p := i % 5
				token := g.acquire(p, "l")
				g.ask(p, histories.Event{Op: histories.Acquire, Lock: "l", Mode: histories.ModeRead})
				read := g.enqueue(p)
				g.grant(p, read)
				g.release(p, "l", token)
				g.ask(p, histories.Event{Op: histories.Release, Lock: "l", Mode: histories.ModeRead, Token: read, Depth: 1})
				g.answer(p, histories.OK, nil)
			}
		}),
		of("places granted again and again", histories.Handoff, func(g *grower, n int) {
			for i := range n {
				g.ask(i%5, histories.Event{Op: histories.Acquire, Lock: "l"})
				token := histories.Token{Zxid: int64(i/3 + 1), Sub: int32(i % 3)}
				g.grant(i%5, token)
				g.release(i%5, "l", token)
			}
		}),
		of("observations", histories.Election, func(g *grower, n int) {
			for i := range n {
				g.ask(n+i, histories.Event{Op: histories.Observe, Lock: "l"})
			}
			for i := range n {
				token := g.acquire(i%5, "l")
				g.answer(n+i, histories.OK, func(e *histories.Event) { e.Token = token })
				g.release(i%5, "l", token)
			}
		}),
		{name: "servers that come and go", locks: one(histories.Mutex), grow: func(g *grower, n int) {
			for i := range n {
				token := g.acquire(i%5, "l")
				g.add(histories.Event{Type: histories.ServerSeen, Process: -1, Server: &histories.Server{ID: 1 + i%3, State: histories.Down}})
				g.release(i%5, "l", token)
				g.add(histories.Event{Type: histories.ServerSeen, Process: -1, Server: &histories.Server{ID: 1 + i%3, State: histories.Following}})
			}
		}},
		{name: "servers", locks: one(histories.Mutex), grow: func(g *grower, n int) {
			for _, state := range []histories.ServerState{histories.Following, histories.Down, histories.Following} {
				for i := range n {
					g.add(histories.Event{Type: histories.ServerSeen, Process: -1, Server: &histories.Server{ID: i + 1, State: state}})
				}
			}
		}},
		{name: "quiet times, and late turns", locks: one(histories.Mutex), grow: func(g *grower, n int) {
			for i := range n {
				token := g.acquire(i%5, "l")
				g.ask(9, histories.Event{Op: histories.Acquire, Lock: "l"})
				next := g.enqueue(9)
				g.n += 10
				g.release(i%5, "l", token)
				g.n += 1100
				g.grant(9, next)
				g.release(9, "l", next)
			}
		}},
		{name: "connections of clients", locks: one(histories.Mutex), grow: func(g *grower, n int) {
			for i := range n {
				for _, c := range []string{histories.ConnectionConnected, histories.ConnectionSuspended} {
					g.add(histories.Event{Type: histories.Says, Process: i, Saying: &histories.Saying{Connection: c, Client: i + 1}})
				}
			}
		}},
		{name: "clients that are closed", locks: one(histories.Mutex), grow: func(g *grower, n int) {
			for i := range n {
				g.acquire(i%5, "l")
				g.fault(i, "latency", []int{9}, nil, false)
				g.add(histories.Event{Type: histories.Closing, Process: i % 5})
				g.fault(i, "latency", nil, nil, true)
				g.add(histories.Event{Type: histories.Closed, Process: i % 5})
			}
		}},
		{name: "locks in recovery", grow: func(g *grower, n int) {
			g.h.Header.Locks = map[string]histories.Lock{}
			g.add(histories.Event{Type: histories.PhaseStart, Process: -1, Phase: histories.PhaseChaos})
			g.add(histories.Event{Type: histories.PhaseStart, Process: -1, Phase: histories.PhaseRecovery})
			for i := range n {
				lock := strconv.Itoa(i)
				g.h.Header.Locks[lock] = histories.Lock{Recipe: histories.Mutex}
				g.ask(i%2, histories.Event{Op: histories.TryAcquire, Lock: lock})
				g.answer(i%2, histories.Fail, nil)
			}
			g.n += 60_000
			g.add(histories.Event{Type: histories.PhaseStart, Process: -1, Phase: histories.PhaseEnd})
		}},
	}
	return append(append(all, ofPermits()...), ofBarriers()...)
}
