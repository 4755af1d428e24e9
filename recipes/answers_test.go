package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// goesOn holds the codes after which a call may continue until its context ends: the connection
// ends with each such answer, or the answer wrongly says that the nodes have changed since the
// client read them.
var goesOn = []int{noNode, badVersion, nodeExists, expiredCode, closingCode, movedCode}

const (
	noNode      = -101
	badVersion  = -103
	nodeExists  = -110
	expiredCode = -112
	closingCode = -116
	movedCode   = -118
	throttledOp = -127
)

// TestEachAnswerOfEachOperation makes servers answer each operation of each call with each code,
// for a while. The call ends at once, or continues as documented; neither the call nor its
// background work sends requests often; and in the end no node is left.
func TestEachAnswerOfEachOperation(t *testing.T) {
	for i, call := range answeredCalls {
		t.Run(call.name, func(t *testing.T) {
			t.Parallel()
			var ops []zktest.Operation
			var usual int
			synctest.Test(t, func(t *testing.T) { usual, ops = newAnsweredWorld(t, zktest.Start(t), "/n").rehearse(call) })
			for k, op := range ops {
				if k > 0 && os.Getenv("ZKVERIFY_TEST_SERVERS") != "real" && (i+k)%3 > 0 {
					continue // every night
				}
				synctest.Test(t, func(t *testing.T) { answerAll(t, call, usual, op, answerCodes(i+k)) })
			}
		})
	}
}

// answerAll makes the servers answer an operation of a call with each of some codes in turn. The
// clients and the paths are new each time.
func answerAll(t *testing.T, call answeredCall, usual int, op zktest.Operation, codes []int) {
	e := zktest.Start(t, zktest.Limit(12*time.Hour))
	for _, code := range codes {
		newAnsweredWorld(t, e, fmt.Sprintf("/n%d", -code)).answers(call, usual, op, code)
	}
	// The servers remove containers each minute, and the parents of those in the next.
	var left []string
	for range 6 {
		time.Sleep(time.Minute)
		if left = leftBelow(e, call, op); len(left) == 0 {
			return
		}
	}
	t.Errorf("%s, operation %d: left: %v", call.name, op, left)
}

// leftBelow returns the nodes below the namespaces that neither the call nor the answers explain.
func leftBelow(e *zktest.Ensemble, call answeredCall, op zktest.Operation) (left []string) {
	for line := range strings.Lines(e.Tree("/")) {
		path, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		_, below, _ := strings.Cut(path, "/n")
		_, below, _ = strings.Cut(below, "/")
		persistent := op == zktest.OpCreateContainer && !strings.Contains(below, "_c_") // instead of containers, which the servers refuse
		if path != "/" && !strings.HasPrefix(path, "/zookeeper") && below != "" && !slices.Contains(call.leaves, "/"+below) && !persistent {
			left = append(left, path)
		}
	}
	return left
}

// answerCodes returns the codes to try at the i-th operation. Most codes have the same effect as
// others. Those with an effect of their own are all tried every night, and in turn otherwise.
// With ZKVERIFY_TEST_ANSWERS=all every code is tried at every operation, which takes some minutes.
func answerCodes(i int) (codes []int) {
	const systemError, unimplemented, unknown, noAuth, localSession, quota = -1, -6, -99, -102, -120, -125
	if os.Getenv("ZKVERIFY_TEST_ANSWERS") == "all" {
		for code := -1; code >= -130; code-- {
			codes = append(codes, code)
		}
		return codes
	}
	codes = append(goesOn[:len(goesOn):len(goesOn)], systemError, unimplemented, unknown, noAuth, localSession, quota, throttledOp)
	if os.Getenv("ZKVERIFY_TEST_SERVERS") != "real" {
		i %= len(codes)
		codes = codes[i : i+1]
	}
	return codes
}

// answeredWorld is two clients of servers in a bubble.
type answeredWorld struct {
	*testing.T
	e              *zktest.Ensemble
	subject, other *recipes.Client
	faults         *zktest.Client // of subject
	wire           *intercept
	lease          *recipes.Lease // lease that prepare acquired for the subject

	mu    sync.Mutex
	made  []int32     // requests of the subject, without beats
	at    []time.Time // those of made
	kinds map[zktest.Operation]bool
}

func newAnsweredWorld(t *testing.T, e *zktest.Ensemble, namespace string) *answeredWorld {
	w := &answeredWorld{T: t, e: e, kinds: make(map[zktest.Operation]bool), faults: e.Client("subject" + namespace)}
	w.wire = &intercept{through: w.faults.DialContext}
	connect := func(dial func(context.Context, string, string) (net.Conn, error)) *recipes.Client {
		c, err := recipes.Connect(t.Context(), e.Servers(), recipes.WithDialer(dial), recipes.WithNamespace(namespace))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	w.other, w.subject = connect(e.Client("other"+namespace).DialContext), connect(w.wire.dial)
	return w
}

func (w *answeredWorld) close() {
	_ = w.subject.Close(context.Background())
	_ = w.other.Close(context.Background())
}

// watch records the subject's requests from now on.
func (w *answeredWorld) watch() {
	w.wire.on(func(op int32) bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		if op == opMulti {
			w.kinds[zktest.OpPart] = true
		}
		if slices.Contains(zktest.Operations(), zktest.Operation(op)) && op != opSync {
			w.kinds[zktest.Operation(op)] = true
		}
		if op != opSync && op != opSetWatches && op > 0 && op != opPing && op < 100 { // go-zookeeper sets watches anew with each connection
			w.made, w.at = append(w.made, op), append(w.at, time.Now())
		}
		return true
	}, nil)
}

