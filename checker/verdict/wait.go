package verdict

import (
	"fmt"
	"strings"
	"time"

	"github.com/zkverify/zkverify/internal/words"
)

// Wait is a lock that processes wait for, and never got, with the process in their way.
type Wait struct {
	Lock    string   `json:"lock"`
	Waiters []Waiter `json:"waiters"` // in the order in which they began to wait
	// Blocked says who is in the way, and why that does not end, in words that follow the name
	// of the lock.
	Blocked string `json:"blocked"`
}

// Waiter is a process that waits for a lock.
type Waiter struct {
	Process int           `json:"process"`
	Name    string        `json:"name,omitempty"` // as of a Party
	Since   time.Duration `json:"since"`          // on the run's clock
	Invoke  int           `json:"invoke"`         // index of the invocation of its last attempt
}

func (w Waiter) who() string { return nameOf(w.Name, w.Process) }

// String describes the wait as a sentence without its period.
func (w Wait) String() string {
	if len(w.Waiters) == 1 {
		return fmt.Sprintf("%s waits for %s since %s; %s", w.Waiters[0].who(), w.Lock, At(w.Waiters[0].Since), w.Blocked)
	}
	return fmt.Sprintf("%s wait for %s, the first of them, %s, since %s; %s",
		words.Count(len(w.Waiters), "client"), w.Lock, w.Waiters[0].who(), At(w.Waiters[0].Since), w.Blocked)
}

// mostWaits bounds the locks of a wait-for graph that a sentence names.
const mostWaits = 3

// Blocked describes the locks of a wait-for graph in one line.
func Blocked(waits []Wait) string {
	if len(waits) == 0 {
		return ""
	}
	clients := map[int]bool{}
	var locks, why []string
	for i, w := range waits {
		for _, x := range w.Waiters {
			clients[x.Process] = true
		}
		if i < mostWaits {
			locks, why = append(locks, w.Lock), append(why, w.Blocked)
		}
	}
	if more := len(waits) - mostWaits; more > 0 {
		locks = append(locks, words.Count(more, "other lock"))
	}
	verb := "wait"
	if len(clients) == 1 {
		verb = "waits"
	}
	names := locks[0]
	if last := len(locks) - 1; last > 0 {
		names = strings.Join(locks[:last], ", ") + " and " + locks[last]
	}
	return fmt.Sprintf("%s %s for %s; %s", words.Count(len(clients), "client"), verb, names, strings.Join(why, "; "))
}

// mostWaiters bounds the waiters for one lock that a story tells of.
const mostWaiters = 4

// Told returns the first waiters, those that a story tells of.
func (w Wait) Told() []Waiter { return w.Waiters[:min(len(w.Waiters), mostWaiters)] }
