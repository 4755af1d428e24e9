package links

import (
	"math/rand/v2"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// slicer is Toxiproxy's toxic of that name but for its end. Toxiproxy's own hands
// on each piece without a look at whether anybody takes it, so that for each sliced
// connection that is closed from the other side a goroutine stays for ever.
type slicer struct {
	AverageSize   int `json:"average_size"`   // bytes
	SizeVariation int `json:"size_variation"` // bytes more or less
	Delay         int `json:"delay"`          // µs after each piece
}

// slicerType is its name in Toxiproxy's registry.
const slicerType = "zkverify-slicer"

func init() { toxics.Register(slicerType, new(slicer)) }

// nobodyReads is how long a piece is offered: longer than any fault keeps a server
// from reading.
const nobodyReads = time.Minute

// Pipe is called by Toxiproxy, in a goroutine of each connection's link, which ends
// with the connection.
func (s *slicer) Pipe(stub *toxics.ToxicStub) {
	for {
		select {
		case <-stub.Interrupt:
			return
		case c := <-stub.Input:
			if c == nil {
				stub.Close()
				return
			}
			interrupted, taken := s.slice(stub, c)
			if !taken {
				stub.Close()
				for range stub.Input { // what still comes is for nobody
				}
				return
			}
			if interrupted {
				return
			}
		}
	}
}

// slice hands on the pieces of a chunk. An interrupt has it hand on the rest in one.
func (s *slicer) slice(stub *toxics.ToxicStub, c *stream.StreamChunk) (interrupted, taken bool) {
	for data := c.Data; len(data) > 0; {
		n := len(data)
		if !interrupted {
			n = min(n, s.size())
		}
		if stub.WriteOutput(&stream.StreamChunk{Data: data[:n], Timestamp: c.Timestamp}, nobodyReads) != nil {
			return interrupted, false
		}
		data = data[n:]
		select {
		case <-stub.Interrupt:
			interrupted = true
		case <-time.After(time.Duration(s.Delay) * time.Microsecond):
		}
	}
	return interrupted, true
}

// size draws that of the next piece.
func (s *slicer) size() int {
	return max(1, s.AverageSize-s.SizeVariation+rand.IntN(2*s.SizeVariation+1))
}
