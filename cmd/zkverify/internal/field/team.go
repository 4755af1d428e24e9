package field

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/internal/words"
)

// team makes the runs of a field, several at a time.
type team struct {
	runner
	field   *Field
	out     io.Writer
	all     int // number of runs to make
	started time.Time
	until   time.Time // no run begins after this; zero for no limit

	mu      sync.Mutex
	state   *State
	left    []planned
	missing map[string]string // why a lock cannot be run
	done    int
	failed  error
}

// work makes the runs with a number of workers. It returns when all runs are made, the time is up,
// ctx has ended, or after an error, and all workers have ended.
func (t *team) work(ctx context.Context, jobs int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t.missing = map[string]string{}
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(func() {
			for {
				p, ok := t.next(ctx)
				if !ok {
					return
				}
				result, err := t.result(ctx, p)
				if ctx.Err() == nil {
					err = t.put(p, result, err)
				}
				if err != nil {
					t.fail(err)
					cancel()
				}
			}
		})
	}
	workers.Wait()
	return t.failed
}

// result makes a run, and adds the stories of its violations.
func (t *team) result(ctx context.Context, p planned) (Result, error) {
	r, err := t.untilShown(ctx, p, runsFolder, func(r Result) bool {
		if t.timeIsUp() {
			return false
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		words.Fprintf(t.out, "%s, %s, seed %d: %s: it is made again\n", p.Lock.id, p.Plan.Name, p.Seed, r)
		return true
	})
	if err != nil {
		return r, err
	}
	return r, t.tellStories(ctx, &r)
}

func (t *team) timeIsUp() bool { return !t.until.IsZero() && !time.Now().Before(t.until) }

// fail keeps the first error.
func (t *team) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed == nil && !errors.Is(err, context.Canceled) {
		t.failed = err
	}
}

// next takes the next run off the list. It skips the runs of locks that cannot be run.
func (t *team) next(ctx context.Context) (planned, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.left) > 0 && ctx.Err() == nil && !t.timeIsUp() {
		p := t.left[0]
		t.left = t.left[1:]
		if t.missing[p.Lock.id] == "" {
			return p, true
		}
		t.done++
	}
	return planned{}, false
}

// put saves a result, and prints it.
func (t *team) put(p planned, r Result, err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		return err
	}
	t.done++
	if r.Missing != "" {
		t.missing[p.Lock.id] = r.Missing
	}
	t.state.put(p, r)
	err = errors.Join(t.tidy(t.state), t.state.save(t.dir, t.field))
	words.Fprintf(t.out, "%s, %s, seed %d: %s%s\n", p.Lock.id, p.Plan.Name, p.Seed, r, timeLeft(t.started, t.done, t.all))
	return err
}

// timeLeft returns the number of done runs, and the estimated time of the others, as a text.
func timeLeft(started time.Time, done, all int) string {
	left := all - done
	if left <= 0 {
		return ""
	}
	each := time.Since(started) / time.Duration(done)
	return fmt.Sprintf(" (%d of %d, about %s left)", done, all, (each * time.Duration(left)).Round(time.Second))
}

// String returns the result of the run in words.
func (r Result) String() string {
	if r.Missing != "" {
		return "did not run: " + r.Missing
	}
	var violated []string
	for _, v := range r.violated() {
		violated = append(violated, v.Guarantee)
	}
	if len(violated) > 0 {
		return string(verdict.Violated) + ": " + strings.Join(violated, "; ")
	}
	if !slices.Contains([]verdict.Outcome{verdict.Holds, verdict.Violated}, r.Outcome) && r.Reason != "" {
		return string(r.Outcome) + ": " + r.Reason
	}
	return string(r.Outcome)
}
