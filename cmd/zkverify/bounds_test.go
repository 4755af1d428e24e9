package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/zkverify/zkverify/histories"
)

const someHeader = `{"zkverify":4,"started":"2026-01-02T03:04:05Z","seed":1,"recipe":"mutex","target":"t","promises":{"tokens":true,"tells_loss":true,"fifo":true,"reentrant":true,"loss_bound":2000000000,"progress_bound":8000000000},"ensemble":"local","servers":3,"zookeeper":"3.8.0","session_timeout":2000000000,"tick_time":200000000}` + "\n"

// cycleAt returns the events of a process that acquires a lock and releases it, at one instant.
func cycleAt(at, process int) string {
	var b strings.Builder
	for _, e := range []string{"invoke acquire", "ok acquire", "invoke release", "ok release"} {
		typ, op, _ := strings.Cut(e, " ")
		fmt.Fprintf(&b, `{"time":%d,"type":%q,"process":%d,"op":%q,"lock":"l"}`+"\n", at, typ, process, op)
	}
	return b.String()
}

// bomb writes a file of a few kilobytes with a valid history of the given number of events, all at
// one instant: no operation is settled until the whole file has been read.
func bomb(t *testing.T, events int) string {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	const inFrame = 1 << 14
	// A reader of zstd joins frames that follow one another.
	file := z.EncodeAll([]byte(someHeader), nil)
	frame := z.EncodeAll(bytes.Repeat([]byte(cycleAt(1, 1)), inFrame/4), nil)
	file = append(file, bytes.Repeat(frame, events/inFrame)...)
	path := filepath.Join(t.TempDir(), "bomb.jsonl.zst")
	if err := os.WriteFile(path, file, 0o600); err != nil || len(file) > 1<<18 {
		t.Fatalf("it is no bomb: %d bytes, %v", len(file), err)
	}
	return path
}

// reading returns the commands that read a history, with the further arguments that they need.
func reading(t *testing.T) map[string][]string {
	out := t.TempDir()
	return map[string][]string{
		"check": nil, "explain": nil, "shrink": {"--out", filepath.Join(out, "small.jsonl")}, "report": {"--out", filepath.Join(out, "page.html")},
		"convert": {filepath.Join(out, "h.edn")}, "schedule": nil, "replay": nil,
	}
}

func TestAHistoryBeyondABoundIsRefusedInOneSentence(t *testing.T) {
	path := bomb(t, 1<<20)
	for bound, args := range map[string][]string{
		"bomb.jsonl.zst: the history has more than 1000 events (--max-events raises that)":     {"--max-events", "1000"},
		"the history has more than 1048576 bytes when it is unpacked (--max-size raises that)": {"--max-size", "1"},
		"it takes more than 1ns (--max-time raises that)":                                      {"--max-time", "1ns"},
		"it needs more than 1 MiB of memory (--max-memory raises that)":                        {"--max-memory", "1"},
	} {
		for command, more := range reading(t) {
			t.Run(command+" "+args[0], func(t *testing.T) {
				var out, said bytes.Buffer
				status := zkverify(append(append([]string{command, path}, more...), args...), &console{out: &out, err: &said})
				text := strings.Join(strings.Fields(said.String()), " ")
				if status != exitUsage || !strings.HasSuffix(text, bound) || strings.Count(text, "zkverify:") != 1 || out.Len() > 0 {
					t.Errorf("exit %d, %q, %q", status, text, out.String())
				}
				for _, file := range more {
					if _, err := os.Stat(file); err == nil {
						t.Errorf("%s was written", file)
					}
				}
			})
		}
	}
}

// The memory for a bomb is bounded, no matter how much of it the judges keep.
func TestABombIsJudgedOrRefusedWithinItsMemory(t *testing.T) {
	path := bomb(t, 1<<22)
	for _, command := range []string{"check", "explain", "shrink"} {
		var said bytes.Buffer
		most := mostInUse(t, 100<<20)
		status := zkverify([]string{command, path, "--max-memory", "100"}, &console{out: &said, err: &said})
		if n := most(); n > 100<<20 {
			t.Errorf("%s took %d MiB", command, n>>20)
		}
		if text := strings.Join(strings.Fields(said.String()), " "); status != exitUsage || !strings.Contains(text, "more than 100 MiB of memory") {
			t.Errorf("%s: exit %d, %s", command, status, text)
		}
	}
}

