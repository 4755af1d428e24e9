package model

import (
	"time"

	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// Tree is what the server's data are now, nil before its first step. It changes with the
// next one.
func (s *Server) Tree() *tree.Tree { return s.tree }

// SetClock says what the wall clock's time was at the instant 0.
func (s *Server) SetClock(start time.Time) { s.config.Start = start }

// StepClock says by how much the wall clock is ahead of Start and the time that has passed
// since; behind, if d is negative.
func (s *Server) StepClock(d time.Duration) { s.stepped = d }

// expire ends a session that is not silent, if this server leads.
func (s *Server) expire(session int64) {
	if l, leads := s.role.(*leader); leads && l.Serves() && l.sessions.Touch(l.now, session, 0) {
		l.sessions.Close(session)
		l.Ask(&tree.Request{Session: session, Op: wire.CloseSession})
	}
}
