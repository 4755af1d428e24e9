package inprocess

import (
	"context"
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
		left = GoroutinesOf(before, targets)
		return len(left) == 0
	})
	slices.Sort(left)
	return left
}

// GoroutinesOf lists the goroutines that run the code of targets and were not there
// before.
func GoroutinesOf(before map[string]string, targets []lock.Target) (found []string) {
	packages := []string{pkg(reflect.TypeFor[zk.Conn]()) + ".", recipes + ".", recipes + "/"}
	for _, t := range targets {
		packages = append(packages, pkg(reflect.TypeOf(t))+".")
	}
	for id, stack := range Goroutines() {
		if _, old := before[id]; !old && slices.ContainsFunc(packages, func(p string) bool { return strings.Contains(stack, p) }) {
			found = append(found, stack)
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
