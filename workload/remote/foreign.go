package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/ensemble/child"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/protocol"
	"github.com/zkverify/zkverify/workload/lock"
)

// Describe starts a worker process and returns the target that it says it has
// brought along, a lock in another language perhaps; nil if it hosts those of a
// run's choice, as zkverify worker does. What the target promises may depend on
// the settings of the run.
func Describe(ctx context.Context, w Config, s lock.Settings) (lock.Target, error) {
	spawner := child.NewSpawner()
	defer spawner.Close()
	one := newSlot(1, w, spawner)
	if err := one.start(ctx); err != nil {
		return nil, err
	}
	defer one.end()
	h := one.current().connection.hosts
	if h.Name == "" && len(h.Recipes) == 0 {
		return nil, nil
	}
	if h.Name == "" || len(h.Recipes) == 0 || slices.ContainsFunc(h.Recipes, func(r histories.Recipe) bool { return !slices.Contains(histories.Recipes(), r) }) {
		return nil, fmt.Errorf("%s says that it hosts %q with recipes %q", one.name(), h.Name, h.Recipes)
	}
	if h.Promises == nil {
		promises, err := one.promises(ctx, s)
		if err != nil {
			return nil, fmt.Errorf("%s does not say what %s promises, in its hello or when asked: %w", one.name(), h.Name, err)
		}
		h.Promises = promises
	}
	return foreign{h}, nil
}

// promises asks the process what its lock promises.
func (w *slot) promises(ctx context.Context, s lock.Settings) (*histories.Promises, error) {
	ctx, cancel := context.WithTimeout(ctx, helloWithin)
	defer cancel()
	env := protocol.Where{Timeout: s.SessionTimeout.Milliseconds(), Tick: s.TickTime.Milliseconds()}
	l, err := w.current().connection.ask(ctx, protocol.Command{Do: protocol.DoPromises, Env: &env}, nil, ctx.Done())
	if err == nil && l.Promises == nil {
		err = errors.New("the answer has no promises")
	}
	return l.Promises, err
}

// foreign is a target that a worker has brought along.
type foreign struct{ says *protocol.Hosts }

func (f foreign) Name() string                { return f.says.Name }
func (f foreign) Description() string         { return f.says.Description }
func (f foreign) Recipe() string              { return string(f.says.Recipes[0]) }
func (f foreign) Recipes() []histories.Recipe { return f.says.Recipes }

// Promises are those of the worker, with the bounds of package recipes where it
// names none.
func (f foreign) Promises(s lock.Settings) histories.Promises {
	p := *f.says.Promises
	p.LossBound = cmp.Or(p.LossBound, s.LossBound())
	p.RevokeBound = cmp.Or(p.RevokeBound, s.RevokeBound())
	return p
}

// Open is an error: it lives in its worker.
func (f foreign) Open(context.Context, lock.Env) (lock.Client, error) {
	return nil, fmt.Errorf("target %s lives in worker processes", f.Name())
}
