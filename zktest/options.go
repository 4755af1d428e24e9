package zktest

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/zkverify/zkverify/ensemble/model"
	"github.com/zkverify/zkverify/ensemble/model/cluster"
)

// config holds the options of Start.
type config struct {
	cluster.Config
	links time.Duration
	limit time.Duration
}

// Option configures an Ensemble.
type Option func(*config)

func newConfig(options []Option) (*config, error) {
	c := &config{
		Config: cluster.Config{
			Servers: 3, Seed: 1, Latency: 100 * time.Microsecond, SyncTime: 500 * time.Microsecond,
			Server: model.Config{Version: "3.8.0", TickTime: 200 * time.Millisecond, Start: time.Now()},
		},
		links: 100 * time.Microsecond,
		limit: time.Hour,
	}
	for _, set := range options {
		set(c)
	}
	if v := c.Server.Version; !strings.HasPrefix(v, "3.8.") && !strings.HasPrefix(v, "3.9.") {
		return nil, fmt.Errorf("version %q: want one of 3.8 or 3.9", v)
	}
	if c.Config.Servers < 1 || c.Config.Servers > 9 {
		return nil, fmt.Errorf("%d servers: want 1 to 9", c.Config.Servers)
	}
	if c.Server.MinSessionTimeout == 0 {
		c.Server.MinSessionTimeout = 2 * c.Server.TickTime
	}
	return c, nil
}

// Servers sets the number of servers, from 1 to 9. They are numbered from 1. Default 3.
func Servers(n int) Option { return func(c *config) { c.Config.Servers = n } }

// Tick sets ZooKeeper's tickTime, in whole milliseconds: sessions expire at a tick, and a server
// gives up its connection to another one that it has not heard from for 5 ticks. Default 200 ms.
func Tick(d time.Duration) Option { return func(c *config) { c.Server.TickTime = d } }

// SessionTimeouts bounds the session timeout that a client may negotiate. Default: from 2 ticks
// to a minute.
func SessionTimeouts(shortest, longest time.Duration) Option {
	return func(c *config) { c.Server.MinSessionTimeout, c.Server.MaxSessionTimeout = shortest, longest }
}

// SASL makes the servers authenticate clients by SASL with DIGEST-MD5. users maps names to
// passwords. If demanded is true, the servers serve no other client, as with ZooKeeper's
// enforce.auth.schemes=sasl. Default: no SASL.
func SASL(users map[string]string, demanded bool) Option {
	users = maps.Clone(users)
	return func(c *config) { c.Server.SASLUsers, c.Server.DemandSASL = users, demanded }
}

// Version sets the version of ZooKeeper that the servers model: one of 3.8 or 3.9. Default 3.8.0.
func Version(v string) Option { return func(c *config) { c.Server.Version = v } }

// Seed sets the seed of the random choices: how long each message and each write to a disk takes,
// and which unsynced data survives a crash. In a bubble, runs of a test with the same seed are
// nearly the same; see the package documentation. Default 1.
func Seed(n uint64) Option { return func(c *config) { c.Config.Seed = n } }

// Latency sets the time that a message between a client and a server takes, each way; some
// messages take up to twice as long. Default 100 µs.
func Latency(d time.Duration) Option { return func(c *config) { c.links = d } }

// Limit sets the time after which the process ends with a panic and the stacks of all goroutines
// if a test in a bubble still runs. In a bubble time passes as long as a goroutine waits for it,
// so a test that waits for an event that does not come would never end. Default an hour.
func Limit(d time.Duration) Option { return func(c *config) { c.limit = d } }
