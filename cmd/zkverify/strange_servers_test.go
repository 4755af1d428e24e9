package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/zktest"
)

// TestWhatIsNoServerIsSaidToBeNone points --servers and --toxiproxy at programs that
// give other answers, or none.
func TestWhatIsNoServerIsSaidToBeNone(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<html>\n<title>Welcome</title>")
	}))
	t.Cleanup(page.Close)
	refuses := listener(t, func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 4))
		_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
	})
	silent := listener(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(bytes.Repeat([]byte("0"), 1<<16)); err != nil {
				return
			}
		}
	}))
	t.Cleanup(endless.Close)
	// This server says that it serves, but begins no session.
	noSessions := listener(t, func(conn net.Conn) {
		if word := make([]byte, 4); readAll(conn, word) && string(word) == "srvr" {
			_, _ = io.WriteString(conn, "Zookeeper version: 3.8.0-5a02, built on 2022\nZxid: 0x1\nMode: standalone\n")
		}
	})
	noProxies := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/version" {
			_, _ = io.WriteString(w, `{"version":"2.12.0"}`)
			return
		}
		http.Error(w, `{"error":"no more proxies","status":507}`, http.StatusInsufficientStorage)
	}))
	t.Cleanup(noProxies.Close)
	for _, test := range []struct {
		name, flag, address, says string
		unnamed                   bool // the message does not name the address
	}{
		{"an HTTP server", "--servers", refuses, "an HTTP server?", false},
		{"an HTTP server that waits for more", "--servers", page.Listener.Addr().String(), "no answer within", false},
		{"one that is silent", "--servers", silent, "no answer within", false},
		{"one without sessions", "--servers", noSessions, "no session", false},
		{"an API that makes no proxies", "--toxiproxy", noProxies.URL, "no more proxies", true},
		{"another API", "--toxiproxy", page.URL, `is not Toxiproxy: 200 OK with "<html>\n<title>Welcome`, false},
		{"an endless API", "--toxiproxy", endless.URL, "is not Toxiproxy", false},
		{"an API that is silent", "--toxiproxy", "http://" + silent, "deadline exceeded", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "run")
			var said bytes.Buffer
			status := zkverify([]string{"run", test.flag, test.address, "--duration", "1s", "--out", out}, &console{out: &said, err: &said})
			if status != exitUnavailable || !strings.Contains(said.String(), test.says) || !test.unnamed && !strings.Contains(said.String(), test.address) {
				t.Errorf("exit status %d: %s", status, &said)
			}
			if lines := strings.Count(said.String(), "\n"); lines > 2 {
				t.Errorf("%d lines: %s", lines, &said)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("a folder is left")
			}
		})
	}
}

// A run keeps its nodes below the chroot of --servers.
func TestARunKeepsItsNodesBelowTheChroot(t *testing.T) {
	servers := zktest.Start(t)
	conn, _, err := zk.Connect(servers.Servers(), 10*time.Second, zk.WithDialer(servers.Client("planter").DialTimeout), zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	addrs := strings.Join(servers.Client("run").Addrs(), ",")
	for _, test := range []struct {
		says     string
		statuses []int
	}{
		{"the chroot /app does not exist", []int{exitUnavailable}},
		{"below /app/zkverify/", []int{exitHolds, exitUnknown}}, // a short run may not exercise every guarantee
	} {
		var out, said bytes.Buffer
		status := zkverify([]string{"run", "--servers", addrs + "/app", "--faults", "none", "--duration", "300ms", "--clients", "2", "--out", filepath.Join(t.TempDir(), "run")}, &console{out: &out, err: &said})
		if !slices.Contains(test.statuses, status) || !strings.Contains(said.String(), test.says) {
			t.Errorf("exit status %d, want %d, and %q: %s%s", status, test.statuses, test.says, &out, &said)
		}
		if _, there := servers.Node("/zkverify"); there {
			t.Error("/zkverify is beside the chroot")
		}
		if _, there := servers.Node("/app"); !there {
			if _, err := conn.Create("/app", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if left := servers.Children("/app"); len(left) > 0 {
		t.Errorf("%v are left below the chroot", left)
	}
}

func readAll(r io.Reader, b []byte) bool {
	_, err := io.ReadFull(r, b)
	return err == nil
}

// listener returns the address of a server that calls serve for each connection.
func listener(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() { // ends with the listener
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { // ends with the connection
				defer conn.Close()
				serve(conn)
			}()
		}
	}()
	return l.Addr().String()
}
