package session

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// startSession starts a session on a zk.Conn of its own. Its ready is closed when a
// server has granted it.
func startSession(c *common) (*Session, error) {
	s := &Session{
		common:      c,
		ready:       make(chan struct{}),
		Ended:       make(chan struct{}),
		changed:     make(chan struct{}),
		timeout:     c.cfg.Timeout,
		held:        make(map[Dependent]struct{}),
		waiting:     make(map[string]struct{}),
		rooms:       Room{},
		calls:       make(chan struct{}, maxCalls),
		putOff:      newLane(),
		beatsPutOff: newLane(),
		nudges:      make(chan struct{}, 1),
	}
	s.Quit, s.stop = context.WithCancel(context.Background())
	s.dials, s.noDial = context.WithCancelCause(s.Quit)
	conn, events, err := zk.Connect(c.cfg.Servers, c.cfg.Timeout,
		zk.WithDialer(connector{s}.dial),
		zk.WithHostProvider(&hosts{over: s.Ended}),
		zk.WithEventCallback(func(e zk.Event) {
			s.watches.happened(e)
			connector{s}.event(e)
		}),
		zk.WithMaxConnBufferSize(4+c.cfg.MaxPacket),
		zk.WithLogger(connector{s}),
		zk.WithLogInfo(false))
	if err != nil {
		s.stop()
		return nil, err
	}
	s.Conn = conn
	if s.alarm = c.cfg.Clock.NewAlarm(); s.alarm != nil {
		s.wg.Go(s.awaitAlarm)
	}
	s.wg.Go(func() {
		for range events { // closed when the Conn's loop has ended
		}
	})
	s.wg.Go(s.closeWhenEnded)
	s.wg.Go(heartbeat{s}.beat)
	return s, nil
}
