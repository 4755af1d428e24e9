package models

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// logged writes operations to a file as Jepsen logs them: process, type, f and value with tabs
// between them. Here "0+acquire" calls, "0=acquire" is ok, "0-acquire" fails and "0?acquire" is
// info; a value may follow.
func logged(t *testing.T, ops string) string {
	t.Helper()
	var b strings.Builder
	for op := range strings.SplitSeq(ops, ", ") {
		what, value, _ := strings.Cut(op, " ")
		at := strings.IndexAny(what, "+=-?")
		kind := map[byte]string{'+': "invoke", '=': "ok", '-': "fail", '?': "info"}[what[at]]
		if value == "" {
			value = "nil"
		}
		fmt.Fprintf(&b, "%s\t:%s\t:%s\t%s\n", what[:at], kind, what[at+1:], value)
	}
	path := filepath.Join(t.TempDir(), "history.txt")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// judged judges a file.
func judged(ctx context.Context, path string, as histories.As, engine checker.Engine) (*checker.Report, error) {
	f, err := histories.OpenAs(ctx, path, histories.Limits{}, as)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	caps := Caps{Engine: engine, Time: time.Minute, Memory: 64 << 20}
	if f.Registers() {
		return Registers(ctx, f.Reading(), f.Operations(), caps)
	}
	h := f.Header()
	g, is := Guarantee(ctx, &h, f.Reading().Open, caps)
	if !is {
		return nil, fmt.Errorf("%s has no models", path)
	}
	return checker.CheckEvents(ctx, h, f.Events(), checker.WithGuarantee(g), checker.WithOwnGuaranteesOnly())
}

func TestAHistoryIsJudgedByTheModelOfItsOperations(t *testing.T) {
	const (
		good    = verdict.Holds
		bad     = verdict.Violated
		unknown = verdict.Unknown
		held    = "0+acquire, 0=acquire, "
	)
	for _, c := range []struct {
		name, model string
		size        int
		ops         string
		want        verdict.Outcome
	}{
		{"one after the other", "", 0, held + "0+release, 0=release, 1+acquire, 1=acquire", good},
		{"two at one time", "", 0, held + "1+acquire, 1=acquire", bad},
		{"by other names", "", 0, "0+lock, 0=lock, 1+try-lock, 1=try-lock true", bad},
		{"a try that returns false", "", 0, held + "1+try-acquire, 1=try-acquire false", good},
		{"an acquire that returns false", "", 0, held + "1+acquire, 1=acquire false", good},
		{"an acquire that fails", "", 0, held + "1+acquire, 1-acquire", good},
		{"an acquire without an answer", "", 0, "0+acquire, 0?acquire, 1+acquire, 1=acquire", good},
		{"an acquire without an answer, and one that lasts", "", 0, held + "1+acquire, 1?acquire, 0+release, 0=release, 2+acquire, 2=acquire, 3+acquire, 3=acquire", bad},
		{"a release without an answer", "", 0, held + "0+release, 0?release, 1+acquire, 1=acquire, 2+acquire, 2=acquire", bad},
		{"a release that fails for another reason, and is repeated", "", 0, held + "0+release, 0-release nil\t:connection-refused, 0+release, 0=release, 1+acquire, 1=acquire", good},
		{"a release that fails for another reason, and the lock goes on", "", 0, held + "0+release, 0-release nil\t:connection-refused, 1+acquire, 1=acquire", bad},
		{"released twice", "", 0, held + "0+release, 0=release, 0+release, 0=release", bad},
		{"released before it was held", "", 0, "0+release, 0=release", bad},
		{"released by another process", "", 0, held + "1+release, 1=release, 2+acquire, 2=acquire", unknown},
		{"released by another process", "mutex", 0, held + "1+release, 1=release, 2+acquire, 2=acquire", good},
		{"released by another process", "owner-mutex", 0, held + "1+release, 1=release", bad},
		{"released by two", "mutex", 0, held + "1+release, 1=release, 2+release, 2=release", bad},
		{"acquired twice", "", 0, held + "0+acquire, 0=acquire", unknown},
		{"acquired twice", "owner-mutex", 0, held + "0+acquire, 0=acquire", bad},
		{"acquired and released twice", "reentrant-mutex", 0, held + held + "0+release, 0=release, 0+release, 0=release, 1+acquire, 1=acquire", good},
		{"acquired twice and released once", "reentrant-mutex", 0, held + held + "0+release, 0=release, 1+acquire, 1=acquire", bad},
		{"acquired three times of two", "reentrant-mutex", 2, held + held + held + "1+acquire", bad},
		{"two of two permits", "semaphore", 2, held + "1+acquire, 1=acquire", good},
		{"three of two permits", "semaphore", 2, held + "1+acquire, 1=acquire, 2+acquire, 2=acquire", bad},
		{"permits by number", "semaphore", 3, "0+acquire 2, 0=acquire 2, 1+acquire 2, 1=acquire 2", bad},
		{"permits that another process releases", "semaphore", 2, held + "1+release, 1=release, 1+acquire, 1=acquire, 2+acquire, 2=acquire", good},
		{"permits that another process releases", "owner-semaphore", 2, held + "1+release, 1=release", bad},
		{"permits that no process holds", "semaphore", 2, "0+release, 0=release", bad},
		{"growing fences", "", 0, "0+acquire, 0=acquire {:client \"a\" :fence 3}, 0+release, 0=release {:client \"a\"}, 1+acquire, 1=acquire {:client \"b\" :fence 4}", good},
		{"falling fences", "", 0, "0+acquire, 0=acquire {:client \"a\" :fence 3}, 0+release, 0=release {:client \"a\"}, 1+acquire, 1=acquire {:client \"b\" :fence 2}", bad},
		{"a fence twice", "fenced-mutex", 0, "0+acquire, 0=acquire 3, 0+release, 0=release, 1+acquire, 1=acquire 3", bad},
		{"numbers that may be fences, and grow", "", 0, "0+acquire, 0=acquire 3, 0+release, 0=release, 1+acquire, 1=acquire 4", good},
		{"numbers that may be fences, and fall", "", 0, "0+acquire, 0=acquire 3, 0+release, 0=release, 1+acquire, 1=acquire 2", unknown},
		{"a grant without a fence", "fenced-mutex", 0, "0+acquire, 0=acquire {:fence 3}, 0+release, 0=release, 1+acquire, 1=acquire {:fence -1}", good},
		{"one fence for a hold", "reentrant-fenced-mutex", 0, "0+acquire, 0=acquire {:fence 3}, 0+acquire, 0=acquire {:fence 3}", good},
		{"two fences in a hold", "reentrant-fenced-mutex", 0, "0+acquire, 0=acquire {:fence 3}, 0+acquire, 0=acquire {:fence 4}", bad},
		{"a fence after none", "reentrant-fenced-mutex", 0, "0+acquire, 0=acquire {:fence -1}, 0+acquire, 0=acquire {:fence 4}", good},
		{"a client of two processes", "", 0, "0+acquire \"i\", 0=acquire {:client \"a\" :fence 1}, 5+release \"j\", 5=release {:client \"a\"}", good},
		{"an acquire without an answer of a client that nothing tells", "", 0, "0+acquire \"i\", 0?acquire \"i\", 5+release \"j\", 5=release {:client \"a\" :fence -1}", good},
		{"two locks in tuples", "", 0, "0+acquire [1 nil], 0=acquire [1 nil], 1+acquire [2 nil], 1=acquire [2 nil]", good},
		{"one lock in tuples", "", 0, "0+acquire [1 nil], 0=acquire [1 nil], 1+acquire [1 nil], 1=acquire [1 nil]", bad},
		{"two locks by name", "", 0, "0+acquire :a, 0=acquire :a, 1+acquire :b, 1=acquire :b", good},
		{"a lock by name", "", 0, "0+acquire :a, 0=acquire :a, 1+acquire :a, 1=acquire :a", bad},

		{"what was written is read", "", 0, "0+write 3, 0=write 3, 1+read, 1=read 3", good},
		{"what was overwritten is read", "", 0, "0+write 3, 0=write 3, 0+write 4, 0=write 4, 1+read, 1=read 3", bad},
		{"one of two that are written", "", 0, "0+write 3, 1+write 4, 0=write 3, 1=write 4, 2+read, 2=read 3", good},
		{"first one and then the other and then the first", "", 0, "0+write 3, 1+write 4, 0=write 3, 1=write 4, 2+read, 2=read 3, 2+read, 2=read 4", bad},
		{"a write without an answer, read late", "", 0, "0+write 3, 0?write 3, 1+write 4, 1=write 4, 1+read, 1=read 4, 1+read, 1=read 3", good},
		{"a write that failed is read", "", 0, "0+write 3, 0-write 3, 1+read, 1=read 3", bad},
		{"what it began with is read", "", 0, "1+read, 1=read 7, 0+write 3, 0=write 3, 1+read, 1=read 3", good},
		{"what it began with comes back", "", 0, "1+read, 1=read 7, 0+write 3, 0=write 3, 1+read, 1=read 7", bad},
		{"a cas of what is there", "", 0, "0+write 3, 0=write 3, 0+cas [3 4], 0=cas [3 4], 1+read, 1=read 4", good},
		{"a cas of what is not there", "", 0, "0+write 3, 0=write 3, 0+cas [2 4], 0=cas [2 4]", bad},
		{"a cas that failed", "", 0, "0+write 3, 0=write 3, 0+cas [2 4], 0-cas [2 4], 1+read, 1=read 3", good},
		{"registers by key", "", 0, "0+write [1 3], 0=write [1 3], 0+cas [2 [0 4]], 0=cas [2 [0 4]], 1+read [1 nil], 1=read [1 3]", good},
		{"a register by key", "", 0, "0+write [1 3], 0=write [1 3], 1+read [1 nil], 1=read [1 4]", bad},
		{"a transaction of two", "", 0, "0+txn [[:write :x 1] [:write :y 2]], 0=txn [[:write :x 1] [:write :y 2]], 1+txn [[:read :x nil] [:read :y nil]], 1=txn [[:read :x 1] [:read :y 2]]", good},
		{"half of a transaction", "", 0, "0+txn [[:write :x 1] [:write :y 2]], 0=txn [[:write :x 1] [:write :y 2]], 1+txn [[:read :x nil] [:read :y nil]], 1=txn [[:read :x 1] [:read :y 0]]", bad},
		{"a transaction reads what it wrote", "", 0, "0+txn [[:w :x 1] [:r :x nil]], 0=txn [[:w :x 1] [:r :x 2]]", bad},
	} {
		t.Run(c.name+" "+c.model, func(t *testing.T) {
			path := logged(t, c.ops)
			for _, engine := range []checker.Engine{checker.Both, checker.Interval} {
				r, err := judged(t.Context(), path, histories.As{Model: c.model, Size: c.size}, engine)
				if err != nil {
					t.Fatal(err)
				}
				if got := r.Outcome(); got != c.want {
					t.Errorf("%s: %s: %s, want %s", engine, got, r.Reason(), c.want)
				}
			}
		})
	}
}

// The folder that ZKVERIFY_TEST_HISTORIES names has files with known verdicts in folders "good"
// and "bad", as the data of Knossos do.
func TestFilesWithKnownVerdictsGetThem(t *testing.T) {
	root := os.Getenv("ZKVERIFY_TEST_HISTORIES")
	if root == "" {
		t.Skip("ZKVERIFY_TEST_HISTORIES names no folder")
	}
	if err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		want, known := map[string]verdict.Outcome{"good": verdict.Holds, "bad": verdict.Violated}[filepath.Base(filepath.Dir(path))]
		if err != nil || d.IsDir() || !known || filepath.Ext(path) != ".edn" {
			return err
		}
		begun := time.Now()
		r, err := judged(t.Context(), path, histories.As{}, checker.Both)
		switch {
		case err != nil:
			t.Errorf("%s: %v", path, err)
		case r.Outcome() == verdict.NotExercised:
			t.Logf("%s: nothing was done", path)
		case r.Outcome() != want:
			t.Errorf("%s: %s: %s", path, r.Outcome(), r.Reason())
		}
		t.Logf("%s %s", path, time.Since(begun).Round(time.Millisecond))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
