package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatIsNoServerIsSaidToBeNone points --servers and --toxiproxy at what
// answers something else, or nothing.
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
	// It says that it serves, and has no sessions to give.
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
		unnamed                   bool // the address is in no message
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

func readAll(r io.Reader, b []byte) bool {
	_, err := io.ReadFull(r, b)
	return err == nil
}

// listener returns the address of a server.
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