// mostInUse returns a function that ends a watch of the memory in use, and returns the most that
// was.
func mostInUse(t *testing.T, bound int64) (end func() int64) {
	debug.FreeOSMemory()
	if used, _ := inUse(); used > bound/2 {
		t.Skipf("the tests before took %d MiB", used>>20)
	}
	stop, most := make(chan struct{}), make(chan int64)
	go func() { // ends when end is called
		highest, tick := int64(0), time.NewTicker(5*time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				most <- highest
				return
			case <-tick.C:
				used, _ := inUse()
				highest = max(highest, used)
			}
		}
	}()
	return func() int64 {
		close(stop)
		return <-most
	}
}

func TestWhatDoesNotEndIsLeftAloneASecondAfterItsContextHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		defer close(free)
		for _, c := range []struct {
			bound costFlags
			after time.Duration // until the interrupt
			want  string
			ends  time.Duration
		}{
			{costFlags{MaxMemory: 1 << 30, MaxTime: time.Hour}, time.Minute, "interrupted", time.Minute + grace},
			{costFlags{MaxMemory: 1 << 30, MaxTime: time.Hour}, 2 * time.Hour, "it takes more than 1h0m0s (--max-time raises that)", time.Hour + grace},
		} {
			ctx, interrupt := context.WithCancel(t.Context())
			timer := time.AfterFunc(c.after, interrupt)
			start := time.Now()
			err := c.bound.within(ctx, func(context.Context) error {
				<-free
				return nil
			})
			if err == nil || err.Error() != c.want || time.Since(start) != c.ends {
				t.Errorf("%v after %s; want %q after %s", err, time.Since(start), c.want, c.ends)
			}
			timer.Stop()
			interrupt()
		}
	})
}

func TestWhatEndsWithinItsBoundsSaysWhatItWouldHave(t *testing.T) {
	bound := costFlags{MaxMemory: 1 << 30, MaxTime: time.Hour}
	bad := errors.New("bad disk")
	for _, want := range []error{nil, bad, outcome("violated")} {
		if err := bound.within(t.Context(), func(context.Context) error { return want }); !errors.Is(err, want) {
			t.Errorf("%v; want %v", err, want)
		}
	}
	ctx, interrupt := context.WithCancel(t.Context())
	err := bound.within(ctx, func(ctx context.Context) error {
		interrupt()
		<-ctx.Done()
		return fmt.Errorf("line 7: %w", context.Cause(ctx))
	})
	if err == nil || err.Error() != "interrupted" || statusOf(err) != exitUnknown {
		t.Errorf("%v, exit %d", err, statusOf(err))
	}
}

func TestBoundsMustBePositive(t *testing.T) {
	for _, flag := range []string{"--max-events", "--max-size", "--max-memory"} {
		var said bytes.Buffer
		if status := zkverify([]string{"check", "x.jsonl", flag + "=0"}, &console{out: &said, err: &said}); status != exitUsage || !strings.Contains(said.String(), flag) {
			t.Errorf("%s: exit %d, %s", flag, status, said.String())
		}
	}
}

func TestEventsEndWithTheirContext(t *testing.T) {
	const all = 10
	stopped := errors.New("stopped")
	for end := range all {
		ctx, stop := context.WithCancelCause(t.Context())
		read, n := 0, 0
		var got error
		for _, err := range counted(ctx, func(yield func(*histories.Event, error) bool) {
			for range all {
				if read++; !yield(&histories.Event{}, nil) {
					return
				}
			}
		}, &n) {
			if n == end+1 {
				stop(stopped)
			}
			got = err
		}
		if want := min(end+2, all); read != want || end+1 < all && !errors.Is(got, stopped) {
			t.Errorf("ended at event %d: %d were read, and then %v", end+1, read, got)
		}
		stop(nil)
	}
}
