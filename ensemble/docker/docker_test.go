package docker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"go.uber.org/goleak"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/docker"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/ensemble/txnlog"
)

// image returns the named image, or the one that ensemble/image/build.sh makes.
func image() string {
	if name := os.Getenv(docker.ImageVariable); name != "" {
		return name
	}
	return "zkverify/zookeeper:3.8"
}

// start starts an ensemble, or skips the test if there is no Docker or no image.
func start(t *testing.T, config docker.Config) *docker.Ensemble {
	t.Helper()
	if testing.Short() {
		t.Skip("needs containers")
	}
	config.Image = image()
	if err := exec.Command("docker", "image", "inspect", config.Image).Run(); err != nil {
		t.Skipf("no Docker, or no image %s: run ensemble/image/build.sh, or name another with %s", config.Image, docker.ImageVariable)
	}
	ensembletest.Turn(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	e, err := docker.Start(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// containers lists the containers and networks of this process's ensembles.
func containers(t *testing.T) []string {
	t.Helper()
	label := fmt.Sprintf("label=com.github.zkverify.process=%d", os.Getpid())
	var all []string
	for _, command := range [][]string{{"ps", "-aq", "--filter", label}, {"network", "ls", "-q", "--filter", label}} {
		out, err := exec.Command("docker", command...).Output()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.Fields(string(out))...)
	}
	return all
}

// await waits for the effect of a fault.
func await(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !f(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

func serving(e *docker.Ensemble, id int) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	status, _, err := ensemble.AskStatus(ctx, e.Servers()[id-1])
	return err == nil && status.Serving()
}

func TestServersInContainersFailAndComeBack(t *testing.T) {
	before := goleak.IgnoreCurrent()
	dir := t.TempDir()
	e := start(t, docker.Config{PeerLinks: true, Dir: dir})
	ctx := t.Context()
	if e.Version() == "" || e.Kind() != "docker" || len(e.Servers()) != 3 || len(containers(t)) != 4 {
		t.Fatalf("version %q, servers %v, containers and networks %v", e.Version(), e.Servers(), containers(t))
	}
	allServe := func() bool { return serving(e, 1) && serving(e, 2) && serving(e, 3) }

	t.Run("its logs copied", func(t *testing.T) {
		conn, events, err := zk.Connect([]string{e.Servers()[0].Addr}, 10*time.Second, zk.WithLogInfo(false))
		must(t, err)
		defer conn.Close()
		for e := range events {
			if e.State == zk.StateHasSession {
				break
			}
		}
		path, err := conn.Create("/copied", nil, 0, zk.WorldACL(zk.PermAll))
		must(t, err)
		dirs := make(map[int]txnlog.Dir)
		for _, s := range e.Servers() {
			for range 2 { // the second copy replaces the first
				folder, err := e.DataDir(ctx, s.ID)
				must(t, err)
				dirs[s.ID], err = txnlog.Open(folder)
				must(t, err)
			}
		}
		found := 0
		for x, err := range txnlog.Committed(dirs) {
			must(t, err)
			if len(x.Changes) > 0 && x.Changes[0].Path == path {
				found++
			}
		}
		if found != 1 {
			t.Errorf("the create of %s is there %d times, want once", path, found)
		}
	})

	t.Run("killed", func(t *testing.T) {
		leader, err := e.Leader(ctx)
		must(t, err)
		must(t, e.Kill(ctx, leader))
		must(t, e.Kill(ctx, leader)) // is dead already
		if e.Running(leader) || serving(e, leader) {
			t.Error("the killed server serves")
		}
		if err := e.Pause(ctx, leader); !errors.Is(err, ensemble.ErrNotRunning) {
			t.Errorf("pausing it: %v", err)
		}
		await(t, "another leads", func() bool { l, err := e.Leader(ctx); return err == nil && l != leader })
		must(t, e.Restart(ctx, leader))
		if !serving(e, leader) {
			t.Error("the restarted server does not serve")
		}
	})
	t.Run("paused", func(t *testing.T) {
		must(t, e.Pause(ctx, 1))
		if serving(e, 1) {
			t.Error("the paused server answers")
		}
		must(t, e.Resume(ctx, 1))
		await(t, "server 1 serves", func() bool { return serving(e, 1) })
		must(t, e.Pause(ctx, 2))
		must(t, e.Kill(ctx, 2)) // though paused
		must(t, e.Restart(ctx, 2))
	})
	t.Run("unplugged", func(t *testing.T) {
		must(t, e.Unplug(ctx, 3))
		if serving(e, 3) {
			t.Error("the unplugged server can be reached")
		}
		must(t, e.Plug(ctx, 3))
		await(t, "server 3 serves", func() bool { return serving(e, 3) })
	})
	t.Run("cut off from its peers", func(t *testing.T) {
		await(t, "all serve", allServe)
		leader, err := e.Leader(ctx)
		must(t, err)
		around := func(f func(links.Link) error) {
			for _, other := range e.Servers() {
				for _, l := range append(e.Peer(leader, other.ID), e.Peer(other.ID, leader)...) {
					must(t, f(l))
				}
			}
		}
		around(func(l links.Link) error { return l.Cut(ctx, links.BlackHole) })
		await(t, "it steps down", func() bool { return !serving(e, leader) })
		await(t, "another leads", func() bool { l, err := e.Leader(ctx); return err == nil && l != leader })
		around(func(l links.Link) error { return l.Heal(ctx) })
		await(t, "it follows", func() bool { return serving(e, leader) })
	})

	printed, err := e.Output(ctx, 1)
	if err != nil || !bytes.Contains(printed, []byte("zookeeper")) {
		t.Errorf("server 1 has printed %d bytes, %v", len(printed), err)
	}
	must(t, e.Close())
	if left := containers(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	for id := 1; id <= 3; id++ {
		text, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("server-%d.log", id)))
		if err != nil || !strings.Contains(string(text), "zookeeper") {
			t.Errorf("the log of server %d: %d bytes, %v", id, len(text), err)
		}
	}
	if err := e.Kill(ctx, 1); !errors.Is(err, ensemble.ErrClosed) {
		t.Errorf("killing after Close: %v", err)
	}
	goleak.VerifyNone(t, before)
}

func TestWhatCannotBeStartedIsSaidAndLeavesNothing(t *testing.T) {
	start(t, docker.Config{Servers: 1}) // or skip
	_, err := docker.Start(t.Context(), docker.Config{Image: "zkverify/no-such-image:0"})
	if !errors.Is(err, docker.ErrNoImage) {
		t.Errorf("without the image: %v", err)
	}
	// The server ends because of its configuration.
	_, err = docker.Start(t.Context(), docker.Config{Image: image(), Servers: 1, MinSessionTimeout: 2 * time.Hour, StartLimit: 2 * time.Minute})
	if !errors.Is(err, ensemble.ErrServerDied) || !strings.Contains(err.Error(), "minSessionTimeout") {
		t.Errorf("a server that dies: %v", err)
	}
	if left := containers(t); len(left) != 2 { // those of the open one
		t.Errorf("left behind: %v", left)
	}
}

// A process looks for the daemon only once, so the test uses another process.
func TestWithoutADaemonItIsSaid(t *testing.T) {
	if os.Getenv("ZKVERIFY_TEST_NO_DAEMON") != "" {
		if _, err := docker.Start(t.Context(), docker.Config{}); !errors.Is(err, docker.ErrNoDocker) {
			t.Errorf("without a daemon: %v", err)
		}
		return
	}
	again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	again.Env = append(os.Environ(), "ZKVERIFY_TEST_NO_DAEMON=yes", "DOCKER_HOST=unix://"+filepath.Join(t.TempDir(), "none.sock"))
	if out, err := again.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestLeftoversOfTheDeadAreRemoved(t *testing.T) {
	e := start(t, docker.Config{Servers: 1})
	// The process lives while its server starts: other tests on this machine remove the leftovers
	// of dead processes too.
	dying := exec.Command("sleep", "600")
	must(t, dying.Start())
	me := docker.BelongTo(dying.Process.Pid)
	other := start(t, docker.Config{Servers: 1})
	must(t, dying.Process.Kill())
	_ = dying.Wait() // its error is that it was killed
	docker.BelongTo(me)
	start(t, docker.Config{Servers: 1})
	if serving(other, 1) || !serving(e, 1) {
		t.Error("the dead process's server serves, or the living one's does not")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
