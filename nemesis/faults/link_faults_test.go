package faults

import (
	"bytes"
	"testing"
	"time"

	"github.com/zkverify/zkverify/nemesis/fault"
)

func (s servers) testCut(t *testing.T, name string) {
	r := s.client(t, 1)
	if !r.answers(time.Second) {
		t.Fatal("no answer before the fault")
	}
	r.begin(t, name)
	if r.answers(300 * time.Millisecond) {
		t.Error("the server still answers")
	}
}

func (s servers) testRepliesLost(t *testing.T) {
	r := s.client(t, 1)
	r.begin(t, "replies-lost")
	go r.conn.Delete(r.node, -1) //nolint:errcheck // its outcome is unknown, that is the point
	r.gone(t, time.Second)
}

func (s servers) testLatency(t *testing.T) {
	r := s.client(t, 1)
	f, _ := r.begin(t, "latency")
	latency, err := time.ParseDuration(f.Params["latency"])
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if !r.answers(2*time.Second) || time.Since(start) < latency {
		t.Errorf("answered in %v; want later than %v", time.Since(start), latency)
	}
}

func (s servers) testTruncatedReply(t *testing.T) {
	r := s.client(t, 1)
	// The reply to a ping or to a deletion has 16 bytes, without its length.
	r.begin(t, "truncated-reply", fault.Pick{Params: map[string]string{"bytes": "10"}})
	if err := r.conn.Delete(r.node, -1); err == nil {
		t.Error("a reply of which only half has arrived was taken for one")
	}
	r.gone(t, time.Second) // less than its session lasts; another server learns of it later
}

func (s servers) testBandwidth(t *testing.T) {
	r := s.client(t, 1)
	if _, err := r.conn.Set(r.node, make([]byte, 1000), -1); err != nil {
		t.Fatal(err)
	}
	r.begin(t, "bandwidth", fault.Pick{Params: map[string]string{"bytes-per-second": "2000"}})
	start := time.Now()
	if _, _, err := r.conn.Get(r.node); err != nil || time.Since(start) < 400*time.Millisecond {
		t.Errorf("1000 bytes at 2000 a second came in %v, error %v", time.Since(start), err)
	}
}

func (s servers) testSlicer(t *testing.T) {
	r := s.client(t, 1)
	data := bytes.Repeat([]byte("0123456789"), 40)
	if _, err := r.conn.Set(r.node, data, -1); err != nil {
		t.Fatal(err)
	}
	r.begin(t, "slicer", fault.Pick{Params: map[string]string{"size": "8", "pause": "2ms"}})
	start := time.Now()
	got, _, err := r.conn.Get(r.node)
	// Pieces of at most 12 bytes, with 2 ms after each.
	if err != nil || !bytes.Equal(got, data) || time.Since(start) < 60*time.Millisecond {
		t.Errorf("%d of %d bytes came in %v, error %v", len(got), len(data), time.Since(start), err)
	}
}

func (s servers) testStall(t *testing.T) {
	for _, held := range []string{heldRequests, heldReplies, heldBoth} {
		t.Run(held, func(t *testing.T) {
			r := s.client(t, 1)
			f, _ := r.begin(t, "stall", fault.Pick{Params: map[string]string{"held": held}})
			done := make(chan error, 1)
			go func() { done <- r.conn.Delete(r.node, -1) }() // ends with the connection at the latest
			if held == heldReplies {
				r.gone(t, time.Second)
			}
			select {
			case err := <-done:
				t.Errorf("a request is answered meanwhile: %v", err)
			case <-time.After(200 * time.Millisecond):
			}
			if there, _, err := r.direct.Exists(r.node); err != nil || there != (held != heldReplies) {
				t.Errorf("its node is there: %v, %v", there, err)
			}
			if err := f.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil {
				t.Errorf("what was held back is lost: %v", err)
			}
		})
	}
}
