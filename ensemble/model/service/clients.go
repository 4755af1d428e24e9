package service

import (
	"time"
)

// clients are the connections of a server's clients.
type clients struct {
	service *Service
	conns   map[ConnID]*Connection
	soonest time.Duration // instant at which the first silent one is closed; not known while stale
	stale   bool
}

// idleUnit is the unit to which the limits of silent connections are rounded up, and the
// limit of connections without a session (zookeeper.nio.sessionlessCnxnTimeout).
const idleUnit = 10 * time.Second

func (k *clients) accept(in Accepted) {
	c := &Connection{service: k.service, id: in.Conn, ip: in.IP}
	c.auth = append(c.auth, ipIdentity(in.IP))
	k.conns[in.Conn] = c
	c.heard(idleUnit)
}

func (k *clients) receive(in Received) {
	c := k.conns[in.Conn]
	if c == nil {
		return // bytes that were on their way when the connection was closed
	}
	c.buffer = append(c.buffer, in.Data...)
	c.read()
}

// gone notes that a client has closed its connection.
func (k *clients) gone(id ConnID) {
	if c := k.conns[id]; c != nil {
		c.forget()
	}
}

// closeAll closes all connections: the server no longer serves.
func (k *clients) closeAll() {
	for _, id := range sorted(k.conns) {
		k.conns[id].close()
	}
}

// closeSession closes the connection of a session, unless it is other.
func (k *clients) closeSession(session int64, other *Connection) bool {
	for _, id := range sorted(k.conns) {
		if c := k.conns[id]; c.session == session && c != other {
			c.close()
			return true
		}
	}
	return false
}

// due returns the instant at which the first silent connection is closed.
func (k *clients) due() time.Duration {
	if k.stale {
		k.soonest, k.stale = never, false
		for _, c := range k.conns {
			k.soonest = min(k.soonest, c.expires)
		}
	}
	return k.soonest
}

// moved notes that a connection's time of closing has changed, or that it is gone.
func (k *clients) moved(before, now time.Duration) {
	if before == k.soonest && before != now {
		k.stale = true
	}
	k.soonest = min(k.soonest, now)
}

func (k *clients) wake() {
	for _, id := range sorted(k.conns) {
		if c := k.conns[id]; k.service.now >= c.expires {
			c.close()
		}
	}
}