// asked returns how often the subject made each request between two instants.
func (w *answeredWorld) asked(from, to time.Time) (n int, ops map[int32]int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ops = make(map[int32]int)
	for i, at := range w.at {
		if !at.Before(from) && at.Before(to) {
			n++
			ops[w.made[i]]++
		}
	}
	return n, ops
}

// rehearse returns the number of requests that a call makes, and their operations.
func (w *answeredWorld) rehearse(call answeredCall) (int, []zktest.Operation) {
	w.prepare(call)
	w.watch()
	if err := call.call(w.T.Context(), w); err != nil {
		w.Fatalf("without a fault: %v", err)
	}
	w.close()
	return len(w.made), slices.Sorted(maps.Keys(w.kinds))
}

func (w *answeredWorld) prepare(call answeredCall) {
	w.Helper()
	if call.prepare == nil {
		return
	}
	if err := call.prepare(w.T.Context(), w); err != nil {
		w.Fatalf("prepare: %v", err)
	}
}

// answerPatience bounds a call.
const answerPatience = 30 * time.Second

// answers makes the servers answer an operation of a call with a code. Without faults the call
// makes the number of requests in usual.
func (w *answeredWorld) answers(call answeredCall, usual int, op zktest.Operation, code int) {
	defer w.close()
	fail := func(format string, args ...any) {
		w.Errorf("%s, operation %d, code %d: %s", call.name, op, code, fmt.Sprintf(format, args...))
	}
	w.prepare(call)
	w.watch()
	w.faults.Answer(op, code)
	began := time.Now()
	ctx, cancel := context.WithTimeout(w.T.Context(), answerPatience)
	defer cancel()
	err := call.call(ctx, w)
	took := time.Since(began)

	var answer *recipes.ServerError
	untrue := slices.Contains(goesOn, code)
	switch told := errors.As(err, &answer); {
	case told && int(answer.Code) != code:
		fail("%v", err)
	case !told && err != nil && !untrue && !errors.Is(err, recipes.ErrLeaseLost):
		fail("it ends with another error: %v", err)
	case told && code == throttledOp && took > answerPatience*9/10, told && code != throttledOp && !untrue && took > call.waits+time.Second:
		fail("it ends after %v", took)
	}
	limit := func(what string, from time.Time, d time.Duration, most int) {
		if n, ops := w.asked(from, from.Add(d)); n > most {
			fail("%d requests %s: %v; it ended after %v with %v", n, what, ops, took, err)
		}
	}
	time.Sleep(20 * time.Second)
	limit("in the first second", began, time.Second, 20+usual)
	ten := 24 // a double barrier makes 22 when servers answer that its nodes are gone
	if code == expiredCode || code == closingCode || code == movedCode {
		ten = 30 // each answer, also to a heartbeat, ends the connection and all requests under way on it
	}
	limit("in the next ten", began.Add(time.Second), 10*time.Second, ten)
	limit("in the ten seconds before the call ended", began.Add(took-10*time.Second), 10*time.Second, ten+20)
	limit("in the ten seconds after it ended", began.Add(took+time.Second), 10*time.Second, ten)
	limit("in the ten seconds then", began.Add(took+10*time.Second), 10*time.Second, ten)
	w.faults.Answer(op, 0)
	time.Sleep(30 * time.Second)
	limit("in the end", time.Now().Add(-10*time.Second), 10*time.Second, 0)
	believed := code == noNode && (op == zktest.OpDelete || op == zktest.OpMulti || op == zktest.OpPart) // that the node to delete is gone
	if tree := w.e.Tree("/"); strings.Contains(tree, fmt.Sprintf("of session %#x", w.faults.Session())) && !believed {
		fail("nodes are left: %s", tree)
	}
}

// answeredCall is a call of a client that releases afterwards what it acquired.
type answeredCall struct {
	name    string
	prepare func(context.Context, *answeredWorld) error // by other, or by subject before the answers
	call    func(context.Context, *answeredWorld) error
	waits   time.Duration // for other clients, without faults
	leaves  []string      // paths of nodes that may remain
}

// held is a call that gets a lease, and releases it.
func held[L interface {
	Release(context.Context) error
}](acquire func(context.Context, *answeredWorld) (L, error)) func(context.Context, *answeredWorld) error {
	return func(ctx context.Context, w *answeredWorld) error {
		l, err := acquire(ctx, w)
		if err != nil {
			return err
		}
		return l.Release(ctx)
	}
}

// blocked makes the other client hold a lock for a second.
func blocked(lock func(*recipes.Client) recipes.Lock) func(context.Context, *answeredWorld) error {
	return func(ctx context.Context, w *answeredWorld) error {
		l, err := lock(w.other).Acquire(ctx)
		if err == nil {
			time.AfterFunc(time.Second, func() { _ = l.Release(context.Background()) })
		}
		return err
	}
}

func mutexAt(c *recipes.Client) recipes.Lock { return recipes.NewMutex(c, "/a/lock") }

func semaphoreAt(c *recipes.Client) recipes.Lock { return recipes.NewSemaphore(c, "/a/permits", 1) }

// locking returns a call that acquires.
func locking(lock func(*recipes.Client) recipes.Lock) func(context.Context, *answeredWorld) error {
	return held(func(ctx context.Context, w *answeredWorld) (*recipes.Lease, error) {
		return lock(w.subject).Acquire(ctx)
	})
}

// holdingMutex makes the subject hold a mutex.
func holdingMutex(ctx context.Context, w *answeredWorld) (err error) {
	w.lease, err = recipes.NewMutex(w.subject, "/a/lock").Acquire(ctx)
	return err
}
