package model

import (
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// Config is the configuration of one server; the servers of an ensemble differ in ID
// and Reconnected alone.
type Config struct {
	ID      int   // the server's myid, from 1 to 255
	Servers []int // the myids of the ensemble's servers, this one among them
	// Version is the ZooKeeper version that the server behaves as, and reports:
	// "3.8.0" if empty.
	Version string
	// TickTime is ZooKeeper's unit of time, 200 ms if 0, in whole milliseconds.
	TickTime time.Duration
	// InitLimit is the number of ticks that a follower may take to connect to the
	// leader and get its state, 10 if 0.
	InitLimit int
	// SyncLimit is the number of ticks after which a follower and its leader give each
	// other up, 5 if 0.
	SyncLimit int
	// MinSessionTimeout and MaxSessionTimeout bound the session timeout that a client may
	// negotiate, from 500 ms to a minute if 0.
	MinSessionTimeout, MaxSessionTimeout time.Duration
	// Reconnected is the same as service.Settings.Reconnected.
	Reconnected time.Duration
	// ContainerInterval is the interval at which the leader deletes containers and expired TTL
	// nodes, a minute if 0.
	ContainerInterval time.Duration
	// Refuse is the same as service.Settings.Refuse.
	Refuse func(ip string, op wire.Op) (code wire.Code, part bool)
	// SASLUsers maps the users that may authenticate by SASL with DIGEST-MD5 to their passwords.
	// The server has no SASL if it is nil.
	SASLUsers map[string]string
	// DemandSASL refuses service to clients that have not authenticated by SASL
	// (enforce.auth.schemes=sasl).
	DemandSASL bool
	// Applied, if not nil, is called with each transaction that the server has applied. It must not
	// call back. A server whose leader is gone applies what it has logged, which may not be
	// committed.
	Applied func(x *tree.Txn, committed bool)
	// Start is the wall clock's time at the instant 0, 1970 if zero.
	Start time.Time
}

// settle sets the fields that are 0 to their defaults, and returns an error for values
// that are impossible.
func (c *Config) settle() error {
	for value, standard := range map[*time.Duration]time.Duration{
		&c.TickTime: 200 * time.Millisecond, &c.MinSessionTimeout: 500 * time.Millisecond,
		&c.MaxSessionTimeout: time.Minute, &c.ContainerInterval: time.Minute,
	} {
		if *value == 0 {
			*value = standard
		}
	}
	for value, standard := range map[*int]int{&c.InitLimit: 10, &c.SyncLimit: 5} {
		if *value == 0 {
			*value = standard
		}
	}
	if c.Version == "" {
		c.Version = "3.8.0"
	}
	if c.Start.IsZero() {
		c.Start = time.Unix(0, 0)
	}
	switch {
	case !slices.Contains(c.Servers, c.ID):
		return fmt.Errorf("server %d is none of %v", c.ID, c.Servers)
	case c.ID < 1 || c.ID > 255:
		return fmt.Errorf("server %d: want 1 to 255", c.ID)
	case c.TickTime < time.Millisecond || c.InitLimit < 1 || c.SyncLimit < 1:
		return fmt.Errorf("tick of %v, initLimit %d, syncLimit %d: all must be positive", c.TickTime, c.InitLimit, c.SyncLimit)
	case c.MinSessionTimeout > c.MaxSessionTimeout:
		return fmt.Errorf("session timeouts from %v to %v: the range is empty", c.MinSessionTimeout, c.MaxSessionTimeout)
	}
	return nil
}

// release returns the version whose behavior the server has.
func (c *Config) release() tree.Release {
	if c.Version < "3.9" {
		return tree.V38
	}
	return tree.V39
}

// syncTimeout is the time that a server waits for its leader or follower.
func (c *Config) syncTimeout() time.Duration { return time.Duration(c.SyncLimit) * c.TickTime }

// initTimeout is the time that it waits until they are in sync.
func (c *Config) initTimeout() time.Duration { return time.Duration(c.InitLimit) * c.TickTime }

// isQuorum reports whether n servers are more than half.
func (c *Config) isQuorum(n int) bool { return 2*n > len(c.Servers) }
