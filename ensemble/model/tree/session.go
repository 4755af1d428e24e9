package tree

import (
	"maps"
	"slices"
)

// Session is a session that has begun and not ended.
type Session struct {
	ID      int64
	Timeout int32 // ms
}

// Sessions returns the sessions, sorted by their ids.
func (t *Tree) Sessions() []Session {
	all := make([]Session, 0, len(t.sessions))
	for _, id := range slices.Sorted(maps.Keys(t.sessions)) {
		all = append(all, Session{id, t.sessions[id]})
	}
	return all
}

// Session returns the session with the id.
func (t *Tree) Session(id int64) (Session, bool) {
	timeout, ok := t.sessions[id]
	return Session{id, timeout}, ok
}

// Owners returns the ids of the sessions that own nodes, sorted, including sessions that
// have ended if nodes have outlived them.
func (t *Tree) Owners() (ids []int64) {
	for _, id := range slices.Sorted(maps.Keys(t.ephemerals)) {
		if len(t.ephemerals[id]) > 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// Ephemerals returns the paths of a session's ephemeral nodes, sorted.
func (t *Tree) Ephemerals(session int64) []string { return slices.Clone(t.ephemerals[session]) }
