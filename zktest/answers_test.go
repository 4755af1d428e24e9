package zktest_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/zktest"
)

// Answer applies to one client only, in the order of its requests, and ends when the test ends
// it.
func TestServersAnswerAsTheyAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		one, two := connect(t, e, "one").Conn(), connect(t, e, "two").Conn()
		create := func(conn *zk.Conn, path string) error {
			_, err := conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll))
			return err
		}
		e.Client("one").Answer(zktest.OpCreate, -125)
		if err := create(one, "/a"); err == nil || !strings.Contains(err.Error(), "-125") {
			t.Errorf("the client that is refused gets %v", err)
		}
		if err := create(two, "/a"); err != nil {
			t.Errorf("the other client gets %v", err)
		}
		if there, _, err := one.Exists("/a"); !there || err != nil {
			t.Errorf("another operation: %v, %v", there, err)
		}
		e.Client("one").Answer(zktest.OpCreate, 0)
		if err := create(one, "/b"); err != nil {
			t.Errorf("when that is over: %v", err)
		}
	})
}

func TestAPartOfATransactionIsAnsweredWithAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		conn := connect(t, e, "one").Conn()
		check := func() ([]zk.MultiResponse, error) {
			return conn.Multi(&zk.CheckVersionRequest{Path: "/", Version: -1}, &zk.CheckVersionRequest{Path: "/", Version: -1})
		}
		e.Client("one").Answer(zktest.OpPart, -102)
		parts, err := check()
		if !errors.Is(err, zk.ErrNoAuth) || len(parts) != 2 || !errors.Is(parts[0].Error, zk.ErrNoAuth) {
			t.Errorf("%v, %v", parts, err)
		}
		e.Client("one").Answer(zktest.OpPart, 0)
		e.Client("one").Answer(zktest.OpMulti, -102)
		if parts, err := check(); !errors.Is(err, zk.ErrNoAuth) || len(parts) != 0 {
			t.Errorf("the whole: %v, %v", parts, err)
		}
	})
}

func TestServersHangUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		conn := connect(t, e, "one").Conn()
		e.Client("one").Answer(zktest.OpExists, zktest.HangUp)
		if _, _, err := conn.Exists("/"); !errors.Is(err, zk.ErrConnectionClosed) {
			t.Errorf("%v", err)
		}
		e.Client("one").Answer(zktest.OpExists, 0)
		for { // until there is a connection again
			if _, _, err := conn.Exists("/"); err == nil {
				return
			}
			time.Sleep(time.Second)
		}
	})
}
