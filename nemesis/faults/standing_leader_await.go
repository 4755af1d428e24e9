package faults

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/internal/wait"
)

const (
	deafGlance = 200 * time.Microsecond // between two looks at the holder's answers
	// nothingUnderWay is the time for which a holder must be quiet after an answer: then it
	// waits for no other answer, and messages that the leader holds back delay none of its
	// next requests.
	nothingUnderWay = 20 * time.Millisecond
)

// events returns a count of the holder's requests, or of the answers to them, from now on. The
// count stays 0 if they are not known.
func (d *deaf) events(of string) func() int {
	w, ok := d.World.(Listener)
	if !ok {
		return func() int { return 0 }
	}
	if of == onAnswer {
		before := w.Answers(d.holder.Index)
		return func() int { return w.Answers(d.holder.Index) - before }
	}
	before := w.Sent(d.holder.Index)
	return func() int {
		if w.Sent(d.holder.Index).Equal(before) {
			return 0
		}
		return 1
	}
}

// quiet returns a count of the times at which the holder was quiet after an answer.
func (d *deaf) quiet() func() int {
	w, ok := d.World.(Listener)
	if !ok {
		return func() int { return 0 }
	}
	counted := w.Answers(d.holder.Index)
	answers, sent, since, times := counted, w.Sent(d.holder.Index), time.Now(), 0
	return func() int {
		if a, s := w.Answers(d.holder.Index), w.Sent(d.holder.Index); a != answers || !s.Equal(sent) {
			answers, sent, since = a, s, time.Now()
		}
		if answers != counted && time.Since(since) >= nothingUnderWay {
			counted = answers
			times++
		}
		return times
	}
}

// await waits until a count has reached n, or patience has passed.
func (d *deaf) await(ctx context.Context, count func() int, n int, patience time.Duration) {
	for end := time.Now().Add(patience); count() < n && time.Now().Before(end); {
		if !wait.For(ctx, deafGlance) {
			return
		}
	}
}
