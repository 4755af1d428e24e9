package main

import (
	"math/rand/v2"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/collection"
)

// agenda plays what clients do, each thing at its time.
type agenda struct {
	r       *rand.Rand
	yield   func(*histories.Event) bool
	stopped bool
	due     collection.Heap[moment]
	now     time.Duration
	steps   int
}

func newAgenda(yield func(*histories.Event) bool) agenda {
	return agenda{r: rand.New(rand.NewPCG(seed, seed)), yield: yield}
}

type moment struct {
	at time.Duration
	n  int // orders the moments of one instant
	do func()
}

// Before orders moments by time.
func (m moment) Before(o moment) bool { return m.at < o.at || m.at == o.at && m.n < o.n }

func (a *agenda) after(wait time.Duration, do func()) {
	a.steps++
	a.due.Push(moment{a.now + wait, a.steps, do})
}

// play carries out the steps that are due until none is left.
func (a *agenda) play() {
	for len(a.due) > 0 && !a.stopped {
		next := a.due.Pop()
		a.now = next.at
		next.do()
	}
}

// soon returns the time that a request to a server takes.
func (a *agenda) soon() time.Duration { return time.Duration(50+a.r.IntN(400)) * time.Microsecond }

func (a *agenda) emit(e *histories.Event) { a.stopped = a.stopped || !a.yield(e) }
