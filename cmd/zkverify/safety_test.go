package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/folder"
)

// tree returns every node at and below a path with its data and its stat.
func tree(t *testing.T, conn *zk.Conn, node string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	var walk func(string)
	walk = func(node string) {
		data, stat, err := conn.Get(node)
		if err != nil {
			t.Fatal(node, err)
		}
		all[node] = fmt.Sprintf("%q created %d changed %d children changed %d acl %d", data, stat.Czxid, stat.Mzxid, stat.Pzxid, stat.Aversion)
		children, _, err := conn.Children(node)
		if err != nil {
			t.Fatal(node, err)
		}
		for _, c := range children {
			walk(path.Join(node, c))
		}
	}
	walk(node)
	return all
}

type silent struct{}

func (silent) Printf(string, ...any) {}

// yourServers starts three servers in the place of a user's, and connects to
// them.
func yourServers(t *testing.T) (ensemble.Ensemble, []string, *zk.Conn) {
	t.Helper()
	yours := ensembletest.Start(t, ensemble.LocalConfig{})
	var addrs []string
	for _, s := range yours.Servers() {
		addrs = append(addrs, s.Addr)
	}
	conn, _, err := zk.Connect(addrs, 10*time.Second, zk.WithLogger(silent{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return yours, addrs, conn
}

func TestARunOnYourServersTouchesNothingOfYours(t *testing.T) {
	if testing.Short() {
		t.Skip("needs servers")
	}
	t.Parallel()
	yours, addrs, conn := yourServers(t)
	for _, node := range []string{"/app", "/app/locks", "/zkverify", "/zkverify/another-run", "/locks"} {
		if _, err := conn.Create(node, []byte("of "+node), 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	mine := []string{"/app", "/zkverify/another-run", "/locks"}
	var before []map[string]string
	for _, node := range mine {
		before = append(before, tree(t, conn, node))
	}

	out := filepath.Join(t.TempDir(), "run")
	status, said, _ := inProcess(t, "run", "--servers", strings.Join(addrs, ","), "--duration", "4s", "--seed", "3", "--out", out)
	if status == exitViolated || status == exitUsage || status == exitUnavailable {
		t.Fatalf("exit status %d:\n%s", status, said)
	}
	h, err := histories.ReadFile(filepath.Join(out, folder.History))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range h.Events {
		if e.Type != histories.FaultStart {
			continue
		}
		if strings.Contains(strings.Join(e.Fault.Targets, " "), "server") {
			t.Errorf("fault %s hit %v", e.Fault.Name, e.Fault.Targets)
		}
	}
	if !strings.Contains(said, "faults: down, ") || strings.Contains(said, "kill") || strings.Contains(said, "isolate") {
		t.Errorf("the wrong faults are offered:\n%s", said)
	}
	for i, node := range mine {
		if after := tree(t, conn, node); !reflect.DeepEqual(after, before[i]) {
			t.Errorf("%s was\n%v\nand is\n%v", node, before[i], after)
		}
	}
	left, _, err := conn.Children("/zkverify")
	if err != nil || !reflect.DeepEqual(left, []string{"another-run"}) {
		t.Errorf("left under /zkverify: %v, error %v", left, err)
	}

	status, said, _ = inProcess(t, "run", "--servers", strings.Join(addrs, ","), "--faults", "kill-server", "--out", filepath.Join(t.TempDir(), "kill"))
	if status != exitUsage || !strings.Contains(said, "out of reach with this ensemble (external)") {
		t.Errorf("exit status %d for a fault of your servers' processes: %s", status, said)
	}
	for _, s := range yours.Servers() {
		if status, _, err := ensemble.AskStatus(context.Background(), s); err != nil || !status.Serving() {
			t.Errorf("server %d does not serve: %v", s.ID, err)
		}
	}
}

func TestSecretsInAnAddressAreNotRecorded(t *testing.T) {
	var f serversFlags
	f.Toxiproxy = "http://admin:pa55word@127.0.0.1:1"
	options := make(map[string]string)
	f.options(options)
	if options["toxiproxy"] != "http://127.0.0.1:1" {
		t.Errorf("recorded: %q", options["toxiproxy"])
	}
	out := filepath.Join(t.TempDir(), "run")
	var said bytes.Buffer
	status := zkverify([]string{"run", "--toxiproxy", f.Toxiproxy, "--out", out}, &console{out: &said, err: &said})
	if status != exitUnavailable || strings.Contains(said.String(), "pa55word") {
		t.Errorf("exit status %d: %s", status, &said)
	}
}

func TestEveryPublishedPortIsOfLoopback(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docker-compose.yml"))
	if err != nil {
		t.Fatal(err)
	}
	published := regexp.MustCompile(`"([\d.]+:)?[\d-]+:[\d-]+"`).FindAllString(string(text), -1)
	if len(published) < 5 {
		t.Fatalf("only %v are published", published)
	}
	for _, p := range published {
		if !strings.HasPrefix(p, `"127.0.0.1:`) {
			t.Errorf("%s is open to the network", p)
		}
	}
}
