package servers

import (
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/journal"
	"github.com/zkverify/zkverify/workload/lock"
)

func TestASessionHasExpired(t *testing.T) {
	const session, born = 0x77, 100
	for name, c := range map[string]struct {
		list   []string
		age    int64
		closed bool
		want   bool
	}{
		"when a list younger than its node lacks it":   {nil, born, false, true},
		"not when the list has it":                     {[]string{lock.SessionName(session)}, born + 9, false, false},
		"not when the list is older than its node":     {nil, born - 1, false, false},
		"not when its client has closed it by its own": {nil, born + 9, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			rec := &memory{}
			var told []int64
			o := &Observer{
				Journal: &journal.Journal{Recorder: rec}, Expired: func(s int64) { told = append(told, s) },
				present: map[int64]int64{session: born}, closed: map[int64]bool{session: c.closed},
			}
			o.compare(c.list, c.age)
			o.compare(c.list, c.age)
			if got := len(rec.events) == 1 && len(told) == 1; got != c.want {
				t.Errorf("recorded %v, told %v; want it once: %v", rec.events, told, c.want)
			}
		})
	}
}

// memory is a recorder that keeps events in memory.
type memory struct{ events []histories.Event }

func (m *memory) Record(e histories.Event) (histories.Event, error) {
	m.events = append(m.events, e)
	return e, nil
}
func (m *memory) Elapsed() time.Duration  { return 0 }
func (m *memory) Failed() <-chan struct{} { return nil }
func (m *memory) Err() error              { return nil }
