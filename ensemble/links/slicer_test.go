package links

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

func TestASlicerEndsWhenNobodyReadsAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, out := make(chan *stream.StreamChunk), make(chan *stream.StreamChunk)
		stub := toxics.NewToxicStub(in, out)
		done := make(chan struct{})
		go func() {
			defer close(done)
			(&slicer{AverageSize: 4}).Pipe(stub)
		}()
		in <- &stream.StreamChunk{Data: make([]byte, 100)}
		<-out // and then the other side goes away
		start := time.Now()
		synctest.Wait()
		time.Sleep(nobodyReads + time.Second)
		synctest.Wait()
		if !stub.Closed() {
			t.Fatalf("it still offers a piece after %v", time.Since(start))
		}
		in <- &stream.StreamChunk{Data: []byte("more")} // whoever is before it is not kept
		close(in)
		<-done
	})
}

func TestASlicerThatIsTakenAwayHandsOnTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, out := make(chan *stream.StreamChunk), make(chan *stream.StreamChunk, 100)
		stub := toxics.NewToxicStub(in, out)
		done := make(chan struct{})
		go func() {
			defer close(done)
			(&slicer{AverageSize: 8, SizeVariation: 4, Delay: 1000}).Pipe(stub)
		}()
		want := bytes.Repeat([]byte("0123456789"), 10)
		in <- &stream.StreamChunk{Data: want}
		time.Sleep(3500 * time.Microsecond)
		stub.Interrupt <- struct{}{}
		<-done
		close(out)
		var got []byte
		var sizes []int
		for c := range out {
			got, sizes = append(got, c.Data...), append(sizes, len(c.Data))
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%q", got)
		}
		if len(sizes) != 5 {
			t.Fatalf("pieces of %v", sizes)
		}
		for _, n := range sizes[:4] {
			if n < 4 || n > 12 {
				t.Errorf("a piece of %d", n)
			}
		}
	})
}
