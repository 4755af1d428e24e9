package inprocess

import (
	"encoding/binary"
	"hash/maphash"
	"sync"
	"time"
)

// repeats counts the requests of a client that ask again and again what it has been told: earlier
// requests with the same content have had the same answer, more than a few of each member of the
// application, and meanwhile the application has called nothing and was told nothing. A client that
// waits by watches makes hardly any of them; one that looks again without a pause makes one in each
// round trip.
type repeats struct {
	seed maphash.Seed
	free int // requests with the same answer that are not counted: each call under way may make some

	mu    sync.Mutex
	told  map[uint64]said // by request, as a hash
	tally attempts
}

// said is the last answer to a request, as a hash, and how often in a row it came.
type said struct {
	answer uint64
	times  int
}

// freeEach is the number of requests with the same answer that each member may make.
const freeEach = 10

func newRepeats(window time.Duration, members int) *repeats {
	return &repeats{seed: maphash.MakeSeed(), free: freeEach * members, told: make(map[uint64]said), tally: attempts{window: window}}
}

// mostTold bounds the requests that are remembered: a client that waits makes few different ones.
const mostTold = 1000

// answered notes the answer to a request.
func (r *repeats) answered(request, answer uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.told[request]
	if last.answer != answer {
		last = said{answer: answer}
	}
	if last.times++; last.times > r.free {
		r.tally.note(time.Now())
	}
	if len(r.told) >= mostTold {
		clear(r.told)
	}
	r.told[request] = last
}

// forget allows the client to ask everything once more.
func (r *repeats) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.told)
}

// headSize is the size of the head of a request: a length, a number and an operation.
const headSize = 12

// requests returns the requests in what a client writes, by their numbers: a hash of each from the
// operation on. Requests that the client library sends by itself have negative numbers, and are left out.
func (r *repeats) requests(p []byte) (all map[int32]uint64) {
	for len(p) >= headSize {
		length := 4 + int(binary.BigEndian.Uint32(p))
		if length < headSize || length > len(p) {
			break // a part of a request: it is not counted
		}
		if xid := int32(binary.BigEndian.Uint32(p[4:])); xid > 0 {
			if all == nil {
				all = make(map[int32]uint64)
			}
			all[xid] = maphash.Bytes(r.seed, p[8:length])
		}
		p = p[length:]
	}
	return all
}
