package faults

import (
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/failpoints"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// A real leader whose clock is slow ends sessions by that clock: also when it has been started
// again, and beside a failpoint that comes and goes. After the fault its clock has the clients'
// rate.
func TestTheClockOfARealServer(t *testing.T) {
	e := startWithByteman(t, 1)
	scene := fault.NewScene(jvmWorld{e}, "clock-rate", fault.Pick{Params: map[string]string{"rate": "0.25"}, Server: "1"}, nil, true)
	scene.Leader = 1
	f, err := clockRateKind().Make(scene)
	if err != nil {
		t.Fatal(err)
	}
	const timeout = time.Second
	if err := f.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := lasts(t, e, timeout); took < 3*timeout {
		t.Errorf("at a quarter of the rate a session ends after %v", took)
	}
	if err := e.Restart(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	rule := failpoints.Rejoin(1)
	if err := e.Agent(1).Load(t.Context(), rule); err != nil {
		t.Fatal(err)
	}
	if err := e.Agent(1).Unload(t.Context(), rule); err != nil {
		t.Fatal(err)
	}
	if took := lasts(t, e, timeout); took < 3*timeout {
		t.Errorf("after a restart a session ends after %v", took)
	}
	if err := f.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := lasts(t, e, timeout); took >= 3*timeout {
		t.Errorf("after the fault a session ends after %v", took)
	}
}

// lasts returns how long a session lasts whose client is gone.
func lasts(t *testing.T, e ensemble.Ensemble, timeout time.Duration) time.Duration {
	t.Helper()
	addrs := []string{e.Servers()[0].Addr}
	var link atomic.Pointer[net.Conn]
	client := connect(t, addrs, timeout, func(network, addr string, within time.Duration) (net.Conn, error) {
		if link.Load() != nil {
			return nil, net.ErrClosed
		}
		conn, err := net.DialTimeout(network, addr, within)
		if err == nil {
			link.Store(&conn)
		}
		return conn, err
	})
	watches := connect(t, addrs, 20*timeout, net.DialTimeout)
	node, err := client.Create("/lasts-", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_ = (*link.Load()).Close()
	for {
		there, _, err := watches.Exists(node)
		if err != nil || time.Since(began) > 60*timeout {
			t.Fatalf("after %v the node is there: %v; error %v", time.Since(began), there, err)
		}
		if !there {
			return time.Since(began)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
