package inprocess

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/workload/lock"
)

// KeepPresence creates the presence node of every session of one client below dir, through the
// client's own connection, until ctx ends. It calls announced for each.
func KeepPresence(ctx context.Context, w *Wire, target lock.Client, dir string, acl []zk.ACL, announced func(session, czxid int64)) {
	var last int64
	for ctx.Err() == nil {
		session, _, _ := w.Credentials()
		var retry <-chan time.Time
		if session != last {
			if czxid, err := makePresence(session, target.Conn(), dir, acl); err == nil {
				announced(session, czxid)
				last = session
				continue
			}
			retry = time.After(retryDelay)
		}
		select {
		case <-w.changed:
		case <-retry:
		case <-ctx.Done():
		}
	}
}

var errOtherSession = errors.New("the connection has another session")

// makePresence creates the presence node of a session through its own
// connection.
func makePresence(session int64, conn *zk.Conn, dir string, acl []zk.ACL) (czxid int64, err error) {
	if conn == nil || conn.SessionID() != session {
		return 0, errOtherSession
	}
	node := dir + "/" + lock.SessionName(session)
	_, err = conn.Create(node, nil, zk.FlagEphemeral, acl)
	if err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return 0, err
	}
	there, stat, err := conn.Exists(node)
	if err != nil {
		return 0, err
	}
	if !there {
		return 0, zk.ErrNoNode
	}
	if stat.EphemeralOwner != session {
		// The Conn ran the create in the session that came after: this one has ended. The new
		// session's node must not stand for it.
		_ = conn.Delete(node, -1)
		return 0, errOtherSession
	}
	return stat.Czxid, nil
}

// retryDelay keeps a loop of failing calls from spinning.
const retryDelay = 20 * time.Millisecond
