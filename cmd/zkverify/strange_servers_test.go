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
	for _, test := range []struct{ name, flag, address, says string }{
		{"an HTTP server", "--servers", refuses, "an HTTP server?"},
		{"an HTTP server that waits for more", "--servers", page.Listener.Addr().String(), "no answer within"},
		{"one that is silent", "--servers", silent, "no answer within"},
		{"another API", "--toxiproxy", page.URL, `is not Toxiproxy: 200 OK with "<html>\n<title>Welcome`},
		{"an endless API", "--toxiproxy", endless.URL, "is not Toxiproxy"},
		{"an API that is silent", "--toxiproxy", "http://" + silent, "deadline exceeded"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "run")
			var said bytes.Buffer
			status := zkverify([]string{"run", test.flag, test.address, "--duration", "1s", "--out", out}, &console{out: &said, err: &said})
			if status != exitUnavailable || !strings.Contains(said.String(), test.says) || !strings.Contains(said.String(), test.address) {
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
