package checker

import "github.com/zkverify/zkverify/histories"

// How Porcupine draws a violation of each guarantee that it has a model of: with at
// most so many operations. Nil is returned for what it has no model of after all.

func drawMutex(t *trace, w Witness) func(n int) *scene {
	return func(n int) *scene { return mutexScene(t, w, n) }
}

func drawReadWrite(t *trace, w Witness) func(n int) *scene {
	return func(n int) *scene { return readWriteScene(t, w, n) }
}

func drawPermits(t *trace, w Witness) func(n int) *scene {
	return func(n int) *scene { return permitsScene(t, w, n) }
}

func drawQueue(t *trace, w Witness) func(n int) *scene {
	if !t.recipe(w.Lock).Exclusive() || len(t.queueOf(w.Lock)) == 0 {
		return nil
	}
	return func(n int) *scene { return queueScene(t, w, n) }
}

func drawBarrier(t *trace, w Witness) func(n int) *scene {
	if t.recipe(w.Lock) != histories.Barrier {
		return nil
	}
	return func(n int) *scene { return barrierScene(t, w, n) }
}
