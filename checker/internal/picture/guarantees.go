package picture

import (
	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/queue"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// How Porcupine draws a violation of each guarantee that it has a model of: with at
// most so many operations. Nil is returned for what it has no model of after all.

func Mutex(t *facts.Trace, w verdict.Witness) func(n int) *Scene {
	return func(n int) *Scene { return mutexScene(t, w, n) }
}

func ReadWrite(t *facts.Trace, w verdict.Witness) func(n int) *Scene {
	return func(n int) *Scene { return readWriteScene(t, w, n) }
}

func Permits(t *facts.Trace, w verdict.Witness) func(n int) *Scene {
	return func(n int) *Scene { return permitsScene(t, w, n) }
}

func Queue(t *facts.Trace, w verdict.Witness) func(n int) *Scene {
	if !t.Recipe(w.Lock).Exclusive() || len(queue.QueueOf(t, w.Lock)) == 0 {
		return nil
	}
	return func(n int) *Scene { return queueScene(t, w, n) }
}

func Barrier(t *facts.Trace, w verdict.Witness) func(n int) *Scene {
	if t.Recipe(w.Lock) != histories.Barrier {
		return nil
	}
	return func(n int) *Scene { return barrierScene(t, w, n) }
}
