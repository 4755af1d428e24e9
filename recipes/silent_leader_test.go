package recipes_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/recipes"
)

// possession has the method of leases and terms that this test needs.
type possession interface{ Lost() <-chan struct{} }

// TestALeaderIsSilentAndThenDeaf holds a lock, on real servers, while the servers' leader stands
// still or its messages come late. Meanwhile the holder's session makes requests. Then the
// messages of the holder's server to the leader are lost, and finally the holder's own link. The
// next client must not get the lock before the holder is told of its loss. The first rule of
// evidence left two holders for seconds: it assumed that a follower reports by a clock of its
// own. All parameters are random, seeded by the number of the try; ZKVERIFY_TRIES sets the number
// of tries.
func TestALeaderIsSilentAndThenDeaf(t *testing.T) {
	needReal(t, "when a leader pings, and what its followers make of it, is up to ZooKeeper")
	tries, _ := strconv.Atoi(os.Getenv("ZKVERIFY_TRIES"))
	for try := range max(tries, 2) {
		t.Run(strconv.Itoa(try), func(t *testing.T) {
			if try > 0 && tries == 0 {
				ensembletest.EveryNight(t)
			}
			draw := rand.New(rand.NewPCG(uint64(try), 37))
			s := &silence{T: t, draw: draw, tick: 500 * time.Millisecond}
			if tries > 0 && draw.IntN(3) == 0 {
				s.tick = 2 * time.Second // ZooKeeper's default
			}
			s.run()
		})
	}
}

// silence holds the state of one try.
type silence struct {
	*testing.T
	draw *rand.Rand
	tick time.Duration

	own     ensembletest.Servers
	leader  int
	server  int // the holder's
	network links.Network
	beats   chan struct{} // the holder has sent a write
}

func (s *silence) upTo(d time.Duration) time.Duration { return time.Duration(s.draw.Int64N(int64(d))) }

func (s *silence) run() {
	var err error
	if s.network, err = links.InProcess(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { s.network.Close() })
	observer := s.draw.IntN(3) == 0
	config := ensemble.LocalConfig{Peers: s.network, TickTime: s.tick, MinSessionTimeout: 2 * s.tick}
	if observer {
		config.Observers = 1
	}
	s.own = ensembletest.Start(s.T, config)
	if s.leader, err = s.own.Leader(s.Context()); err != nil {
		s.Fatal(err)
	}
	s.server = s.leader%3 + 1
	other := s.server%3 + 1
	if other == s.leader {
		other = other%3 + 1
	}
	if observer {
		s.server = 4
	}
	all := s.own.Servers()
	link, err := s.network.Link(s.Context(), s.Name(), all[s.server-1].Addr)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { link.Close() })

	s.beats = make(chan struct{}, 1)
	timeout := 5 * s.tick
	holder := s.connect(link.Addr(), timeout, recipes.WithDialer(s.dial))
	next := s.connect(all[other-1].Addr, timeout)
	recipe := []string{"mutex", "semaphore", "election"}[s.draw.IntN(3)]
	held, err := take(s.Context(), recipe, holder)
	if err != nil {
		s.Fatal(err)
	}
	taken, lost := make(chan time.Time, 1), make(chan time.Time, 1)
	go func() { // ends with the try
		if _, err := take(s.Context(), recipe, next); err != nil {
			s.Error(err)
		}
		taken <- time.Now()
	}()
	go func() { // ends with the lease
		<-held.Lost()
		lost <- time.Now()
	}()
	time.Sleep(timeout)
	s.silenceAndDeafness(holder, link)
	free, told := <-taken, <-lost
	s.Logf("a %s through server %d, leader %d: the holder is told %v before the next one has it", recipe, s.server, s.leader, free.Sub(told).Round(time.Millisecond))
	if free.Before(told) {
		s.Errorf("two holders for %v", told.Sub(free))
	}
}

