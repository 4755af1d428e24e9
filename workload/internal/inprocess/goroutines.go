package inprocess

import (
	"context"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/workload/lock"
)

// recipes is the package of the locks under test, with packages below it. No judge imports it.
const recipes = "github.com/zkverify/zkverify/recipes"

// stopWithin is the time that goroutines have to end once their client is closed.
const stopWithin = 2 * time.Second

// Goroutines returns the stacks of this process's goroutines by the number in their first line.
func Goroutines() map[string]string {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	out := make(map[string]string)
	for stack := range strings.SplitSeq(string(buf), "\n\n") {
		if id, _, ok := strings.Cut(strings.TrimPrefix(stack, "goroutine "), " "); ok {
			out[id] = stack
		}
	}
	return out
}

// GoroutinesLeft lists the goroutines that run the code of targets, were not there before, and have not
// ended within stopWithin.
func GoroutinesLeft(ctx context.Context, before map[string]string, targets []lock.Target) (left []string) {
	wait.Until(ctx, stopWithin, func() bool {
		left = slices.Sorted(maps.Values(GoroutinesOf(before, targets)))
		return len(left) == 0
	})
	return left
}

// GoroutinesKept counts the goroutines that run the code of targets and were not there before. It
// leaves out those that end while it looks: it looks until no more than enough are left, or
// stopWithin is over. An idle client may begin a goroutine for each of its heartbeats.
func GoroutinesKept(ctx context.Context, before map[string]string, targets []lock.Target, enough int) int {
	kept := GoroutinesOf(before, targets)
	wait.Until(ctx, stopWithin, func() bool {
		now := GoroutinesOf(before, targets)
		maps.DeleteFunc(kept, func(id, _ string) bool {
			_, there := now[id]
			return !there
		})
		return len(kept) <= enough
	})
	return len(kept)
}

// GoroutinesOf returns the goroutines that run the code of targets and were not there
// before, as Goroutines does.
func GoroutinesOf(before map[string]string, targets []lock.Target) map[string]string {
	found := make(map[string]string)
	packages := []string{pkg(reflect.TypeFor[zk.Conn]()) + ".", recipes + ".", recipes + "/"}
	for _, t := range targets {
		packages = append(packages, pkg(reflect.TypeOf(t))+".")
	}
	for id, stack := range Goroutines() {
		if _, old := before[id]; !old && slices.ContainsFunc(packages, func(p string) bool { return strings.Contains(stack, p) }) {
			found[id] = stack
		}
	}
	return found
}

// pkg returns the path of a type's package, which the names of its functions begin
// with in a stack.
func pkg(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath()
}
