package states

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/histories"
)

// event reads "p1 invoke acquire m 2 t7": a process and a type, then, if given, an operation,
// the lock or several locks as "m+n", the depth, and a token.
func event(t *testing.T, line string) *histories.Event {
	t.Helper()
	words := strings.Fields(line)
	e := &histories.Event{Type: histories.Type(words[1])}
	if _, err := fmt.Sscanf(words[0], "p%d", &e.Process); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	words = words[2:]
	switch e.Type {
	case histories.Invoke, histories.OK, histories.Fail, histories.Info:
		e.Op, words = histories.Op(words[0]), words[1:]
	}
	for i, word := range words {
		switch {
		case i == 0 && strings.Contains(word, "+"):
			for _, lock := range strings.Split(word, "+") {
				e.Parts = append(e.Parts, histories.Part{Lock: lock})
			}
		case i == 0:
			e.Lock = word
		case strings.HasPrefix(word, "t"):
			_, _ = fmt.Sscanf(word, "t%d", &e.Token.Zxid)
		case word == "read" || word == "write":
			e.Mode = histories.Mode(word)
		default:
			_, _ = fmt.Sscanf(word, "%d", &e.Depth)
		}
	}
	return e
}

// says describes the states of a process.
func says(t *Tracker, process int) string {
	var all []string
	for _, d := range t.Doing(process) {
		all = append(all, fmt.Sprintf("%s %s", d.State, d.Recipe))
	}
	if all == nil {
		return "nothing"
	}
	return strings.Join(all, ", ")
}

var recipes = map[string]histories.Lock{
	"m": {Recipe: histories.Mutex}, "n": {Recipe: histories.MultiLock}, "o": {Recipe: histories.MultiLock}, "s": {Recipe: histories.Semaphore, Size: 2},
	"r": {Recipe: histories.ReadWrite}, "b": {Recipe: histories.Barrier}, "d": {Recipe: histories.DoubleBarrier, Size: 2},
}

func TestEventsTellWhatAProcessDoes(t *testing.T) {
	for name, script := range map[string]string{
		"a lock is acquired and released": `
			p1 invoke acquire m    : enqueuing mutex
			p1 enqueued m          : waiting mutex
			p1 ok acquire m        : holding mutex
			p1 invoke write m      : holding mutex
			p1 invoke release m 1  : releasing mutex
			p1 ok release m 1      : nothing`,
		"a try is refused": `
			p1 invoke try-acquire m : enqueuing mutex
			p1 fail try-acquire m   : nothing`,
		"a re-entry holds on until the outermost release": `
			p1 invoke acquire m    : enqueuing mutex
			p1 ok acquire m 1      : holding mutex
			p1 invoke acquire m    : holding mutex
			p1 ok acquire m 2      : holding mutex
			p1 invoke release m 2  : holding mutex
			p1 ok release m 2      : holding mutex
			p1 invoke release m 1  : releasing mutex`,
		"a loss is told, and what was lost is given back": `
			p1 invoke acquire m    : enqueuing mutex
			p1 ok acquire m        : holding mutex
			p1 lost m              : nothing
			p1 invoke release m 1  : releasing mutex
			p1 fail release m 1    : nothing`,
		"a loss takes all levels": `
			p1 invoke acquire m    : enqueuing mutex
			p1 ok acquire m 1      : holding mutex
			p1 invoke acquire m    : holding mutex
			p1 ok acquire m 2      : holding mutex
			p1 lost m              : nothing
			p1 invoke release m    : releasing mutex`,
		"a loss is told while the lock is acquired again": `
			p1 invoke acquire m    : enqueuing mutex
			p1 ok acquire m        : holding mutex
			p1 invoke acquire m    : holding mutex
			p1 lost m              : nothing
			p1 ok acquire m 2      : nothing`,
		"the loss of another lease is none of this": `
			p1 invoke acquire m    : enqueuing mutex
			p1 ok acquire m 1 t7   : holding mutex
			p1 lost m 0 t5         : holding mutex
			p1 lost m 0 t7         : nothing`,
		"a writer downgrades": `
			p1 invoke acquire r write   : enqueuing readwrite
			p1 ok acquire r write       : holding readwrite
			p1 invoke acquire r read    : holding readwrite, enqueuing readwrite
			p1 ok acquire r read        : holding readwrite, holding readwrite
			p1 invoke release r write 1 : holding readwrite, releasing readwrite`,
		"several locks are one lease": `
			p1 invoke acquire n+o    : enqueuing multilock
			p1 enqueued o            : waiting multilock
			p1 ok acquire n+o        : holding multilock
			p1 invoke release n+o 1  : releasing multilock`,
		"each acquire of a semaphore has permits of its own": `
			p1 invoke acquire s       : enqueuing semaphore
			p1 ok acquire s 1 t3      : holding semaphore
			p1 invoke acquire s       : holding semaphore, enqueuing semaphore
			p1 ok acquire s 1 t4      : holding semaphore, holding semaphore
			p1 invoke release s 1 t3  : holding semaphore, releasing semaphore`,
		"a barrier is waited at, a double barrier is held from inside": `
			p1 invoke wait b   : waiting barrier
			p1 ok wait b       : nothing
			p1 invoke enter d  : waiting doublebarrier
			p1 ok enter d      : holding doublebarrier
			p1 invoke leave d  : releasing doublebarrier
			p1 fail leave d    : nothing`,
		"a client that closes gives back what it holds": `
			p1 invoke acquire m : enqueuing mutex
			p1 ok acquire m     : holding mutex
			p1 closing          : nothing
			p1 closed           : nothing`,
		"a crash ends what the process holds": `
			p1 invoke acquire m : enqueuing mutex
			p1 ok acquire m     : holding mutex
			p1 crash            : nothing`,
		"a process whose release is unknown is retired": `
			p1 invoke acquire m   : enqueuing mutex
			p1 ok acquire m       : holding mutex
			p1 invoke release m 1 : releasing mutex
			p1 info release m 1   : nothing`,
		"a saying is no operation": `
			p1 says m : nothing`,
	} {
		t.Run(name, func(t *testing.T) {
			tracker := NewTracker(&histories.Header{Locks: recipes})
			for _, line := range strings.Split(strings.TrimSpace(script), "\n") {
				happens, want, _ := strings.Cut(line, ":")
				tracker.Step(event(t, happens))
				if got := says(tracker, 1); got != strings.TrimSpace(want) {
					t.Errorf("after %q: %s, want %s", strings.TrimSpace(happens), got, want)
				}
			}
		})
	}
}

