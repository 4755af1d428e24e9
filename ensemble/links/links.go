package links

import (
	"context"
	"errors"
	"net"
	"time"
)

// Errors to match with errors.Is.
var (
	// ErrClosed is returned by every method of a Link or Network after Close.
	ErrClosed = errors.New("link is closed")
	// ErrUnreachable is returned by Remote when no Toxiproxy answers there.
	ErrUnreachable = errors.New("no Toxiproxy server answers")
	// ErrNameTaken is returned by Network.Link for a name in use.
	ErrNameTaken = errors.New("a link of this name exists")
	// ErrStuck is returned when Toxiproxy did not carry out a change in time. The link's
	// condition is then unknown; the next Cut, Delay or Heal opens a new proxy.
	ErrStuck = errors.New("link did not change in time")
)

// Cut is a way in which a link stops carrying data.
type Cut string

// The cuts. After Heal of any of them the old connections are closed.
const (
	Down         Cut = "down"          // connections are closed, new ones refused at once
	BlackHole    Cut = "black-hole"    // data vanishes both ways, connections stay open
	RequestsLost Cut = "requests-lost" // data towards the server vanishes
	RepliesLost  Cut = "replies-lost"  // requests are carried out, their replies vanish
	Reset        Cut = "reset"         // connections are accepted; the first data towards the server resets them
)

// Cuts lists every Cut.
func Cuts() []Cut { return []Cut{Down, BlackHole, RequestsLost, RepliesLost, Reset} }

// Network makes links.
type Network interface {
	// Link opens a listener that carries every connection to upstream, a
	// host:port. Names are unique in a network.
	Link(ctx context.Context, name, upstream string) (Link, error)
	// Close removes every link. It may be called more than once.
	Close() error
}

// Dialer is implemented by *net.Dialer, and by a Network whose links are not reached by
// TCP.
type Dialer interface {
	// DialContext opens a connection to an address: that of a link, or of a server.
	DialContext(ctx context.Context, network, addr string) (net.Conn, error)
}

// DialerOf returns the dialer that opens connections through a network's links.
func DialerOf(n Network) Dialer {
	if d, ok := n.(Dialer); ok {
		return d
	}
	return new(net.Dialer)
}

// Link is one proxied path to one upstream address. Its methods may be called
// from several goroutines; they return when the change is in force.
type Link interface {
	// Name returns the name under which the link was made.
	Name() string
	// Addr returns the host:port to dial instead of the upstream.
	Addr() string
	// Cut stops the link from carrying data, in the given way.
	Cut(ctx context.Context, cut Cut) error
	// Delay holds back data by latency ± a random part of jitter, each way.
	// Both are rounded up to milliseconds; jitter must not exceed latency.
	// Zero for both ends a delay.
	Delay(ctx context.Context, latency, jitter time.Duration) error
	// DelayReplies holds back the server's data by latency, rounded up to milliseconds. Zero ends
	// a delay.
	DelayReplies(ctx context.Context, latency time.Duration) error
	// Stall holds back the client's data (requests), the server's data (replies), or both; at
	// least one must be true. The next change of the link delivers the data at once, in order,
	// unless that change is a cut that loses it.
	Stall(ctx context.Context, requests, replies bool) error
	// Throttle carries at most so many bytes a second, each way. It is rounded
	// up to thousands, and must be positive.
	Throttle(ctx context.Context, bytesPerSecond int) error
	// Slice carries data in pieces of about size bytes, at least 2, each way,
	// with a pause after each, of whole microseconds: no message arrives in
	// one piece.
	Slice(ctx context.Context, size int, pause time.Duration) error
	// Truncate is a cut: each connection is closed after so many more bytes from the server, in
	// the middle of a reply if need be.
	Truncate(ctx context.Context, bytes int) error
	// Heal makes the link carry data again, at once.
	Heal(ctx context.Context) error
	// Close removes the link and its connections. It may be called more than
	// once.
	Close() error
}
