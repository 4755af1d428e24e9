package queue

import (
	"errors"
	"testing"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// The write lock is being released when its owner asks to go on as a reader: others may
// have been admitted.
func TestAWriterThatIsBeingReleasedIsNotDowngraded(t *testing.T) {
	s := &session.Session{}
	q := localQueueOf(s, "/rw", ReadWrites)
	const guid = "00000000-0000-0000-0000-000000000001"
	writer := &Contender{S: s, q: q, guid: guid, Node: session.ProtectedName(guid, Write) + "0000000007", rule: Exclusive, woken: make(chan struct{}, 1)}
	q.join(writer)
	grant := writer.Grant()
	writer.leaving()
	reader := &Contender{S: s, q: localQueueOf(s, "/rw", ReadWrites), guid: "00000000-0000-0000-0000-000000000002", woken: make(chan struct{}, 1)}
	if err := reader.Downgrade(t.Context(), grant); !errors.Is(err, ErrNotHeld) {
		t.Errorf("got %v", err)
	}
	if q.users != 1 {
		t.Errorf("the queue has %d users, want only the writer", q.users)
	}
}
