package session

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
)

// A node that may exist counts, for every outcome of the request and of the call that made
// it.
func TestRoomIsTakenUntilNodesAreKnownToBeGone(t *testing.T) {
	const guid = "0b6d1a5e-6f0c-4b57-9d2b-6d7f2c9b7a10"
	first, second := "/lock/_c_"+guid+"-lock-0000000001", "/lock/_c_"+guid+"-lock-0000000002"
	one := Room{}
	one.Add(guid, len(first))
	making := func(s *Session, room Room, err error, paths ...string) error {
		_, err = s.Making(room, func() ([]string, error) { return paths, err })
		return err
	}
	fresh := func(most int) *Session {
		return &Session{waiting: map[string]struct{}{}, rooms: Room{}, common: &common{cfg: Config{MaxPacket: (most + 257) / 2}}}
	}
	for name, c := range map[string]struct {
		err   error
		paths []string
		then  func(*Session)
		want  int // nodes
	}{
		"a node that was made":            {paths: []string{first}, want: 1},
		"its heartbeat ends":              {paths: []string{first}, then: func(s *Session) { s.Untrack(first) }, want: 1},
		"it was deleted":                  {paths: []string{first}, then: func(s *Session) { s.gone(first) }, want: 0},
		"it was deleted, and again":       {paths: []string{first}, then: func(s *Session) { s.Gone(first, first) }, want: 0},
		"another node was":                {paths: []string{first}, then: func(s *Session) { s.gone("/lock/_c_1" + guid[1:] + "-lock-0000000003") }, want: 1},
		"no node was made":                {err: zk.ErrNoNode, want: 0},
		"the request was not sent":        {err: zk.ErrNoServer, want: 0},
		"no answer":                       {err: zk.ErrConnectionClosed, want: 1},
		"no answer, and no node is there": {err: zk.ErrConnectionClosed, then: func(s *Session) { s.vacate(guid) }, want: 0},
		"no answer, and once more":        {err: zk.ErrConnectionClosed, then: func(s *Session) { _ = making(s, one, nil, first) }, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := fresh(1 << 20)
			if err := making(s, one, c.err, c.paths...); !errors.Is(err, c.err) {
				t.Fatal(err)
			}
			if c.then != nil {
				c.then(s)
			}
			if want := c.want * (4 + len(first)); s.room != want || len(s.rooms) != c.want {
				t.Errorf("it takes %d bytes, of %d guids; want %d of %d", s.room, len(s.rooms), want, c.want)
			}
		})
	}

	// While requests are under way, and just when they are answered, all of them count.
	s := fresh(2 * (4 + len(first)))
	third := Room{}
	third.Add("1"+guid[1:], len(first))
	both := Room{}
	both.Add(guid, len(first))
	both.Add(guid, len(second))
	_, err := s.Making(both, func() ([]string, error) {
		if err := making(s, third, nil); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%v, while a request for all the room is under way", err)
		}
		return []string{first, second}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Untrack(first, second) // their deletion begins
	if err := making(s, third, nil); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "servers read") {
		t.Errorf("%v, while the nodes are being deleted", err)
	}
	s.gone(first)
	if err := making(s, third, nil); err != nil {
		t.Errorf("%v, when one was deleted", err)
	}
	s.gone(second)
	if err := making(s, one, nil, first); err != nil {
		t.Errorf("%v, when both were", err)
	}
}
