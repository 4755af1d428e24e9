package service

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/tree"
)

// The server is woken for the first of the silent connections, also after others have
// sent data or were closed.
func TestASilentConnectionIsClosedAtItsTime(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := New(Settings{})
		s.Begin(tree.New(), nil)
		var made ConnID
		for step := range 60 {
			var some *Connection
			for _, c := range s.clients.conns {
				some = c
			}
			switch choice := r.IntN(6); {
			case choice == 0 || some == nil:
				made++
				s.clients.accept(Accepted{Conn: made})
			case choice == 1:
				s.clients.gone(some.id)
			case choice == 2:
				s.now += time.Duration(r.IntN(int(30 * time.Second)))
				s.clients.wake()
			default:
				some.heard(time.Duration(r.IntN(int(40 * time.Second))))
			}
			first := never
			for _, c := range s.clients.conns {
				first = min(first, c.expires)
			}
			if due := s.clients.due(); due != first {
				t.Fatalf("seed %d, step %d: woken at %v, and the first of %d connections is closed at %v", seed, step, due, len(s.clients.conns), first)
			}
		}
	}
}
