package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/zkverify/zkverify/internal/seeded"
)

// pauses stops a process for a second that has a goroutine of each sort: what its
// goroutines did must have been done before, or after.
func pauses(note func(...any)) {
	p, start := seeded.NewProcess(), time.Now()
	var wg sync.WaitGroup
	var did []string // by the process
	do := func(what string) {
		at := time.Since(start)
		note(what, at)
		if at > 100*time.Millisecond && at < 1100*time.Millisecond && seeded.Exact() {
			panic(fmt.Sprintf("%s at %v, while its process stood still", what, at))
		}
		did = append(did, what)
	}
	said := make(chan int, 1)
	p.Within(func() {
		for i := range 10 {
			wg.Go(func() { time.Sleep(500 * time.Millisecond); do(fmt.Sprint("slept ", i)) })
		}
		wg.Go(func() { do(fmt.Sprint("heard ", <-said)) })
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 700*time.Millisecond)
			defer cancel()
			<-ctx.Done()
			do("context")
		})
		wg.Add(1)
		time.AfterFunc(300*time.Millisecond, func() {
			do("func")
			go func() { do("child"); wg.Done() }()
		})
		wg.Go(func() {
			for range time.Tick(90 * time.Millisecond) {
				if do("tick"); time.Since(start) > 2*time.Second {
					return
				}
			}
		})
	})
	time.Sleep(100 * time.Millisecond)
	p.Pause()
	time.Sleep(400 * time.Millisecond)
	said <- 1 // comes to a process that stands still
	time.Sleep(600 * time.Millisecond)
	note("before", did)
	if want := []string{"tick"}; seeded.Exact() && !slices.Equal(did, want) {
		panic(fmt.Sprintf("before the pause %v; want %v", did, want))
	}
	p.Resume()
	p.Resume()
	wg.Wait()
	if len(did) < 10+4+10 {
		panic(fmt.Sprintf("only %v was done", did))
	}
}
