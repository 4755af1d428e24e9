package explain

import (
	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/queue"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// The functions below return the drawing function of a violation of each guarantee that
// Porcupine has a model of. A drawing has at most n operations. They return nil if Porcupine
// has no model after all.

// Mutex draws the holders of a lock that has one holder at a time.
func Mutex(t *facts.Trace, w verdict.Witness) func(n int) *Scene {
	return func(n int) *Scene { return mutexScene(t, w, n) }
}

// ReadWrite draws the holders of a read/write lock.
func ReadWrite(t *facts.Trace, w verdict.Witness) func(n int) *Scene {
	return func(n int) *Scene { return readWriteScene(t, w, n) }
}

// Permits draws the holders of permits, and the changes of their number.
func Permits(t *facts.Trace, w verdict.Witness) func(n int) *Scene {
	return func(n int) *Scene { return permitsScene(t, w, n) }
}

// Queue draws a queue, if its places have tokens.
func Queue(t *facts.Trace, w verdict.Witness) func(n int) *Scene {
	if !t.Recipe(w.Lock).Exclusive() || len(queue.QueueOf(t, w.Lock)) == 0 {
		return nil
	}
	return func(n int) *Scene { return queueScene(t, w, n) }
}

// Barrier draws a barrier that is set and removed.
func Barrier(t *facts.Trace, w verdict.Witness) func(n int) *Scene {
	if t.Recipe(w.Lock) != histories.Barrier {
		return nil
	}
	return func(n int) *Scene { return barrierScene(t, w, n) }
}
