package inprocess

import (
	"encoding/binary"
	"maps"
	"testing"
	"testing/synctest"
	"time"
)

// frame returns a frame of a request, or of an answer: its length, its number and the rest.
func frame(xid int32, rest ...byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(4+len(rest)))
	return append(binary.BigEndian.AppendUint32(b, uint32(xid)), rest...)
}

func TestWhatAClientAsksAgainIsCounted(t *testing.T) {
	list, exists := []byte{0, 0, 0, 12, '/', 'a'}, []byte{0, 0, 0, 3, '/', 'a'}
	same := func(int) []byte { return list }
	for name, c := range map[string]struct {
		asks    func(i int) []byte
		answers func(i int) byte
		called  func(i int) bool
		want    int
	}{
		"the same request with the same answer":      {asks: same, want: 100 - 2*freeEach},
		"an answer that changes":                     {asks: same, answers: func(i int) byte { return byte(i) }},
		"requests of which each is made a few times": {asks: func(i int) []byte { return append([]byte{0, 0, 0, 12}, byte(i/10)) }},
		"two requests by turns":                      {asks: func(i int) []byte { return [][]byte{list, exists}[i%2] }, want: 100 - 4*freeEach},
		"an application that calls in between":       {asks: same, called: func(i int) bool { return i%10 == 0 }},
		"an application that called once":            {asks: same, called: func(i int) bool { return i == 50 }, want: 100 - 4*freeEach},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := NewWire(nil, nil, 2*time.Second, 2)
				conn := &wireConn{wire: w, opened: true, done: true, asked: map[int32]uint64{}}
				conn.replies.body.SetSeed(w.repeats.seed)
				for i := range 100 {
					if c.called != nil && c.called(i) {
						w.Called()
					}
					maps.Copy(conn.asked, w.repeats.requests(frame(int32(i+1), c.asks(i)...)))
					answer := byte(7)
					if c.answers != nil {
						answer = c.answers(i)
					}
					// The transaction that a server knows differs from answer to answer.
					conn.sniff(frame(int32(i+1), 0, 0, 0, 0, 0, 0, 0, byte(i), 0, 0, 0, 0, answer))
					time.Sleep(time.Millisecond)
				}
				if got := w.Connects().Repeats; got != c.want {
					t.Errorf("%d, want %d", got, c.want)
				}
			})
		})
	}
}

func TestRequestsOfTheLibraryAndPartsOfRequestsAreLeftOut(t *testing.T) {
	r := newRepeats(time.Second, 1)
	ping, one, two := frame(-2, 0, 0, 0, 11), frame(5, 0, 0, 0, 3, 'x'), frame(6, 0, 0, 0, 3, 'x')
	all := r.requests(append(append(append(ping, one...), two...), one[:9]...))
	if len(all) != 2 || all[5] != all[6] {
		t.Errorf("%v", all)
	}
}
