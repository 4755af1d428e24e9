package links_test

import (
	"net"
	"strconv"
	"testing"

	"github.com/zkverify/zkverify/ensemble/links"
)

func TestFreePortsAreDistinctAndCanBeListenedOn(t *testing.T) {
	got, err := links.FreePorts(50)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, port := range got {
		if seen[port] {
			t.Fatalf("port %d was given twice", port)
		}
		seen[port] = true
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
}

func TestCheckRefusesAPortThatSomebodyListensOn(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if links.CheckPort(l.Addr().(*net.TCPAddr).Port) == nil {
		t.Fatal("the port is taken, and CheckPort returned nil")
	}
}
