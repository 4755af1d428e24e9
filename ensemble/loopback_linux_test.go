package ensemble_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
)

// Servers can be reached from this machine alone, with links between them and without.
func TestServersListenOnLoopback(t *testing.T) {
	t.Run("with links between them", func(t *testing.T) { listenOnLoopback(t, local(t)) })
	t.Run("without links", func(t *testing.T) {
		ensembletest.Turn(t)
		needsServers(t)
		l, err := ensemble.StartLocal(context.Background(), ensemble.LocalConfig{Servers: 3})
		must(t, err)
		defer l.Close()
		listenOnLoopback(t, l)
	})
}

func listenOnLoopback(t *testing.T, l *ensemble.Local) {
	n := 0
	for _, s := range l.Servers() {
		addresses, err := listened(l.PID(s.ID))
		must(t, err)
		n += len(addresses)
		for _, address := range addresses {
			if !strings.HasPrefix(address, "0100007F:") { // 127.0.0.1, as the kernel writes it
				t.Errorf("server %d listens on %s", s.ID, address)
			}
		}
	}
	if n < 7 { // each for clients and for elections, and the leader for its followers
		t.Errorf("the servers listen at %d addresses", n)
	}
}

// listened returns the addresses at which a process listens for TCP connections.
func listened(pid int) (addresses []string, err error) {
	held, err := ensemble.HeldSockets(pid)
	if err != nil {
		return nil, err
	}
	const listens = "0A"
	for _, table := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if os.IsNotExist(err) {
			continue // a kernel without IPv6
		}
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			if fields := strings.Fields(line); len(fields) >= 10 && fields[3] == listens && held[fields[9]] {
				addresses = append(addresses, fields[1])
			}
		}
	}
	return addresses, nil
}
