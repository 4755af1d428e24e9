// Package links gives every pair of hosts a network link of its own, through
// Toxiproxy, that can be cut, slowed and healed.
package links

import (
	"context"
	"time"
)

// Cut is a way in which a link stops carrying data.
type Cut string

// The cuts. After Heal of any of them the old connections are closed.
const (
	Down         Cut = "down"          // connections are closed, new ones refused at once
	BlackHole    Cut = "black-hole"    // data vanishes both ways, connections stay open
	RequestsLost Cut = "requests-lost" // data towards the server vanishes
	RepliesLost  Cut = "replies-lost"  // requests are carried out, their replies vanish
)

// Network makes links.
type Network interface {
	// Link opens a listener on loopback that carries every connection to
	// upstream. Names are unique in a network.
	Link(ctx context.Context, name, upstream string) (Link, error)
	// Close removes every link.
	Close() error
}

// Link is one proxied path to one upstream address. Its methods may be called
// from several goroutines; they return when the change is in force.
type Link interface {
	Name() string
	Addr() string // host:port to dial instead of the upstream
	Cut(ctx context.Context, cut Cut) error
	Delay(ctx context.Context, latency, jitter time.Duration) error // each way
	Heal(ctx context.Context) error
	Close() error // removes the link
}
