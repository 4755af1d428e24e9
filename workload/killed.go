package workload

import (
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// record puts an event of one of the client's processes on record, unless the
// process has died with its worker process: then it is that which is on record,
// and nothing after it until the client opens again.
func (c *client) record(e histories.Event) {
	c.gate.Lock()
	defer c.gate.Unlock()
	if c.dead || e.Process < c.killed {
		return
	}
	if e.Type == histories.Crash || e.Type == histories.Info {
		c.over = max(c.over, e.Process+1)
	}
	c.run.journal.record(e)
}

// recordAlive is record for what may come to a process after its end: then nothing is
// recorded of it.
func (c *client) recordAlive(e histories.Event) {
	c.gate.Lock()
	defer c.gate.Unlock()
	if c.dead || e.Process < max(c.over, c.killed) {
		return
	}
	c.run.journal.record(e)
}

// recordOfClient is record for what comes to the client, whichever process it is. One
// that has ended may still be the current one: then it is put down to the next.
func (c *client) recordOfClient(e histories.Event) {
	c.gate.Lock()
	defer c.gate.Unlock()
	if c.dead {
		return
	}
	if e.Process = c.current(); e.Process < c.over {
		e.Process += c.run.cfg.Clients
	}
	c.run.journal.record(e)
}

// bury puts on record that the client, which is still that which lived in a
// worker process that has ended, has crashed with it. What the client's loop is
// doing fails, one call after the other, until it opens again.
func (c *client) bury(r *remoteClient) {
	c.mu.Lock()
	current := c.target == lock.Client(r)
	process := c.process
	c.mu.Unlock()
	if !current {
		return // it has crashed before, or was not open yet
	}
	session, _, _ := r.credentials()
	c.gate.Lock()
	again := r.buried
	r.buried = true
	if !again {
		if process >= c.over {
			c.run.journal.record(histories.Event{Type: histories.Crash, Process: process, Session: lock.SessionName(session)})
			c.over = process + 1
		}
		c.killed, c.dead = process+1, true
	}
	c.gate.Unlock()
	if !again {
		c.retire()
	}
}

// die puts on record that the client, if it still is one of target, has crashed with
// its household.
func (c *client) die(target lock.Client) {
	if c.client() != target {
		return // it has not opened again yet
	}
	c.gate.Lock()
	process := c.current()
	if process >= c.over {
		c.run.journal.record(histories.Event{Type: histories.Crash, Process: process, Session: c.sessionName()})
		c.over = process + 1
	}
	c.killed, c.dead = process+1, true
	c.gate.Unlock()
	c.retire()
}

// buried reports whether the client has died with its worker process, or its
// household, and has to open again.
func (c *client) buried() bool {
	target := c.client()
	r, remote := target.(*remoteClient)
	switch {
	case remote && r.gone():
		c.bury(r) // if it opened as the process ended
	case remote || target == nil || c.alive():
		return false
	}
	c.home.vacate(c.take())
	return true
}

// alive reports whether what the client does counts: it has not crashed with
// another.
func (c *client) alive() bool {
	c.gate.Lock()
	defer c.gate.Unlock()
	return !c.dead
}

// ifAlive does something that must not happen once the client has crashed with
// another.
func (c *client) ifAlive(do func() error) error {
	c.gate.Lock()
	defer c.gate.Unlock()
	if c.dead {
		return errCrashed
	}
	return do()
}

// awake returns when the process that the client lives in runs: what a process
// would do while it is paused it does when it wakes. It reports false when there
// is no such process any more.
func (c *client) awake() bool {
	if r, remote := c.client().(*remoteClient); remote {
		return r.awake()
	}
	return c.alive()
}

// hosted reports whether the client lives in a process of its own.
func (c *client) hosted() bool { return c.run.workers != nil }
