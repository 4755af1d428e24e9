package session

import (
	"context"
	"crypto/tls"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// A connection on which TLS does not begin is closed.
func TestAConnectionWithoutTLSIsClosed(t *testing.T) {
	for name, addr := range map[string]string{
		"an address without a port":        "zk1",
		"a server that does not speak TLS": "zk1:2181",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, server := net.Pipe()
				defer client.Close()
				defer server.Close()
				closed := make(chan struct{})
				go func() { // ends when the client's end is closed
					defer close(closed)
					for {
						if _, err := server.Read(make([]byte, 1<<10)); err != nil {
							return
						}
						go func() { _, _ = server.Write([]byte("this is no record of TLS")) }()
					}
				}()
				c := &Config{TLS: new(tls.Config), Dial: func(context.Context, string, string) (net.Conn, error) { return client, nil }}
				if _, err := c.transport(t.Context(), "tcp", addr); err == nil {
					t.Error("it got a connection")
				}
				select {
				case <-closed:
				case <-time.After(time.Minute):
					t.Error("the connection stays open")
				}
			})
		})
	}
}
