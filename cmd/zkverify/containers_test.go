package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
)

// The images that ensemble/image/build.sh makes.
const (
	zooKeeperImage = "zkverify/zookeeper:3.8"
	toxiproxyImage = "zkverify/toxiproxy:2.12.0"
)

// needImages skips a test where there is no Docker, or an image is missing.
func needImages(t *testing.T, images ...string) {
	if testing.Short() {
		t.Skip("needs containers")
	}
	t.Helper()
	for _, image := range images {
		if exec.Command("docker", "image", "inspect", image).Run() != nil {
			t.Skipf("no Docker, or no image %s: run ensemble/image/build.sh", image)
		}
	}
	ensembletest.Turn(t)
}

// goesThroughFaults runs zkverify on an ensemble and expects that faults struck, that
// locks were held across them, and that no guarantee is violated. It repeats a run whose
// servers came to disagree, which shows nothing, once. It keeps the folder of a run that
// failed, and returns the process id of the last run.
func goesThroughFaults(t *testing.T, args ...string) (pid int) {
	t.Helper()
	for again := true; ; again = false {
		dir, err := os.MkdirTemp("", "zkverify-test-")
		if err != nil {
			t.Fatal(err)
		}
		exit, text, pid := inProcess(t, append([]string{"run", "--duration", "10s", "--session-timeout", "3s", "--seed", "3", "--out", dir}, args...)...)
		if again && regexp.MustCompile("(?m)^UNKNOWN: (the servers disagree|a server had another tree)").MatchString(text) {
			t.Logf("once more, since: %s", text)
			os.RemoveAll(dir)
			continue
		}
		// A run on a busy machine may not exercise every guarantee.
		if exit != 0 && exit != 2 || !regexp.MustCompile(`(?m)^mutual exclusion +holds`).MatchString(text) || strings.Contains(text, " 0 faults struck") {
			t.Errorf("exit %d, kept in %s:\n%s", exit, dir, text)
			return pid
		}
		os.RemoveAll(dir)
		return pid
	}
}

func TestARunInContainers(t *testing.T) {
	ensembletest.EveryNight(t)
	t.Parallel()
	needImages(t, zooKeeperImage)
	pid := goesThroughFaults(t, "--ensemble", "docker", "--image", zooKeeperImage, "--faults", "unplug-server,kill-server,pause-server,isolate-leader,black-hole")
	left, err := exec.Command("docker", "ps", "-aq", "--filter", fmt.Sprintf("label=com.github.zkverify.process=%d", pid)).Output()
	if err != nil || len(bytes.TrimSpace(left)) > 0 {
		t.Errorf("containers left behind: %s, %v", left, err)
	}
}

// The image of zkverify needs no network, and runs as any user but root.
func TestARunInTheImageOfZkverify(t *testing.T) {
	ensembletest.EveryNight(t)
	needImages(t, zooKeeperImage)
	const image = "zkverify/zkverify"
	if out, err := exec.Command("sh", "../../ensemble/image/build.sh", "zkverify").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command("docker", "image", "inspect", "--format", "{{.Config.User}}", image).Output(); err != nil || string(out) != "1000:1000\n" {
		t.Errorf("the user of the image: %s, %v", out, err)
	}
	user := cmp.Or(os.Getuid(), 12345) // who can remove the folder in the end
	runs := t.TempDir()
	if err := os.Chmod(runs, 0o777); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("docker", "run", "--rm", "--network", "none", "--user", fmt.Sprint(user), "--volume", runs+":/data/runs", image,
		"run", "--target", "recipes", "--duration", "10s", "--seed", "3", "--out", "runs/first").CombinedOutput()
	var exit *exec.ExitError
	undecided := errors.As(err, &exit) && exit.ExitCode() == exitUnknown // on a busy machine
	if err != nil && !undecided || !regexp.MustCompile(`(?m)^mutual exclusion +holds`).Match(out) {
		t.Fatalf("%v\n%s", err, out)
	}
	if page, err := os.Stat(filepath.Join(runs, "first", "report.html")); err != nil || page.Sys().(*syscall.Stat_t).Uid != uint32(user) {
		t.Errorf("the report: %v, %v", page, err)
	}
}

func TestARunOnWhatComposeStarts(t *testing.T) {
	ensembletest.EveryNight(t)
	needImages(t, zooKeeperImage, toxiproxyImage)
	// Not parallel: other tests may take the ports that docker-compose.yml names.
	compose := []string{"docker-compose"}
	if exec.Command("docker", "compose", "version").Run() == nil {
		compose = []string{"docker", "compose"}
	} else if _, err := exec.LookPath("docker-compose"); err != nil {
		t.Skip("neither docker compose nor docker-compose is there")
	}
	do := func(args ...string) {
		t.Helper()
		cmd := exec.Command(compose[0], append(append(compose[1:], "-f", "../../docker-compose.yml", "-p", "zkverify-test"), args...)...)
		cmd.Env = append(os.Environ(), "ZOOKEEPER_IMAGE="+zooKeeperImage, "TOXIPROXY_IMAGE="+toxiproxyImage)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", cmd.Args, err, out)
		}
	}
	t.Cleanup(func() { do("down", "-v") })
	do("up", "-d")
	servers := []string{"127.0.0.1:2181", "127.0.0.1:2182", "127.0.0.1:2183"}
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		serve := 0
		for _, s := range servers {
			if status, _, err := ensemble.AskStatus(t.Context(), ensemble.Server{Addr: s}); err == nil && status.Serving() {
				serve++
			}
		}
		// Docker accepts connections to the port before Toxiproxy does.
		if answer, err := http.Get("http://127.0.0.1:8474/version"); err == nil {
			answer.Body.Close()
			if serve == len(servers) {
				break
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d servers serve three minutes after docker-compose up", serve, len(servers))
		}
	}
	goesThroughFaults(t, "--servers", strings.Join(servers, ","), "--toxiproxy", "http://127.0.0.1:8474",
		"--toxiproxy-listen", "0.0.0.0", "--toxiproxy-ports", "20000-20063", "--toxiproxy-upstreams", "zk1:2181,zk2:2181,zk3:2181")
}
