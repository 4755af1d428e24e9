package links_test

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
)

func TestARelayWaitsForThePortOfANewLeader(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	target := closed.Addr().String()
	must(t, closed.Close())
	r, err := links.OpenRelay(links.DialUntilOpen(func() string { return target }))
	must(t, err)
	conn, err := net.Dial("tcp", r.Addr())
	must(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "epoch")
	must(t, err)
	time.Sleep(30 * time.Millisecond) // the port opens while the relay is trying
	leader, err := net.Listen("tcp", target)
	must(t, err)
	defer leader.Close()
	must(t, leader.(*net.TCPListener).SetDeadline(time.Now().Add(5*time.Second)))
	got, err := leader.Accept()
	must(t, err)
	defer got.Close()
	text := make([]byte, 5)
	if _, err := io.ReadFull(got, text); err != nil || string(text) != "epoch" {
		t.Fatalf("the leader got %q, %v", text, err)
	}
	must(t, r.Close())
	if _, err := conn.Read(text); err == nil {
		t.Fatal("a connection outlives its relay")
	}
}
