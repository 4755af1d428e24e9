package histories

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// everyRecipe has every operation of every recipe.
func everyRecipe() *History {
	h := sample()
	h.Header.Version, h.Header.Recipe = Version, "mutex,semaphore"
	h.Header.Promises.RevokeBound = time.Second
	h.Header.Locks = map[string]Lock{
		"m": {Recipe: Mutex}, "n": {Recipe: NonReentrant}, "rw": {Recipe: ReadWrite},
		"x": {Recipe: MultiLock}, "y": {Recipe: MultiLock},
		"s": {Recipe: Semaphore, Size: 3}, "shared \"one\n": {Recipe: SharedSemaphore, Size: 2},
		"rev": {Recipe: Revocation}, "b": {Recipe: Barrier}, "d": {Recipe: DoubleBarrier, Size: 2},
	}
	both := []Part{{Lock: "y", Token: Token{Zxid: 7}}, {Lock: "x", Token: Token{Zxid: 7, Sub: 1}}}
	asked := []Part{{Lock: "y"}, {Lock: "x"}}
	h.Events = nil
	op := func(done Type, e Event) {
		e.Type = Invoke
		h.Events = append(h.Events, e)
		e.Type = done
		h.Events = append(h.Events, e)
	}
	for _, lock := range []string{"m", "n", "rev", "x"} {
		op(OK, Event{Op: Acquire, Lock: lock})
		op(OK, Event{Op: Write, Lock: lock, Store: StorePlain, Value: 1})
		op(OK, Event{Op: Release, Lock: lock})
	}
	for _, mode := range []Mode{ModeRead, ModeWrite} {
		op(OK, Event{Op: TryAcquire, Lock: "rw", Mode: mode})
		h.Events = append(h.Events, Event{Type: Lost, Lock: "rw", Mode: mode})
		op(Fail, Event{Op: Release, Lock: "rw", Mode: mode})
	}
	h.Events = append(h.Events, Event{Type: Invoke, Op: Acquire, Parts: asked}, Event{Type: Enqueued, Lock: "x", Token: both[1].Token},
		Event{Type: OK, Op: Acquire, Parts: both}, Event{Type: Suspended, Parts: both}, Event{Type: Resumed, Parts: both}, Event{Type: Lost, Parts: both})
	op(Fail, Event{Op: Release, Parts: both})
	op(OK, Event{Op: Acquire, Lock: "s", Permits: 3})
	op(OK, Event{Op: Release, Lock: "s", Permits: 3})
	op(OK, Event{Op: SetSize, Lock: "shared \"one\n", Size: 4})
	op(OK, Event{Op: Revoke, Lock: "rev", Token: Token{Zxid: 5}})
	h.Events = append(h.Events, Event{Type: RevokeRequested, Lock: "rev", Token: Token{Zxid: 5}})
	for _, o := range []Op{Set, Remove, Wait} {
		op(OK, Event{Op: o, Lock: "b"})
	}
	for _, o := range []Op{Enter, Leave} {
		op(OK, Event{Op: o, Lock: "d", Generation: 3})
	}
	for i := range h.Events {
		h.Events[i].Time = time.Duration(i) * time.Microsecond
	}
	return h
}

