package ensemble

import (
	"context"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"strings"
	"time"
)

var _ Reconfigurable = (*Local)(nil)

// CanReconfigure reports whether LocalConfig.Reconfig was set.
func (l *Local) CanReconfigure() bool { return l != nil && l.config.Reconfig }

// newSuperuser returns credentials that may reconfigure: the servers are started with
// their digest.
func newSuperuser() Credentials { return NewCredentials("digest", []byte("super:"+rand.Text())) }

// superFlag returns the JVM flag that gives a server its superuser.
func superFlag(c Credentials) string {
	sum := sha1.Sum(c.secret()) // ZooKeeper's own
	return "-Dzookeeper.DigestAuthenticationProvider.superDigest=super:" + base64.StdEncoding.EncodeToString(sum[:])
}

// member returns the line for a server in the configuration that all servers share.
func (l *Local) member(s *server) string {
	role := "participant"
	if s.Observer {
		role = "observer"
	}
	return fmt.Sprintf("server.%d=127.0.0.1:%d:%d:%s;127.0.0.1:%d", l.config.myid(s.ID), s.quorum, s.election, role, s.client)
}

// Remove takes a server out of the ensemble. Its process goes on. Remove returns an error
// when one of the remaining servers does not serve.
func (l *Local) Remove(ctx context.Context, id int) error {
	s, err := l.server(id)
	if err != nil {
		return fmt.Errorf("remove: %w", err)
	}
	for _, other := range l.servers {
		if other == s || other.Observer {
			continue
		}
		if status, _, err := AskStatus(ctx, other.Server); err != nil || !status.Serving() {
			return fmt.Errorf("remove server %d: server %d: %w", id, other.ID, ErrNotServing)
		}
	}
	s.mu.Lock()
	s.removed = true
	s.mu.Unlock()
	return l.reconfigure(ctx, s, false)
}

// Add makes a removed server a member again, and does nothing to a server that is a
// member. The server may still have to be restarted: a server that learned that it is no
// member does not take part in elections.
func (l *Local) Add(ctx context.Context, id int) error {
	s, err := l.server(id)
	if err != nil {
		return fmt.Errorf("add: %w", err)
	}
	return l.reconfigure(ctx, s, true)
}

// reconfigPause is the pause after a reconfiguration that was not carried out.
const reconfigPause = 100 * time.Millisecond

// reconfigure repeats a change of the members until the ensemble's configuration shows it.
func (l *Local) reconfigure(ctx context.Context, s *server, member bool) error {
	var others []string
	for _, other := range l.servers {
		if other != s {
			others = append(others, other.Addr)
		}
	}
	for {
		done, err := l.reconfigureOnce(ctx, others, s, member)
		if done {
			return nil
		}
		select {
		case <-time.After(reconfigPause):
		case <-ctx.Done():
			return fmt.Errorf("reconfigure server %d: %w (%w)", s.ID, context.Cause(ctx), err)
		}
	}
}

// reconfigureOnce reports whether the configuration is as wanted, and asks for the change
// if it is not. The answer may be lost: the next call sees the result then.
func (l *Local) reconfigureOnce(ctx context.Context, others []string, s *server, member bool) (done bool, err error) {
	conn, err := connect(ctx, others, l.super)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, conn.Close) // its calls take no context
	defer stop()
	if _, err := conn.Sync("/zookeeper/config"); err != nil {
		return false, err
	}
	text, _, err := conn.Get("/zookeeper/config")
	if err != nil {
		return false, err
	}
	if strings.Contains("\n"+string(text), fmt.Sprintf("\nserver.%d=", l.config.myid(s.ID))) == member {
		return true, nil
	}
	if member {
		_, err = conn.IncrementalReconfig([]string{l.member(s)}, nil, -1)
	} else {
		_, err = conn.IncrementalReconfig(nil, []string{fmt.Sprint(l.config.myid(s.ID))}, -1)
	}
	return err == nil, err
}
