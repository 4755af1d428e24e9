package field

import (
	"context"
	"errors"
	"io"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/campaign"
)

// team makes the runs of a field, several at a time.
type team struct {
	runner
	field   *Field
	out     io.Writer
	state   *State
	left    []planned
	missing map[string]bool // the locks that cannot be run
}

// work makes the runs.
func (t *team) work(ctx context.Context) error {
	t.missing, t.Total = map[string]bool{}, len(t.left)
	return campaign.Make(ctx, t.Campaign, t.next, t.result, t.put)
}

// next yields the runs, except those of locks that cannot be run.
func (t *team) next(yield func(planned) bool) {
	for _, p := range t.left {
		if t.missing[p.Lock.id] {
			t.Total--
		} else if !yield(p) {
			return
		}
	}
}

// result makes a run, and adds the stories of its violations.
func (t *team) result(ctx context.Context, p planned) (Result, error) {
	r, err := t.untilShown(ctx, p, runsFolder)
	if err == nil {
		err = t.tellStories(ctx, &r)
	}
	return r, err
}

// put saves a result, and prints it.
func (t *team) put(p planned, r Result) error {
	t.missing[p.Lock.id] = r.Missing != ""
	t.state.put(p, r)
	words.Fprintf(t.out, "%s: %s%s\n", p, r, t.Left())
	return errors.Join(t.tidy(t.state), t.state.save(t.dir, t.field))
}
