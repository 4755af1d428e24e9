package ensemble_test

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
)

// script writes an executable that replaces java.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "java")
	must(t, os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755))
	return path
}

func TestWhatIsMissingIsNamedInOneLine(t *testing.T) {
	t.Setenv("ZKVERIFY_ZOOKEEPER", "")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	for name, c := range map[string]struct {
		config ensemble.LocalConfig
		want   error
		names  string
	}{
		"Java is not where it is said to be": {ensemble.LocalConfig{Java: "/no/such/java"}, ensemble.ErrNoJava, "/no/such/java"},
		"ZooKeeper is not where it is said to be": {
			ensemble.LocalConfig{ZooKeeper: "/no/such/zookeeper"}, ensemble.ErrNoZooKeeper, "/no/such/zookeeper"},
		"a client port is taken": {
			ensemble.LocalConfig{Servers: 1, ClientPorts: []int{port}}, ensemble.ErrPortTaken, strconv.Itoa(port)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ensemble.StartLocal(testContext(t), c.config)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.names) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("JAVA_HOME is wrong", func(t *testing.T) {
		t.Setenv("JAVA_HOME", "/no/such/home")
		if _, err := ensemble.FindJava(""); !errors.Is(err, ensemble.ErrNoJava) || !strings.Contains(err.Error(), "/no/such/home") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("ZOOKEEPER_HOME is wrong", func(t *testing.T) {
		t.Setenv("ZOOKEEPER_HOME", "/no/such/home")
		if _, err := ensemble.FindZooKeeper(""); !errors.Is(err, ensemble.ErrNoZooKeeper) || !strings.Contains(err.Error(), "/no/such/home") {
			t.Errorf("got %v", err)
		}
	})
}

func TestAServerThatDiesAtStartShowsItsLastLogLines(t *testing.T) {
	start := time.Now()
	_, err := ensemble.StartLocal(testContext(t), ensemble.LocalConfig{Java: script(t, "echo cannot go on; exit 1")})
	if !errors.Is(err, ensemble.ErrServerDied) || !strings.Contains(err.Error(), "cannot go on") {
		t.Errorf("got %v", err)
	}
	if time.Since(start) > 5*time.Second {
		t.Errorf("StartLocal took %v to return", time.Since(start))
	}
}

// An election port that was lost ends the server seconds and many lines later.
func TestALostPortIsReplacedHoweverLongTheServerWentOn(t *testing.T) {
	starts := filepath.Join(t.TempDir(), "starts")
	body := "echo start >> " + starts + "; echo java.net.BindException: Address already in use; seq 100; exit 14"
	_, err := ensemble.StartLocal(testContext(t), ensemble.LocalConfig{Java: script(t, body), Servers: 1})
	if !errors.Is(err, ensemble.ErrServerDied) {
		t.Errorf("got %v", err)
	}
	text, err := os.ReadFile(starts)
	must(t, err)
	if n := strings.Count(string(text), "start"); n < 2 {
		t.Errorf("the server was started %d times, wanted one more with other ports", n)
	}
}

func TestAPortThatAnEarlierServerLostIsNotBlamed(t *testing.T) {
	starts := filepath.Join(t.TempDir(), "starts")
	body := "echo start >> " + starts + "; test $(wc -l < " + starts + ") = 1 && echo Address already in use; exit 14"
	_, err := ensemble.StartLocal(testContext(t), ensemble.LocalConfig{Java: script(t, body), Servers: 1, Dir: t.TempDir()})
	if !errors.Is(err, ensemble.ErrServerDied) || strings.Contains(err.Error(), "taken") {
		t.Errorf("got %v", err)
	}
	text, err := os.ReadFile(starts)
	must(t, err)
	if n := strings.Count(string(text), "start"); n != 2 {
		t.Errorf("the server was started %d times, wanted 2", n)
	}
}

func TestServersThatNeverServeEndTheStartInTime(t *testing.T) {
	_, err := ensemble.StartLocal(testContext(t), ensemble.LocalConfig{
		Java: script(t, "echo here I sit; exec sleep 60"), StartLimit: 300 * time.Millisecond,
	})
	if !errors.Is(err, ensemble.ErrNotServing) || !strings.Contains(err.Error(), "here I sit") {
		t.Errorf("got %v", err)
	}
}

// brieflyEnv makes the test binary a server that reports once that it serves, and accepts
// connections without an answer from then on.
const brieflyEnv = "ZKVERIFY_TEST_BRIEFLY"

func serveBriefly() {
	config, err := os.ReadFile(os.Args[len(os.Args)-1])
	if err != nil {
		panic(err)
	}
	_, rest, _ := strings.Cut(string(config), "clientPort=")
	port, _, _ := strings.Cut(rest, "\n")
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		panic(err)
	}
	for answered := false; ; {
		conn, err := l.Accept()
		if err != nil {
			panic(err)
		}
		if answered {
			go func() { _, _ = io.Copy(io.Discard, conn) }() // ends with the process
			continue
		}
		_, _ = io.WriteString(conn, "Zookeeper version: 3.8.0-5a02, built on 2022\nZxid: 0x1\nMode: follower\n")
		_, _ = conn.Read(make([]byte, 4))
		answered = true
		conn.Close()
	}
}

// TestAServerIsAskedNoMoreThanThatItServes starts servers that report once that they
// serve: a second question may go unanswered on a busy machine.
func TestAServerIsAskedNoMoreThanThatItServes(t *testing.T) {
	needsServers(t)
	self, err := filepath.Abs(os.Args[0])
	must(t, err)
	l, err := ensemble.StartLocal(testContext(t), ensemble.LocalConfig{Java: script(t, brieflyEnv+`=1 exec "`+self+`" "$@"`)})
	if err != nil {
		t.Fatal(err)
	}
	if v := l.Version(); v != "3.8.0" {
		t.Errorf("version %q", v)
	}
	must(t, l.Close())
}

func TestAnApacheDistributionRunsFromItsDirectory(t *testing.T) {
	needsServers(t)
	// Debian's jars in the shape of Apache's: everything in lib.
	home := t.TempDir()
	lib := filepath.Join(home, "lib")
	must(t, os.Mkdir(lib, 0o755))
	class, err := ensemble.FindZooKeeper("")
	must(t, err)
	var jars []string
	for _, jar := range filepath.SplitList(class) {
		found, err := filepath.Glob(jar)
		must(t, err)
		jars = append(jars, found...)
	}
	slices.Sort(jars)
	for _, jar := range slices.Compact(jars) {
		must(t, os.Symlink(jar, filepath.Join(lib, filepath.Base(jar))))
	}
	t.Setenv("ZKVERIFY_ZOOKEEPER", "")
	t.Setenv("ZOOKEEPER_HOME", home)
	l, err := ensemble.StartLocal(testContext(t), ensemble.LocalConfig{Servers: 1, FullJIT: true})
	must(t, err)
	must(t, l.Close())
}

// BenchmarkStart measures the time until three servers serve, with their links. Run it
// with -benchtime 5x; the median counts.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		l, err := startThree(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := l.close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
