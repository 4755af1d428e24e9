package process

import (
	"context"
	"errors"
	"sync"
)

// Job is one piece of work. Several calls the function that it returns afterwards, one such
// function at a time, unless ctx has ended. After an error no job begins.
type Job func(ctx context.Context) (tell func(), err error)

// Several does jobs, n at a time, until next has none left or ctx ends. Calls of next, and of
// the functions that jobs return, do not overlap. It returns the first error of a job.
func Several(ctx context.Context, n int, next func() (job Job, ok bool)) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var mu sync.Mutex // guards next and the functions that jobs return
	var workers sync.WaitGroup
	for range n {
		// Ends when there is nothing left to do.
		workers.Go(func() {
			for {
				mu.Lock()
				job, ok := next()
				mu.Unlock()
				if !ok || ctx.Err() != nil {
					return
				}
				tell, err := job(ctx)
				if ctx.Err() != nil {
					return
				}
				if err != nil {
					stop(err)
					return
				}
				mu.Lock()
				tell()
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