func (s *silence) connect(addr string, timeout time.Duration, options ...recipes.Option) *recipes.Client {
	s.Helper()
	c, err := recipes.Connect(within(s.T), []string{addr}, append(options, recipes.WithSessionTimeout(timeout), recipes.WithServerTick(s.tick))...)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		_ = c.Close(ctx) // its link may be cut
	})
	return c
}

func take(ctx context.Context, recipe string, c *recipes.Client) (possession, error) {
	switch recipe {
	case "semaphore":
		return recipes.NewSemaphore(c, "/l", 1).Acquire(ctx)
	case "election":
		return recipes.NewElection(c, "/l").Campaign(ctx)
	}
	return recipes.NewMutex(c, "/l").Acquire(ctx)
}

// dial returns a connection that sends to beats when the holder writes a transaction.
func (s *silence) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	wire := &intercept{}
	wire.on(func(op int32) bool {
		if op == opBeat {
			select {
			case s.beats <- struct{}{}:
			default:
			}
		}
		return true
	}, nil)
	return wire.dial(ctx, network, addr)
}

// silenceAndDeafness injects the faults.
func (s *silence) silenceAndDeafness(holder *recipes.Client, link links.Link) {
	select { // from a beat on
	case <-s.beats:
	default:
	}
	<-s.beats
	time.Sleep(s.upTo(s.tick / time.Duration(1+s.draw.IntN(8))))
	began := time.Now()
	at := func(d time.Duration) { time.Sleep(time.Until(began.Add(d))) }
	silent := s.tick/2 + s.upTo(s.tick*2)
	if s.draw.IntN(3) > 0 { // long enough for a request and one a tick later, and no more
		silent = s.tick*3/2 + s.upTo(s.tick*3/4)
	}
	deaf := silent - s.tick/16 + s.upTo(s.tick/12)
	cut := silent + s.upTo(s.tick/4)
	late := s.draw.IntN(3) == 0 // its messages come late instead
	resume := func() {}
	if late {
		for _, l := range s.own.Peer(s.server, s.leader) {
			s.must(l.DelayReplies(s.Context(), silent))
		}
	} else {
		s.must(s.own.Pause(s.Context(), s.leader))
		resume = func() { s.must(s.own.Resume(s.Context(), s.leader)) }
	}
	for i := range 2 + s.draw.IntN(3) {
		when, kind := s.upTo(silent), s.draw.IntN(3)
		switch { // a request that may be answered before a heartbeat asks the leader, and one at the end
		case i == 0:
			when = s.upTo(s.tick * 3 / 4)
			kind = min(kind, s.draw.IntN(3)) // more often a read
		case i == 1:
			when = silent - s.upTo(s.tick/4)
			kind = max(kind, s.draw.IntN(3)) // more often a write
		}
		go func() { // ends with the answer, or the connection
			at(when)
			switch kind {
			case 0:
				_, _, _ = holder.Conn().Exists("/")
			case 1:
				_, _ = holder.Conn().Sync("/")
			default:
				_, _ = holder.Conn().Multi(&zk.CheckVersionRequest{Path: "/l", Version: -1})
			}
		}()
	}
	s.Logf("silent for %v (words late: %v), deaf from %v, the holder cut off from %v", silent, late, deaf, cut)
	go func() { // ends with the pause
		at(silent)
		resume()
	}()
	at(deaf)
	for _, l := range s.own.Peer(s.server, s.leader) {
		s.must(l.Cut(s.Context(), links.RequestsLost))
	}
	for _, l := range s.own.Peer(s.leader, s.server) {
		s.must(l.Cut(s.Context(), links.RepliesLost))
	}
	at(cut)
	s.must(link.Cut(s.Context(), links.BlackHole))
	at(silent + s.tick/8)
}

func (s *silence) must(err error) {
	s.Helper()
	if err != nil {
		s.Error(fmt.Errorf("a fault: %w", err))
	}
}
