package recipes_test

import (
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// An outsider reads the nodes through a connection of its own, whose server may lag behind the
// server that answered a client. It writes before each read: when its server answers the write,
// it has carried out all requests that were answered before. A sync would not do. The leader
// answers its own clients' syncs at once, also while a request that it has committed, and that a
// follower has answered, still waits in the leader's queue.
type outsider struct{ *zk.Conn }

// catchUp sends a write that changes no node.
func (o outsider) catchUp() error {
	_, err := o.Multi(&zk.CheckVersionRequest{Path: "/", Version: -1})
	return err
}

func (o outsider) Exists(path string) (bool, *zk.Stat, error) {
	if err := o.catchUp(); err != nil {
		return false, nil, err
	}
	return o.Conn.Exists(path)
}

func (o outsider) Get(path string) ([]byte, *zk.Stat, error) {
	if err := o.catchUp(); err != nil {
		return nil, nil, err
	}
	return o.Conn.Get(path)
}

func (o outsider) GetW(path string) ([]byte, *zk.Stat, <-chan zk.Event, error) {
	if err := o.catchUp(); err != nil {
		return nil, nil, nil, err
	}
	return o.Conn.GetW(path)
}

func (o outsider) Children(path string) ([]string, *zk.Stat, error) {
	if err := o.catchUp(); err != nil {
		return nil, nil, err
	}
	return o.Conn.Children(path)
}

// admin returns a connection that no fault affects.
func admin(t *testing.T) outsider {
	t.Helper()
	needServers(t)
	return adminAt(t, addrsOf(t))
}

// adminOf is admin, linked to one server.
func adminOf(t *testing.T, id int) outsider {
	t.Helper()
	needServers(t)
	return adminAt(t, addrsOf(t)[id-1:id])
}

func adminAt(t *testing.T, addrs []string) outsider {
	t.Helper()
	conn, events, err := zk.Connect(addrs, 10*time.Second, zk.WithLogInfo(false), zk.WithLogger(quiet{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		for range events {
		}
	})
	return outsider{conn}
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// contenders lists the nodes in a lock's queue, as the leader knows it.
func contenders(t *testing.T, conn outsider, path string) []string {
	t.Helper()
	children, _, err := conn.Children(path)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		t.Fatal(err)
	}
	return children
}
