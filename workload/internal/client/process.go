package client

import (
	"context"
	"slices"
)

// number returns the number of the application's process, from 1.
func (a *application) number() int { return a.First() + 1 }

// Processes treats each application of the clients as a process. On the standard runtime Pause
// does nothing.
type Processes []*Client

// of returns the application whose process has a number.
func (p Processes) of(number int) *application {
	all := ApplicationsOf(p)
	return all[slices.IndexFunc(all, func(a *application) bool { return a.number() == number })]
}

// Pause stops the goroutines of an application, as a signal stops its process.
func (p Processes) Pause(_ context.Context, number int) error {
	p.of(number).process.Pause()
	return nil
}

// Resume lets an application go on, whether or not it is paused.
func (p Processes) Resume(number int) error {
	p.of(number).process.Resume()
	return nil
}

// Kill ends an application, as the end of its process does, until Start. When it returns the
// crash of its clients is on record.
func (p Processes) Kill(number int) { p.of(number).kill() }

// Start lets an application open again after Kill.
func (p Processes) Start(_ context.Context, number int) error {
	p.of(number).start()
	return nil
}

// Within calls do as part of the process of the client's application, which faults can pause on
// a seeded runtime.
func (c *Client) Within(do func()) { c.app.process.Within(do) }

func (a *application) kill() {
	a.mu.Lock()
	a.down = make(chan struct{})
	target := a.target
	a.mu.Unlock()
	a.crash(target, nil)
}

func (a *application) start() {
	a.mu.Lock()
	defer a.mu.Unlock()
	close(a.down)
	a.down = nil
}

// awaitStart returns when the application is not killed, or with the cause of ctx's end.
func (a *application) awaitStart(ctx context.Context) error {
	a.mu.Lock()
	down := a.down
	a.mu.Unlock()
	if down == nil {
		return nil
	}
	select {
	case <-down:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
