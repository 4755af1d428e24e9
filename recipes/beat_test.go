package recipes_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// A lease's deadline moves on with the first heartbeat after a reconnect, which comes at once,
// not when the next one is due.
func TestAHeartbeatComesAtOnceAfterAReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		beats, conns := make(chan time.Time, 1000), make(chan net.Conn, 10)
		wire := &intercept{through: e.Client("holder").DialContext}
		wire.on(func(op int32) bool {
			if op == opBeat {
				beats <- time.Now()
			}
			return true
		}, nil)
		client, err := recipes.Connect(t.Context(), e.Servers(), recipes.WithSessionTimeout(12*time.Second),
			recipes.WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := wire.dial(ctx, network, addr)
				if err == nil {
					conns <- conn
				}
				return conn, err
			}))
		if err != nil {
			t.Fatal(err)
		}
		l := acquire(t, t.Context(), recipes.NewMutex(client, "/l"))
		time.Sleep(5 * time.Second)
		for len(beats) > 0 {
			<-beats
		}
		<-beats // the next one is due in two seconds
		deadline := l.Deadline()
		<-conns // which asked for the least session timeout
		(<-conns).Close()
		broken := time.Now()
		if took := (<-beats).Sub(broken); took > time.Second {
			t.Errorf("a heartbeat comes %v after the connection broke", took)
		}
		synctest.Wait()
		time.Sleep(100 * time.Millisecond)
		if !l.Deadline().After(deadline) {
			t.Errorf("the deadline stays at %v", deadline)
		}
		release(t, l)
		_ = client.Close(context.Background())
	})
}
