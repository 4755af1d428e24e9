package shrink

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"github.com/zkverify/zkverify/checker/verdict"
)

// name names a violation. A history may have very many.
type name [sha256.Size]byte

// nameOf names the violation that w tells of, the same way in a history and in any
// part of it: by its words and times, and by its parties' events. Those of a part
// are at these indices of the whole history; nil means that w is of the whole one.
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
