package model

import (
	"time"

	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// Tree returns the server's current data, nil before its first step. The next step
// changes it.
func (s *Server) Tree() *tree.Tree { return s.tree }

// SetClock sets the wall clock's time at the instant 0.
func (s *Server) SetClock(start time.Time) { s.config.Start = start }

// StepClock sets the offset of the wall clock from Start plus the time that has passed
// since: ahead, or behind if d is negative.
func (s *Server) StepClock(d time.Duration) { s.stepped = d }

// expire ends a session even though its client is not silent, if this server leads.
func (s *Server) expire(session int64) {
	if l, leads := s.role.(*leader); leads && l.Serves() && l.sessions.Touch(l.now, session, 0) {
		l.sessions.Close(session)
		l.Ask(&tree.Request{Session: session, Op: wire.CloseSession})
	}
}
