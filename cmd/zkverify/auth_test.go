package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/zktest"
)

const benchUser, benchPassword = "bench", "pa55word-of-the-bench"

func TestARunWithCredentialsOwnsItsNodesAndTellsNobody(t *testing.T) {
	if testing.Short() {
		t.Skip("needs real servers")
	}
	ensembletest.EveryNight(t)
	ensembletest.Real(t, "ZooKeeper checks the credentials")
	t.Parallel()
	runsWithCredentials(t, "--recipe", "all")
}

func TestEveryKindOfRunHasCredentials(t *testing.T) {
	if testing.Short() {
		t.Skip("needs servers")
	}
	for name, args := range map[string][]string{
		"every recipe, in workers":  {"--recipe", "all", "--workers", "2"},
		"a lock on the bare API":    {"--target", "zk-lock"},
		"one node that all contend": {"--target", "naive"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(name, "every recipe") {
				ensembletest.EveryNight(t)
			}
			runsWithCredentials(t, args...)
		})
	}
}

// runsWithCredentials makes runs without credentials and with them, below a node that clients
// without credentials may read but not write.
func runsWithCredentials(t *testing.T, args ...string) {
	t.Helper()
	_, addrs, conn := yourServers(t)
	if _, err := conn.Create("/zkverify", nil, 0, append(zk.DigestACL(zk.PermAll, benchUser, benchPassword), zk.WorldACL(zk.PermRead)...)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(file, []byte("digest:"+benchUser+":"+benchPassword+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(out string, more ...string) (int, string) {
		status, said, _ := inProcess(t, append([]string{"run", "--servers", strings.Join(addrs, ","), "--duration", "1s", "--seed", "3", "--out", out}, more...)...)
		return status, said
	}

	if status, said := run(filepath.Join(t.TempDir(), "run")); status != exitUnavailable || !strings.Contains(said, "--auth-file") {
		t.Errorf("exit status %d without credentials: %s", status, said)
	}
	out := filepath.Join(t.TempDir(), "run")
	// The goroutine ends with the run.
	over, looked := make(chan struct{}), make(chan error, 1)
	go func() { looked <- lookIn(conn, over) }()
	status, said := run(out, append(args, "--auth-file", file)...)
	close(over)
	if status == exitUsage || status == exitUnavailable || strings.Contains(said, "the run failed") {
		t.Errorf("exit status %d: %s", status, said)
	}
	if err := <-looked; err != nil {
		t.Error(err)
	}
	for _, secret := range []string{benchPassword, base64.StdEncoding.EncodeToString([]byte(benchUser + ":" + benchPassword))} {
		if strings.Contains(said, secret) {
			t.Errorf("it says the secret:\n%s", said)
		}
		if in := holding(t, out, secret); len(in) > 0 {
			t.Errorf("the secret is in %v", in)
		}
	}
	if children, _, err := conn.Children("/zkverify"); err != nil || len(children) > 0 {
		t.Errorf("left under /zkverify: %v, error %v", children, err)
	}
}

// Servers that demand SASL serve a night, all of whose runs read the password from one file.
func TestANightAuthenticatesBySASL(t *testing.T) {
	t.Parallel()
	servers := zktest.Start(t, zktest.SASL(map[string]string{benchUser: benchPassword}, true)).Client("night").Addrs()
	file := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(file, []byte("sasl:digest-md5:"+benchUser+":"+benchPassword+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "nightly")
	night := []string{"nightly", "--servers", strings.Join(servers, ","), "--seeds", "2", "--seed", "3", "--duration", "100ms", "--out"}
	if _, said, _ := inProcess(t, append(night, filepath.Join(t.TempDir(), "nightly"))...); strings.Count(said, "demand an authentication") != 2 || !strings.Contains(said, "--auth-file") {
		t.Errorf("without credentials: %s", said)
	}
	status, said, _ := inProcess(t, append(night, out, "--auth-file", file)...)
	if status == exitUsage || status == exitUnavailable || !strings.Contains(said, "2 of 2 runs made") || strings.Contains(said, benchPassword) {
		t.Errorf("exit status %d: %s", status, said)
	}
	if in := holding(t, out, benchPassword); len(in) > 0 {
		t.Errorf("the password is in %v", in)
	}
}

// lookIn reads the nodes of a run until it is over, as a client without credentials. The
// error says why that was not refused.
func lookIn(conn *zk.Conn, over <-chan struct{}) error {
	refused := false
	for {
		select {
		case <-over:
			if !refused {
				return errors.New("the run kept no node of its own")
			}
			return nil
		case <-time.After(20 * time.Millisecond):
		}
		roots, _, err := conn.Children("/zkverify")
		if err != nil {
			return err
		}
		for _, root := range roots {
			_, _, err := conn.Children(path.Join("/zkverify", root))
			switch {
			case errors.Is(err, zk.ErrNoAuth):
				refused = true
			case errors.Is(err, zk.ErrNoNode): // the run has just ended
			default:
				return fmt.Errorf("a stranger looks into %s: %v", root, err)
			}
		}
	}
}

// holding returns the files in a folder that contain a text.
func holding(t *testing.T, dir, text string) (files []string) {
	t.Helper()
	seen := 0
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(file)
		if seen++; bytes.Contains(content, []byte(text)) {
			files = append(files, file)
		}
		return err
	})
	if err != nil || seen < 3 {
		t.Errorf("%d files in %s, error %v", seen, dir, err)
	}
	return files
}

func TestCredentialsThatCannotBeReadAreRefusedUnseen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(file, []byte("pa55word"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{file: "scheme:secret", file + "-none": "no such file"} {
		out := filepath.Join(t.TempDir(), "run")
		var said bytes.Buffer
		status := zkverify([]string{"run", "--auth-file", name, "--out", out}, &console{out: &said, err: &said})
		if status != exitUsage || !strings.Contains(said.String(), want) || strings.Contains(said.String(), "pa55word") {
			t.Errorf("exit status %d for %s: %s", status, name, &said)
		}
	}
}