func TestChangesTellTheLifeOfAHold(t *testing.T) {
	tracker := NewTracker(&histories.Header{Locks: recipes})
	var got []Kind
	for _, line := range []string{
		"p1 invoke acquire m", "p1 ok acquire m 1", "p1 invoke acquire m", "p1 ok acquire m 2", "p1 invoke release m 2", "p1 ok release m 2",
		"p1 lost m", "p1 lost m", "p1 invoke acquire m", "p1 ok acquire m", "p1 crash m",
	} {
		for _, c := range tracker.Step(event(t, line)) {
			got = append(got, c.Kind)
		}
	}
	if want := []Kind{Began, Again, Inner, Lost, Ended, Began, Ended}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// places returns places, given as locks and transactions.
func places(all ...any) (out []histories.Part) {
	for i := 0; i < len(all); i += 2 {
		out = append(out, histories.Part{Lock: all[i].(string), Token: histories.Token{Zxid: int64(all[i+1].(int))}})
	}
	return out
}

func TestAWaiterIsKnownByTheLastPlaceInEachQueue(t *testing.T) {
	tracker := NewTracker(&histories.Header{Locks: recipes})
	for _, step := range []struct {
		line string
		want []histories.Part
	}{
		{"p1 invoke acquire n+o", nil},
		{"p1 enqueued n 0 t3", places("n", 3)},
		{"p1 enqueued o 0 t3", places("n", 3, "o", 3)},
		{"p1 enqueued n 0 t5", places("o", 3, "n", 5)},
		{"p1 ok acquire n+o", nil},
	} {
		if tracker.Step(event(t, step.line)); !slices.Equal(tracker.Places(1), step.want) {
			t.Errorf("after %q: %v, want %v", step.line, tracker.Places(1), step.want)
		}
	}
}

// Memory grows with open operations and holds only, not with the length of a run.
func TestNothingIsKeptOfProcessesThatAreGone(t *testing.T) {
	tracker := NewTracker(&histories.Header{Locks: recipes})
	for i := range 100 {
		for _, line := range []string{"p%d invoke acquire m", "p%d ok acquire m", "p%d invoke release m 1", "p%d info release m 1", "p%d invoke acquire s", "p%d ok acquire s", "p%d crash s"} {
			number := 2 * i
			if strings.HasSuffix(line, " s") {
				number++
			}
			tracker.Step(event(t, fmt.Sprintf(line, number)))
		}
	}
	if len(tracker.processes)+len(tracker.held) != 0 {
		t.Errorf("%d processes and %d locks are left", len(tracker.processes), len(tracker.held))
	}
}

func TestAFaultFindsWhatIsUnderWayAsItBegins(t *testing.T) {
	c := NewCoverage(&histories.Header{Locks: recipes}, []histories.Recipe{histories.Mutex, histories.Semaphore})
	for _, line := range []string{
		"p1 invoke acquire s", "p1 ok acquire s 1 t3", "p1 invoke acquire s", "p1 ok acquire s 1 t4", "p1 invoke acquire m",
		"p2 invoke write m", "p3 invoke acquire m",
	} {
		c.Step(event(t, line))
	}
	c.Step(&histories.Event{Type: histories.FaultStart, Process: -1, Fault: &histories.Fault{ID: 1, Name: "down", Processes: []int{1, 2}}})
	c.Step(event(t, "p3 enqueued m"))
	for d, want := range map[Doing]int{{histories.Semaphore, Holding}: 2, {histories.Mutex, Enqueuing}: 1, {"", Idle}: 1, {histories.Mutex, Waiting}: 0} {
		if got := c.Found[Cell{"down", d}]; got != want || c.FoundByAny(d) != want {
			t.Errorf("%v was found %d times, by any fault %d times, want %d", d, got, c.FoundByAny(d), want)
		}
	}
	if got := c.Met[Cell{"down", Doing{histories.Semaphore, Holding}}]; got != 1 {
		t.Errorf("while it is in force a process that holds two leases counts %d times, want once", got)
	}
}
