package faults

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/ensemble/failpoints"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/nemesis/fault"
)

func TestFailpointsOnRealServers(t *testing.T) {
	e := startWithByteman(t, 3)
	s := failing{servers{ensemble: e}, map[int]int{}}
	nightly := os.Getenv(ensembletest.Variable) == "real"
	for _, p := range failpoints.Points() {
		for _, a := range failpoints.Actions() {
			// The others are for make test-real: a server that comes back takes seconds.
			usual := p.Name == "before-log-sync" && a == failpoints.Halt || p.Name == "diff-sync" && a == failpoints.Delay || p.Name == "ping-reply" && a == failpoints.Exception
			if usual || nightly {
				t.Run(fmt.Sprintf("%s at %s", a, p.Name), func(t *testing.T) { s.test(t, p, a) })
			}
		}
	}
}

// startWithByteman starts real servers with Byteman, or skips the test. They are closed with it.
func startWithByteman(t *testing.T, servers int) *ensemble.Local {
	t.Helper()
	if testing.Short() {
		t.Skip("needs real servers")
	}
	ensembletest.Real(t, "Byteman changes the code of ZooKeeper")
	if _, err := ensemble.FindByteman(); err != nil {
		t.Skip(err)
	}
	if ensembletest.Simulated(t) {
		t.Skip("simulated servers run no code of ZooKeeper")
	}
	ensembletest.Turn(t)
	e, err := ensemble.StartLocal(t.Context(), ensemble.LocalConfig{Servers: servers, Failpoints: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

type failing struct {
	servers
	printed map[int]int // bytes of output of each server before the failpoint
}

// test puts a failpoint in force, makes a server reach it, and heals it.
func (s failing) test(t *testing.T, p failpoints.Point, a failpoints.Action) {
	s.allServe(t)
	w := jvmWorld{s.ensemble}
	params := map[string]string{"point": p.Name, "action": string(a)}
	if a == failpoints.Delay {
		params["delay"] = "20ms"
	}
	scene := fault.NewScene(w, failpointFault, fault.Pick{Params: params}, nil, true)
	var err error
	if scene.Leader, err = s.ensemble.Leader(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.Role == failpoints.AnyServer {
		scene.Pick.Server = fault.Server(fmt.Sprint(s.follower(t)))
	}
	f, err := failpointKind().Make(scene)
	if err != nil {
		t.Fatal(err)
	}
	id := f.Servers[0]
	output, err := s.ensemble.Output(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	s.printed[id] = len(output)
	stop := s.use(t, id)
	defer stop()
	if err := inTime(t.Context(), f.HealWithin, f.Start); err != nil {
		t.Error(err)
	}
	if p.Role == failpoints.Leader {
		s.abandonSession(t, id)
	}
	armed, end := time.Now(), time.Now().Add(20*time.Second)
	for !s.reached(t, f, p, a) {
		if time.Now().After(end) {
			t.Error("no server came there")
			break
		}
		wait.For(t.Context(), 10*time.Millisecond)
	}
	t.Logf("server %d came there after %v", id, time.Since(armed).Round(time.Millisecond))
	s.heals(t, f)
	if n, err := strconv.Atoi(f.Came()[histories.Reached]); err != nil || n == 0 || a == failpoints.Halt && n != 1 {
		t.Errorf("it was reached %d times, error %v", n, err)
	}
	if err := s.ensemble.Agent(id).Check(t.Context()); err != nil {
		t.Error("the server has no failpoints any more:", err)
	}
}

// reached reports whether a server has reached the failpoint, and has ended if it should.
func (s failing) reached(t *testing.T, f fault.Fault, p failpoints.Point, a failpoints.Action) bool {
	t.Helper()
	id := f.Servers[0]
	output, err := s.ensemble.Output(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return failpoints.Reached(output[s.printed[id]:], p.Name) > 0 && (a != failpoints.Halt || !s.ensemble.Running(id))
}

// use starts a client that writes to the servers without a pause, and a client that only pings
// the server that is hit. Stop ends the writes.
func (s failing) use(t *testing.T, id int) (stop func()) {
	t.Helper()
	var addrs []string
	for _, server := range s.ensemble.Servers() {
		addrs = append(addrs, server.Addr)
	}
	writes := connect(t, addrs, 2*time.Second, net.DialTimeout)
	connect(t, addrs[id-1:id], 2*time.Second, net.DialTimeout)
	ended, done := make(chan struct{}), make(chan struct{})
	go func() { // ends with stop
		defer close(done)
		for {
			select {
			case <-ended:
				return
			default:
				_, _ = writes.Create("/write-", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll)) // some fail
			}
		}
	}()
	return func() { close(ended); <-done }
}

// abandonSession opens a session that expires soon.
func (s failing) abandonSession(t *testing.T, id int) {
	t.Helper()
	conn, err := net.Dial("tcp", s.ensemble.Servers()[id-1].Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	request := make([]byte, 48)
	binary.BigEndian.PutUint32(request[0:], 44)
	binary.BigEndian.PutUint32(request[16:], 500) // ms
	binary.BigEndian.PutUint32(request[28:], 16)  // bytes of a password
	if _, err := conn.Write(request); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 8)); err != nil {
		t.Fatal("no session:", err)
	}
}
