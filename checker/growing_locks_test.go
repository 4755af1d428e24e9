package checker

import (
	"strconv"

	"github.com/zkverify/zkverify/histories"
)

// comeAndGo adds users of one lock.
func comeAndGo(r histories.Recipe, add func(string, func(g *grower, n int))) {
	add("acquires and releases", func(g *grower, n int) {
		for i := range n {
			g.release(i%5, "l", g.acquire(i%5, "l"))
		}
	})
	add("processes that crash", func(g *grower, n int) {
		for i := range n {
			g.acquire(i, "l")
			g.add(histories.Event{Type: histories.Crash, Process: i})
		}
	})
	add("processes that retire while they wait", func(g *grower, n int) {
		for i := range n {
			g.ask(i, histories.Event{Op: histories.Acquire, Lock: "l"})
			g.enqueue(i)
			g.answer(i, histories.Info, nil)
		}
	})
	add("processes at once", func(g *grower, n int) {
		for i := range n {
			g.ask(i, histories.Event{Op: histories.Acquire, Lock: "l"})
		}
		for i := range n {
			g.grant(i, g.newToken())
		}
	})
}

// wait adds waiters for one lock.
func wait(r histories.Recipe, add func(string, func(g *grower, n int))) {
	add("waiters, served in turn", func(g *grower, n int) {
		tokens := make([]histories.Token, n)
		for i := range n {
			g.ask(i, histories.Event{Op: histories.Acquire, Lock: "l"})
			tokens[i] = g.enqueue(i)
		}
		for i := range n {
			g.grant(i, tokens[i])
			g.release(i, "l", tokens[i])
		}
	})
	add("waiters that give up", func(g *grower, n int) {
		g.acquire(n, "l")
		for i := range n {
			g.ask(i, histories.Event{Op: histories.Acquire, Lock: "l"})
			g.enqueue(i)
		}
		for i := range n {
			g.answer(i, histories.Fail, nil)
		}
	})
	add("waiters that are never answered", func(g *grower, n int) {
		g.acquire(n, "l")
		for i := range n {
			g.ask(i, histories.Event{Op: histories.Acquire, Lock: "l"})
			g.enqueue(i)
		}
	})
}

// comeMeanwhile adds processes that come while another waits, or holds.
func comeMeanwhile(r histories.Recipe, add func(string, func(g *grower, n int))) {
	add("one waits, and others come and go", func(g *grower, n int) {
		g.ask(7, histories.Event{Op: histories.Acquire, Lock: "l"})
		g.enqueue(7)
		for i := range n {
			g.release(i%5, "l", g.acquire(i%5, "l"))
		}
	})
	add("one asks, and others are refused", func(g *grower, n int) {
		g.ask(7, histories.Event{Op: histories.Acquire, Lock: "l"})
		for i := range n {
			g.ask(i%5, histories.Event{Op: histories.TryAcquire, Lock: "l"})
			g.answer(i%5, histories.Fail, func(e *histories.Event) { e.Refused = true })
		}
	})
	add("one holds, and others are refused", func(g *grower, n int) {
		g.acquire(7, "l")
		for i := range n {
			g.ask(i%5, histories.Event{Op: histories.TryAcquire, Lock: "l"})
			g.answer(i%5, histories.Fail, func(e *histories.Event) { e.Refused = true })
		}
	})
	add("places of one waiter", func(g *grower, n int) {
		g.ask(7, histories.Event{Op: histories.Acquire, Lock: "l"})
		for range n {
			g.enqueue(7)
		}
	})
}

// holdMuch adds many holds of one process, or of one owner.
func holdMuch(r histories.Recipe, add func(string, func(g *grower, n int))) {
	add("owners of one process", func(g *grower, n int) {
		mode := readMode(r)
		tokens := make([]histories.Token, n)
		for i := range n {
			g.ask(7, histories.Event{Op: histories.Acquire, Lock: "l", Owner: strconv.Itoa(i), Mode: mode})
			tokens[i] = g.enqueue(7)
			g.grant(7, tokens[i])
		}
		for i := range n {
			i := n - 1 - i
			g.ask(7, histories.Event{Op: histories.Release, Lock: "l", Owner: strconv.Itoa(i), Mode: mode, Token: tokens[i], Depth: 1})
			g.answer(7, histories.OK, nil)
		}
	})
	add("leases that are lost", func(g *grower, n int) {
		mode := readMode(r)
		tokens := make([]histories.Token, n)
		for i := range n {
			g.ask(7, histories.Event{Op: histories.Acquire, Lock: "l", Owner: strconv.Itoa(i), Mode: mode})
			tokens[i] = g.enqueue(7)
			g.grant(7, tokens[i])
		}
		for i := range n {
			g.add(histories.Event{Type: histories.Lost, Process: 7, Lock: "l", Owner: strconv.Itoa(n - 1 - i), Mode: mode, Token: tokens[n-1-i], Session: sessionOf(7)})
		}
	})
	add("losses, one after the other", func(g *grower, n int) {
		for i := range n {
			token := g.acquire(i%5, "l")
			mode := writeMode(r)
			g.add(histories.Event{Type: histories.Lost, Process: i % 5, Lock: "l", Mode: mode, Token: token, Session: sessionOf(i % 5)})
		}
	})
	add("processes of one owner", func(g *grower, n int) {
		for i := range n {
			g.ask(i, histories.Event{Op: histories.Acquire, Lock: "l", Owner: "o"})
		}
		for i := range n {
			g.grant(i, g.newToken())
		}
	})
	add("re-entries", func(g *grower, n int) {
		token := g.newToken()
		for i := range n {
			g.ask(7, histories.Event{Op: histories.Acquire, Lock: "l"})
			g.answer(7, histories.OK, func(e *histories.Event) { e.Token, e.Depth = token, i+1 })
		}
		for i := range n {
			g.ask(7, histories.Event{Op: histories.Release, Lock: "l", Token: token, Depth: n - i})
			g.answer(7, histories.OK, nil)
		}
	})
}