func TestAHistoryOfEveryRecipeComesBackAsItWasWritten(t *testing.T) {
	for _, name := range []string{"h.jsonl", "h.edn.zst"} {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir() + "/" + name
			want := everyRecipe()
			if err := WriteFile(path, want); err != nil {
				t.Fatal(err)
			}
			got, err := ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestTheRecipeOfALockIsThatOfTheHeader(t *testing.T) {
	listed := Header{Recipe: "mutex,semaphore", Locks: map[string]Lock{"s": {Recipe: Semaphore, Size: 1}}}
	for _, c := range []struct {
		name string
		h    Header
		want Recipe
	}{
		{"a lock that is listed", listed, Semaphore},
		{"no list, one recipe", Header{Recipe: "readwrite"}, ReadWrite},
		{"no list, no recipe", Header{}, Mutex},
	} {
		if got := c.h.RecipeOf("s"); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestAHeaderThatDescribesItsLocksWronglyIsRefused(t *testing.T) {
	for locks, reason := range map[string]string{
		`{}`:                                         "empty",
		`{"":{"recipe":"mutex"}}`:                    "no name",
		`{"a":{"recipe":"padlock"}}`:                 `unknown recipe "padlock"`,
		`{"a":{"recipe":"semaphore"}}`:               "size 0",
		`{"a":{"recipe":"mutex","size":1}}`:          "has a size",
		`{"a":{"recipe":"doublebarrier","size":-1}}`: "size -1",
		`{"a":{"recipe":"mutex","color":1}}`:         "color",
	} {
		file := strings.Replace(header, `"ensemble"`, `"locks":`+locks+`,"ensemble"`, 1)
		_, err := Decode(strings.NewReader(file))
		var f *FormatError
		if !errors.As(err, &f) || f.Line != 1 || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: got %v, want line 1, %q", locks, err, reason)
		}
	}
	h := everyRecipe()
	h.Header.Locks["s"] = Lock{Recipe: Semaphore}
	if err := Validate(h); err == nil {
		t.Error("a header made by hand was taken for valid")
	}
	if _, err := newRecorder(&fullDisk{1 << 20}, h.Header); err == nil {
		t.Error("it was recorded")
	}
}

func TestAnOperationThatItsRecipeDoesNotHaveIsRefusedAtItsLine(t *testing.T) {
	h := everyRecipe()
	invoke := func(e Event) []Event { e.Type = Invoke; return []Event{e} }
	done := func(a, b Event) []Event { a.Type, b.Type = Invoke, OK; return []Event{a, b} }
	for _, c := range []struct {
		name   string
		events []Event
		reason string
	}{
		{"a lock that the header lacks", invoke(Event{Op: Acquire, Lock: "z"}), `"z" is not in the header`},
		{"a barrier is acquired", invoke(Event{Op: Acquire, Lock: "b"}), `barrier "b" has no acquire`},
		{"a mutex is entered", invoke(Event{Op: Enter, Lock: "m", Generation: 1}), `mutex "m" has no enter`},
		{"a mutex is set", invoke(Event{Op: Set, Lock: "m"}), `has no set`},
		{"a semaphore guards a counter", invoke(Event{Op: Read, Lock: "s", Store: StorePlain}), `has no read`},
		{"a semaphore of fixed size is resized", invoke(Event{Op: SetSize, Lock: "s", Size: 2}), `has no set-size`},
		{"a mutex is revoked", invoke(Event{Op: Revoke, Lock: "m", Token: Token{Zxid: 1}}), `has no revoke`},
		{"no mode", invoke(Event{Op: Acquire, Lock: "rw"}), `"mode"`},
		{"a mode of a mutex", invoke(Event{Op: Acquire, Lock: "m", Mode: ModeRead}), "has no modes"},
		{"an unknown mode", invoke(Event{Op: Acquire, Lock: "rw", Mode: "append"}), `unknown mode "append"`},
		{"another mode completes", done(Event{Op: Acquire, Lock: "rw", Mode: ModeRead}, Event{Op: Acquire, Lock: "rw", Mode: ModeWrite}), `invoked it in mode "read"`},
		{"no permits", invoke(Event{Op: Acquire, Lock: "s"}), `"permits"`},
		{"negative permits", invoke(Event{Op: Acquire, Lock: "s", Permits: -1}), "permits -1"},
		{"permits of a mutex", invoke(Event{Op: Acquire, Lock: "m", Permits: 1}), "has no permits"},
		{"permits of a wait", invoke(Event{Op: Wait, Lock: "b", Permits: 1}), "has no permits"},
		{"other permits complete", done(Event{Op: Acquire, Lock: "s", Permits: 1}, Event{Op: Acquire, Lock: "s", Permits: 2}), "invoked it for 1"},
		{"no size", invoke(Event{Op: SetSize, Lock: "shared \"one\n"}), `"size"`},
		{"a size of an acquire", invoke(Event{Op: Acquire, Lock: "m", Size: 1}), "has no size"},
		{"another size completes", done(Event{Op: SetSize, Lock: "shared \"one\n", Size: 2}, Event{Op: SetSize, Lock: "shared \"one\n", Size: 3}), "invoked it to 2"},
		{"a revoke without a token", invoke(Event{Op: Revoke, Lock: "rev"}), `"token"`},
		{"another revoke completes", done(Event{Op: Revoke, Lock: "rev", Token: Token{Zxid: 1}}, Event{Op: Revoke, Lock: "rev", Token: Token{Zxid: 2}}), "another token"},
		{"no generation, unlike earlier", append(done(Event{Op: Enter, Lock: "d", Generation: 1}, Event{Op: Enter, Lock: "d", Generation: 1}), invoke(Event{Op: Leave, Lock: "d"})...), `"generation"`},
		{"a generation, unlike earlier", append(done(Event{Op: Enter, Lock: "d"}, Event{Op: Enter, Lock: "d"}), invoke(Event{Op: Leave, Lock: "d", Generation: 1})...), "have no generation"},
		{"a generation before the first", invoke(Event{Op: Enter, Lock: "d", Generation: -1}), "generation -1"},
		{"a generation of a wait", invoke(Event{Op: Wait, Lock: "b", Generation: 1}), "has no generation"},
		{"another generation completes", done(Event{Op: Enter, Lock: "d", Generation: 1}, Event{Op: Enter, Lock: "d", Generation: 2}), "invoked it in generation 1"},
		{"parts and a lock", invoke(Event{Op: Acquire, Lock: "m", Parts: []Part{{Lock: "x"}}}), "a lock and parts"},
		{"no parts", invoke(Event{Op: Acquire, Parts: []Part{}}), `"parts"`},
		{"a part without a lock", invoke(Event{Op: Acquire, Parts: []Part{{}}}), `"parts.lock"`},
		{"a part twice", invoke(Event{Op: Acquire, Parts: []Part{{Lock: "x"}, {Lock: "x"}}}), "twice"},
		{"a part that is no part", invoke(Event{Op: Acquire, Parts: []Part{{Lock: "m"}}}), `mutex "m" is no part`},
		{"parts of a wait", invoke(Event{Op: Wait, Parts: []Part{{Lock: "x"}}}), "has no parts"},
		{"parts of a phase", []Event{{Type: PhaseStart, Process: -1, Phase: PhaseChaos, Parts: []Part{{Lock: "x"}}}}, "has no parts"},
		{"other parts complete", done(Event{Op: Acquire, Parts: []Part{{Lock: "x"}, {Lock: "y"}}}, Event{Op: Acquire, Parts: []Part{{Lock: "y"}, {Lock: "x"}}}), `"y+x" but invoked it on lock "x+y"`},
		{"one part completes several", done(Event{Op: Acquire, Parts: []Part{{Lock: "x"}}}, Event{Op: Acquire, Lock: "x"}), "but invoked it on"},
		{"a barrier is lost", []Event{{Type: Lost, Lock: "b"}}, "never held"},
		{"a double barrier has a queue", []Event{{Type: Enqueued, Lock: "d"}}, "never held"},
		{"a read/write lock is lost in no mode", []Event{{Type: Lost, Lock: "rw"}}, `"mode"`},
		{"a lost of nothing", []Event{{Type: Lost}}, `"lock"`},
		{"a mutex is asked for", []Event{{Type: RevokeRequested, Lock: "m"}}, "cannot be asked"},
		{"a holder is asked for no lease", []Event{{Type: RevokeRequested, Lock: "rev"}}, `"token"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			h.Events = c.events
			err := Validate(h)
			var f *FormatError
			if !errors.As(err, &f) || f.Line != Line(len(c.events)-1) || !strings.Contains(f.Reason, c.reason) {
				t.Errorf("got %v, want line %d, %q", err, Line(len(c.events)-1), c.reason)
			}
		})
	}
}

// If the header lists no locks, events may name any lock: Jepsen's histories,
// and histories of version 1, do not list recipes.
func TestWithoutAListEveryLockMayBeAnything(t *testing.T) {
	h := everyRecipe()
	h.Header.Locks = nil
	if err := Validate(h); err != nil {
		t.Error(err)
	}
}
