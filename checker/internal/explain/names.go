package explain

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"github.com/zkverify/zkverify/checker/verdict"
)

// name identifies a violation. It has a fixed size, since a history may have very many.
type name [sha256.Size]byte

// nameOf returns the name of w's violation, the same one in a history and in any part of it. It
// is made of the words and times of w and of its parties' events. The events of a part have
// these indices in the whole history; nil means that w belongs to the whole history.
func nameOf(w *verdict.Witness, events []int) name {
	index := func(i int) int {
		if i < 0 || i >= len(events) {
			return i
		}
		return events[i]
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%q %d %d %t %s", w.Lock, w.From, w.To, w.Open, w.What)
	for _, p := range w.Parties {
		fmt.Fprintf(&b, "; %d %q %q %v %d %d %t %d %d", p.Process, p.Owner, p.Session, p.Token, p.From, p.To, p.Open, index(p.Event), index(p.Invoke))
	}
	return sha256.Sum256(b.Bytes())
}
