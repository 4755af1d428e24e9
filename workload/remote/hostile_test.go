package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/zkverify/zkverify/workload/internal/protocol"
)

// hostileEnv makes the test binary a worker that does harm, which its value names, at the
// command of that name, or at hello, and answers the other commands. leaverEnv makes it a
// process that never ends, which such a worker leaves behind.
const (
	hostileEnv = "ZKVERIFY_TEST_HOSTILE"
	leaverEnv  = "ZKVERIFY_TEST_LEAVER"
)

func TestMain(m *testing.M) {
	if worst, at, is := strings.Cut(os.Getenv(hostileEnv), "@"); is {
		beHostile(worst, at)
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func beHostile(worst, at string) {
	if file := os.Getenv(leaverEnv); file != "" {
		_ = os.WriteFile(file, []byte(strconv.Itoa(os.Getpid())), 0o600)
		time.Sleep(time.Hour)
	}
	var mu sync.Mutex
	out := bufio.NewWriter(os.Stdout)
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(out, format+"\n", args...)
		_ = out.Flush()
	}
	say(`{"at":1,"event":"hello","protocol":1}`)
	if at == protocol.SayHello {
		doWorst(worst, &mu, say)
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var c protocol.Command
		_ = json.Unmarshal(lines.Bytes(), &c)
		switch {
		case c.Do == at:
			go doWorst(worst, &mu, say)
			if worst == "reads no more" {
				time.Sleep(time.Hour)
			}
		case c.Do != protocol.DoCancel:
			say(`{"at":1,"id":%d,"valid":true,"offers":["mutex"]}`, c.ID)
		}
	}
	if worst == "stays" {
		time.Sleep(time.Hour)
	}
}

func doWorst(worst string, writing *sync.Mutex, say func(string, ...any)) {
	switch worst {
	case "floods with events":
		for {
			say(`{"at":1,"event":"session","client":1,"session":"0x1"}`)
		}
	case "floods with answers":
		for {
			say(`{"at":1,"id":77777}`)
		}
	case "never ends a line":
		writing.Lock()
		for {
			_, _ = os.Stdout.WriteString(strings.Repeat("x", 1<<16))
		}
	case "gives a name of a MiB":
		say(`{"at":1,"event":"session","client":1,"session":"0x%s"}`, strings.Repeat("1", 1<<19))
	case "closes its output":
		_ = os.Stdout.Close()
	case "stops":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	case "ends":
		os.Exit(3)
	case "fills its log":
		for text := []byte(strings.Repeat("noise\n", 10_000)); ; {
			_, _ = os.Stderr.Write(text)
		}
	}
}

// hostile returns the command of a hostile worker.
func hostile(worst, at string) []string {
	return []string{"/usr/bin/env", hostileEnv + "=" + worst + "@" + at, os.Args[0]}
}

// For every harm, at every command: all commands end, one sentence gives the reason, and no
// process of the worker is left.
func TestAHostileWorkerEndsWhatIsAskedOfItAndNothingElse(t *testing.T) {
	sentences := map[string]string{
		"floods with events":    "it says more than it is asked",
		"floods with answers":   "there is no command 77777 under way",
		"never ends a line":     "is longer than 1048576 bytes",
		"gives a name of a MiB": "session has 524290 bytes, more than 1000",
		"closes its output":     "worker 1 closed its standard output and went on",
		"stops":                 "worker 1 has not answered the command ",
		"reads no more":         "worker 1 has not answered the command ",
		"ends":                  "worker 1 ended by itself (exit status 3)",
		"fills its log":         "worker 1 has not answered the command ",
		"stays":                 "worker 1 did not end within 2s of the end of its standard input",
	}
	everywhere := []string{protocol.DoOpen, "acquire", protocol.DoValid, "release", protocol.DoClose, protocol.DoCensus}
	for worst, stages := range map[string][]string{
		"floods with events": everywhere, "floods with answers": everywhere, "never ends a line": everywhere,
		"closes its output": {protocol.SayHello, protocol.DoOpen, protocol.DoCensus},
		"ends":              {protocol.DoOpen, "acquire", protocol.DoCensus},
		// These take as long as a worker has to answer.
		"gives a name of a MiB": {"acquire"}, "stops": {"acquire"}, "reads no more": {protocol.DoOpen}, "fills its log": {protocol.DoValid},
		"stays": {"nothing"},
	} {
		for _, at := range stages {
			t.Run(worst+" at "+at, func(t *testing.T) {
				t.Parallel()
				logs := t.TempDir()
				cfg := Config{N: 1, Command: hostile(worst, at), Logs: logs, Patience: 20 * time.Second, Slack: time.Second}
				if strings.HasPrefix(sentences[worst], "worker 1 has not answered") {
					cfg.Patience = time.Second
				}
				said := useAll(t, cfg)
				if !strings.Contains(said, sentences[worst]) {
					t.Errorf("it ended with %.2000q, which does not say %q", said, sentences[worst])
				}
				if len(said) > 20_000 {
					t.Errorf("%d bytes say so", len(said))
				}
				info, err := os.Stat(filepath.Join(logs, "worker-1.log"))
				if err != nil {
					t.Fatal(err)
				}
				if most := int64(2<<20 + 200); info.Size() > most {
					t.Errorf("its log has %d bytes, more than %d", info.Size(), most)
				}
			})
		}
	}
}

// useAll sends every command to a worker, and returns the error that it died with, or else that
// of the end.
func useAll(t *testing.T, cfg Config) string {
	t.Helper()
	var mu sync.Mutex
	var said error
	w, err := Start(t.Context(), cfg, func(err error) {
		mu.Lock()
		defer mu.Unlock()
		said = errors.Join(said, err)
	})
	if err == nil {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if c, err := w.Open(t.Context(), 0, Opening{}); err == nil {
			if l, err := c.Acquire(ctx, "lock-0"); err == nil {
				_ = l.Valid()
				_ = l.Release(ctx)
			}
			_ = c.Close(ctx)
			c.Crash()
		}
		_, _ = w.Goroutines()
	}
	ended := w.End()
	mu.Lock()
	defer mu.Unlock()
	return fmt.Sprint(errors.Join(said, ended))
}

// A worker may have started others, which left its group and session and have another parent.
func TestWhatAWorkerHasStartedEndsWithIt(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip(err)
	}
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("only where the environment of processes can be seen")
	}
	file := filepath.Join(t.TempDir(), "pid")
	leave := fmt.Sprintf("(%s=%s setsid '%s' &) ; while ! test -s %s; do sleep 0.01; done; exec '%s'", leaverEnv, file, os.Args[0], file, os.Args[0])
	useAll(t, Config{N: 1, Command: []string{"/usr/bin/env", hostileEnv + "=nothing@nothing", "/bin/sh", "-c", leave}, Logs: t.TempDir()})
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) { // it dies a moment after its kill
		stat, err := os.ReadFile(filepath.Join("/proc", string(text), "stat"))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		if time.Now().After(until) {
			t.Errorf("it has left process %d", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
			return
		}
	}
}
