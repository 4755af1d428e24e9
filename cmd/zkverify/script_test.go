package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
)

func TestMain(m *testing.M) {
	if file := os.Getenv(hostileWorker); file != "" {
		beHostileWorker(file)
	}
	// A run with workers starts this test binary again, and so does inProcess.
	if len(os.Args) > 1 && os.Args[1] == "worker" || os.Getenv(asProgram) != "" {
		main()
	}
	status := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(status)
}

// built is the program, which is built when the first test asks for it.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// program builds zkverify without the race detector, and returns its folder. With it a program
// takes several times as long, and most of a second to start. Tests that call the function
// zkverify test the commands with the race detector. Without -trimpath the build shares what
// go vet has compiled.
func program(t testing.TB) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "zkverify-test-"); built.err != nil {
			return
		}
		if out, err := exec.Command("go", "build", "-o", filepath.Join(built.dir, "zkverify"), ".").CombinedOutput(); err != nil {
			built.err = fmt.Errorf("%w: %s", err, out)
			return
		}
		built.err = os.Rename(buildMutants(t, false), filepath.Join(built.dir, mutantsProgram))
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.dir
}

// TestScripts runs the sessions at the terminal in testdata/script.
func TestScripts(t *testing.T) {
	path := program(t) + string(filepath.ListSeparator) + os.Getenv("PATH")
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", path)
			for _, name := range []string{"JAVA_HOME", "ZOOKEEPER_HOME"} {
				if v, ok := os.LookupEnv(name); ok {
					env.Setenv(name, v)
				}
			}
			if named := os.Getenv("ZKVERIFY_ZOOKEEPER"); named != "" {
				env.Setenv("ZKVERIFY_ZOOKEEPER", placeOf(named))
			}
			// Scripts that use ENSEMBLE do not depend on the kind of servers. The others use real
			// ones.
			env.Setenv("ENSEMBLE", ensembletest.Kind(t))
			env.Setenv("XDG_CACHE_HOME", env.WorkDir+"/cache")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"interrupt": interrupt,
			"freeports": freePorts,
			"takeport":  takePort,
			"plant":     plant,
			"nojava":    noJava,
			"turn":      takeTurn,
		},
	})
}

// placeOf returns the place of an installed version of ZooKeeper, since a script has a cache
// of its own.
func placeOf(named string) string {
	for _, i := range ensemble.Installations() {
		if i.Version == named {
			return i.Place
		}
	}
	return named
}

// exits runs a command and compares its exit status: exits 64 zkverify run …
// Of several statuses, such as 0|2, any will do: a run of seconds on a busy machine may
// not exercise a guarantee, and then exits with 2.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if !slices.Contains(strings.Split(args[0], "|"), strconv.Itoa(got)) {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}

// takeTurn waits until no other test on the machine starts JVMs, so that the script can: turn
func takeTurn(ts *testscript.TestScript, neg bool, args []string) {
	end, err := ensembletest.TakeTurn()
	if err != nil {
		ts.Fatalf("%v", err)
	}
	ts.Defer(end)
}

// interrupt sends SIGINT to the background command of that name as soon as the
// file has a line with the text: interrupt run FILE TEXT
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	file, text := ts.MkAbs(args[1]), args[2]
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if b, err := os.ReadFile(file); err == nil && strings.Contains(string(b), text) {
			for _, c := range ts.BackgroundCmds() {
				ts.Check(c.Process.Signal(os.Interrupt))
			}
			return
		}
	}
	ts.Fatalf("%s never has %q", file, text)
}

// freePorts sets PORTS to three free ports, and PORT to the first.
func freePorts(ts *testscript.TestScript, neg bool, args []string) {
	var ports []string
	for range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		ts.Check(err)
		defer l.Close()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		ports = append(ports, port)
	}
	ts.Setenv("PORTS", strings.Join(ports, ","))
	ts.Setenv("PORT", ports[0])
}

// takePort listens on PORT until the script ends.
func takePort(ts *testscript.TestScript, neg bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:"+ts.Getenv("PORT"))
	ts.Check(err)
	ts.Defer(func() { l.Close() })
}

// plant creates a node on the server at PORT, and its missing parents: plant PATH DATA
// The node is ephemeral, of a session that lasts as long as the script; with the data
// "persistent" it is persistent.
func plant(ts *testscript.TestScript, neg bool, args []string) {
	conn, _, err := zk.Connect([]string{"127.0.0.1:" + ts.Getenv("PORT")}, 10*time.Second, zk.WithLogger(silent{}))
	ts.Check(err)
	ts.Defer(conn.Close)
	for i := range args[0] {
		if i > 0 && args[0][i] == '/' {
			if _, err := conn.Create(args[0][:i], nil, 0, zk.WorldACL(zk.PermAll)); !errors.Is(err, zk.ErrNodeExists) {
				ts.Check(err)
			}
		}
	}
	flags := int32(zk.FlagEphemeral)
	if args[1] == "persistent" {
		flags = 0
	}
	_, err = conn.Create(args[0], []byte(args[1]), flags, zk.WorldACL(zk.PermAll))
	ts.Check(err)
}

// noJava fails the script when a server of a run below its folder still runs.
func noJava(ts *testscript.TestScript, neg bool, args []string) {
	out, err := exec.Command("ps", "-eo", "args").Output()
	ts.Check(err)
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "QuorumPeerMain") && strings.Contains(line, ts.Getenv("WORK")) {
			ts.Fatalf("still running: %s", line)
		}
	}
}
