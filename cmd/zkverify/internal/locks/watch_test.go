package locks

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes/inspect"
)

func TestWatchPrintsPlainTablesToAFile(t *testing.T) {
	b := newBench(t)
	b.ephemeral("/l/a/"+curator(1, "lock-"), "one")
	b.ephemeral("/l/b/"+curator(1, "lock-"), "\x1b[2Jtwo")
	b.ephemeral("/l/b/"+curator(2, "lock-"), "three")
	a := b.locks("watch", "--interval", "1ms", "--count", "3", "/l")
	a.want(t, 0, nil, nil)
	tables := strings.Split(strings.TrimSpace(a.out), "\n\n")
	if len(tables) != 3 || strings.Contains(a.out, "\x1b") {
		t.Errorf("%d tables:\n%q", len(tables), a.out)
	}
	for i, want := range []string{
		`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d   2 locks in use, 1 waited for, read every \d+ms$`,
		`^LOCK +HOLDER +HELD +WAITERS +GRANTS/S +HOLD p50 +p99 +WAIT p50 +p99 +RECIPE$`,
		`^/l/b +\\u001b\[2Jtwo +[0-9.]+m?s +1 +0\.0 +- +- +- +- +mutex$`,
		`^/l/a +one +[0-9.]+m?s +0 +0\.0 +- +- +- +- +mutex$`,
	} {
		if line := strings.Split(tables[1], "\n")[i]; !regexp.MustCompile(want).MatchString(line) {
			t.Errorf("line %d is %q, want %s", i, line, want)
		}
	}
	b.locks("watch", "--interval", "1ms", "--count", "1", "--top", "1", "/l").want(t, 0, []string{"and 1 more lock\n"}, nil)
	a = b.locks("watch", "--json", "--interval", "1ms", "--count", "2", "/l")
	lines := strings.Split(strings.TrimSpace(a.out), "\n")
	var j tableJSON
	if err := json.Unmarshal([]byte(lines[1]), &j); err != nil || len(lines) != 2 || len(j.Locks) != 2 || j.Locks[0].Path != "/l/b" || j.Locks[0].Grants == nil || j.Locks[0].Waiters != 1 {
		t.Errorf("error %v, JSON: %s", err, a.out)
	}
}

// On a terminal each table replaces the one before, and fits the screen.
func TestWatchFillsATerminal(t *testing.T) {
	b := newBench(t)
	for _, lock := range []string{"/l/a", "/l/b", "/l/c"} {
		b.ephemeral(lock+"/"+curator(1, "lock-"), "Zürich")
	}
	var out, said output
	con := &Console{Out: &out, Err: &said, Screen: &out, Size: func() (int, int) { return 30, 5 }}
	run(t, t.Context(), b.addrs, con, "watch", "--interval", "1ms", "--count", "2", "/l").want(t, 0, nil, nil)
	screens := strings.Split(out.String(), "\x1b[H")
	if len(screens) != 3 || screens[0] != "\x1b[2J" {
		t.Fatalf("%d screens: %q", len(screens), screens)
	}
	for _, screen := range screens[1:] {
		lines := strings.Split(screen, "\x1b[K\n")
		if len(lines) != 5 || lines[4] != "\x1b[J" {
			t.Errorf("the screen has %d lines: %q", len(lines), lines)
		}
		for _, line := range lines[:4] {
			if n := len([]rune(line)); n > 30 {
				t.Errorf("%d columns: %q", n, line)
			}
		}
	}
}

func TestAnInterruptEndsWatchInGoodOrder(t *testing.T) {
	b := newBench(t)
	b.ephemeral("/l/"+curator(1, "lock-"), "a")
	ctx, cancel := context.WithCancel(t.Context())
	var out, said output
	ended := make(chan answer)
	go func() {
		ended <- run(t, ctx, b.addrs, &Console{Out: &out, Err: &said}, "watch", "--interval", "1ms", "/l")
	}()
	for !strings.Contains(out.String(), "/l ") {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if a := <-ended; a.status != 0 || a.err != "" {
		t.Errorf("exit status %d: %s", a.status, a.err)
	}
}

// The path may be a container, which the servers remove when its last lock has gone.
func TestWatchGoesOnWhenThePathIsGone(t *testing.T) {
	b := newBench(t)
	node := "/l/" + curator(1, "lock-")
	b.ephemeral(node, "a")
	ctx, cancel := context.WithCancel(t.Context())
	var out, said output
	ended := make(chan answer)
	go func() {
		ended <- run(t, ctx, b.addrs, &Console{Out: &out, Err: &said}, "watch", "--interval", "1ms", "/l")
	}()
	shows := func(text string) {
		t.Helper()
		from := len(out.String())
		for !strings.Contains(out.String()[from:], text) {
			time.Sleep(time.Millisecond)
		}
	}
	shows("1 lock in use")
	for _, path := range []string{node, "/l"} {
		if err := b.conn.Delete(path, -1); err != nil {
			t.Fatal(err)
		}
	}
	shows("0 locks in use")
	b.ephemeral(node, "a")
	shows("1 lock in use")
	cancel()
	if a := <-ended; a.status != 0 || a.err != "" {
		t.Errorf("exit status %d: %s", a.status, a.err)
	}
}

func TestABoundIsShownAsOne(t *testing.T) {
	for want, q := range map[string]inspect.Quantiles{
		"-\t-":        {},
		"<400ms\t3s":  {N: 1, P50: 400 * time.Millisecond, AtMost50: true, P99: 3 * time.Second},
		"200ms\t<10s": {N: 2, P50: 200 * time.Millisecond, P99: 10 * time.Second, AtMost99: true},
	} {
		if got := quantiles(q); got != want {
			t.Errorf("%+v is %q, want %q", q, got, want)
		}
	}
}

// However long the names are, the first 80 columns have the holder, its hold and the waiters.
func TestWatchShowsTheHolderIn80Columns(t *testing.T) {
	b := newBench(t)
	b.ephemeral("/"+strings.Repeat("long/", 20)+"name/"+curator(1, "lock-"), strings.Repeat("holder-", 10)+"4711")
	b.ephemeral("/"+strings.Repeat("long/", 20)+"name/"+curator(2, "lock-"), "")
	var out, said output
	con := &Console{Out: &out, Err: &said, Screen: &out, Size: func() (int, int) { return 80, 24 }}
	run(t, t.Context(), b.addrs, con, "watch", "--interval", "1ms", "--count", "1", "/").want(t, 0, nil, nil)
	if line := strings.Split(out.String(), "\x1b[K\n")[2]; !regexp.MustCompile(`^/long/long/.*….*long/name   holder-.*…lder-holde…   [0-9.]+m?s +1 `).MatchString(line) {
		t.Errorf("%q", line)
	}
}
