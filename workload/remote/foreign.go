package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/zkverify/zkverify/ensemble/child"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/protocol"
	"github.com/zkverify/zkverify/workload/lock"
)

// Describe starts a worker process and returns the target that its hello names, a lock in
// another language perhaps; nil if it hosts a target of the run's choice, as zkverify worker
// does. The promises of the target may depend on the settings of the run.
func Describe(ctx context.Context, w Config, s lock.Settings) (lock.Target, error) {
	spawner := child.NewSpawner()
	defer spawner.Close()
	one := newSlot(1, w, spawner)
	defer func() { _ = one.end() }() // the run will meet the same error
	if err := one.start(ctx); err != nil {
		return nil, err
	}
	h := one.current().connection.hosts
	if h.Name == "" && len(h.Recipes) == 0 {
		return nil, nil
	}
	if err := hostable(h); err != nil {
		return nil, fmt.Errorf("%s %w", one.name(), err)
	}
	if h.Promises == nil {
		promises, err := one.promises(ctx, s)
		if err != nil {
			return nil, fmt.Errorf("%s does not say what %s promises, in its hello or when asked: %w", one.name(), h.Name, err)
		}
		h.Promises = promises
	}
	if err := bounded(*h.Promises); err != nil {
		return nil, fmt.Errorf("%s %w", one.name(), err)
	}
	return foreign{h}, nil
}

// mostOfName bounds the name of a target, which is also part of a folder's.
const mostOfName = 100

// hostable returns an error if a run cannot drive the target that a worker names.
func hostable(h *protocol.Hosts) error {
	switch {
	case h.Name == "" || h.Name == "." || h.Name == ".." || len(h.Name) > mostOfName || strings.ContainsFunc(h.Name, func(r rune) bool { return r == '/' || r == '\\' || !unicode.IsPrint(r) }):
		return fmt.Errorf("names its lock %.120q: a name has up to %d characters that can be printed, and no slash", h.Name, mostOfName)
	case len(h.Recipes) == 0:
		return fmt.Errorf("says that %s hosts no recipe", h.Name)
	}
	for i, r := range h.Recipes {
		if !slices.Contains(histories.Recipes(), r) || slices.Contains(h.Recipes[:i], r) {
			return fmt.Errorf("says that %s hosts %.120q, which is no recipe or is named before", h.Name, r)
		}
	}
	return nil
}

// mostPromised is the longest time that a promise may leave a lock: a run waits for it.
const mostPromised = 10 * time.Minute

// bounded returns an error if the bounds of promises are out of range.
func bounded(p histories.Promises) error {
	for _, bound := range []time.Duration{p.LossBound, p.RevokeBound, p.TurnBound, p.ProgressBound} {
		if bound < 0 || bound > mostPromised {
			return fmt.Errorf("promises a bound of %v: a run waits for no more than %v", bound, mostPromised)
		}
	}
	return nil
}

// promises asks the process for the promises of its lock.
func (w *slot) promises(ctx context.Context, s lock.Settings) (*histories.Promises, error) {
	env := protocol.Where{Timeout: s.SessionTimeout.Milliseconds(), Tick: s.TickTime.Milliseconds()}
	l, err := w.current().connection.ask(ctx, protocol.Command{Do: protocol.DoPromises, Env: &env}, nil, ctx.Done())
	if err == nil && l.Promises == nil {
		err = errors.New("the answer has no promises")
	}
	return l.Promises, err
}

// foreign is a target that only its worker can open.
type foreign struct{ says *protocol.Hosts }

func (f foreign) Name() string                { return f.says.Name }
func (f foreign) Description() string         { return f.says.Description }
func (f foreign) Recipe() string              { return string(f.says.Recipes[0]) }
func (f foreign) Recipes() []histories.Recipe { return f.says.Recipes }

// Promises returns the worker's promises, with the bounds of package recipes where it names
// none.
func (f foreign) Promises(s lock.Settings) histories.Promises {
	p := *f.says.Promises
	p.LossBound = cmp.Or(p.LossBound, s.LossBound())
	p.RevokeBound = cmp.Or(p.RevokeBound, s.RevokeBound())
	return p
}

// Open returns an error: the target lives in its worker.
func (f foreign) Open(context.Context, lock.Env) (lock.Client, error) {
	return nil, fmt.Errorf("target %s lives in worker processes", f.Name())
}
