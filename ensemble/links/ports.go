package links

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Ports are chosen here for listeners that will be closed and opened
// again on the same number: a link that is cut, a server that is killed.
//
// Such a port must not come from the range that the kernel hands to outgoing connections.
// While no listener has the port, a client that keeps dialling it can be given that very
// number as its own and connect to itself, and any other connection of the machine can
// take it, so that the listener never returns.
//
// Nor may two processes choose the same port: between the choice and the listener lies
// the start of a JVM. Each process claims blocks of ports for itself.

// ErrNoPort is returned by FreePorts when too few ports are free.
var ErrNoPort = errors.New("no free TCP port found")

const (
	lowestPort   = 10000
	highestPort  = 32000
	portsInBlock = 50  // ports in a block
	mostBlocks   = 40  // blocks that one process takes: the others need ports too
	choices      = 500 // per call, far more than any sane machine needs
)

// portChooser chooses the ports of one process.
type portChooser struct {
	mu     sync.Mutex
	source *rand.Rand
	claim  func(first int) (io.Closer, error) // see claimBlock
	blocks map[int]io.Closer                  // by their first port; held until the process ends, nil without a claim
	ready  []int                              // to be given, in this order
	spent  []int                              // given, the oldest first
}

var processPorts = newPortChooser(claimBlock)

func newPortChooser(claim func(first int) (io.Closer, error)) *portChooser {
	source := rand.New(rand.NewPCG(uint64(os.Getpid()), uint64(time.Now().UnixNano())))
	return &portChooser{source: source, claim: claim, blocks: map[int]io.Closer{}}
}

// FreePorts returns n distinct ports, at most some thousand, on which there is no listener at
// the moment. While this process runs FreePorts gives them to no other process, as long as
// there are blocks for all. The choice is random and needs no seed: no result depends on
// a port's number. It returns ErrNoPort when too few ports are free.
func FreePorts(n int) ([]int, error) { return processPorts.free(n) }

func (c *portChooser) free(n int) ([]int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := make([]int, 0, n)
	for drawn := 0; len(found) < n; drawn++ {
		if len(c.ready) == 0 {
			c.refill(drawn)
		}
		if drawn == choices+n || len(c.ready) == 0 {
			from, to := span()
			return nil, fmt.Errorf("%w between %d and %d", ErrNoPort, from, to)
		}
		port := c.ready[0]
		c.ready, c.spent = c.ready[1:], append(c.spent, port)
		if CheckPort(port) == nil {
			found = append(found, port)
		}
	}
	return found, nil
}

// refill adds ports to ready: those of another block, or, when the process has its share
// of blocks, those that were given longest ago. The last drawn ports of spent belong to
// the current call, and stay there.
func (c *portChooser) refill(drawn int) {
	if first, ok := c.another(); ok {
		c.ready = c.source.Perm(portsInBlock)
		for i := range c.ready {
			c.ready[i] += first
		}
		return
	}
	again := max(0, len(c.spent)-drawn)
	c.ready, c.spent = slices.Clone(c.spent[:again]), slices.Clone(c.spent[again:])
}

// another claims another block and returns its first port. It takes a block that no
// process has claimed, if there is one.
func (c *portChooser) another() (first int, ok bool) {
	if len(c.blocks) == mostBlocks {
		return 0, false
	}
	from, to := span()
	for _, n := range c.source.Perm((to - from) / portsInBlock) {
		block := from + n*portsInBlock
		if _, ours := c.blocks[block]; ours {
			continue
		}
		if claim, err := c.claim(block); err == nil {
			c.blocks[block] = claim
			return block, true
		}
		first, ok = block, true
	}
	if ok {
		c.blocks[first] = nil
	}
	return first, ok
}

// CheckPort returns nil when a listener can be opened on port, on all addresses.
func CheckPort(port int) error {
	l, err := net.Listen("tcp4", net.JoinHostPort("", strconv.Itoa(port)))
	if err != nil {
		return err
	}
	return l.Close()
}

// span returns the range of ports to choose from. It lies below the ports of outgoing
// connections, which start at 32768 on Linux and at 49152 elsewhere unless an
// administrator has moved them.
func span() (from, to int) {
	var first, last int
	if text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		if _, err := fmt.Sscan(string(text), &first, &last); err == nil && first < highestPort {
			if last < 60000 {
				return last + 1, 65535
			}
			return 1024, max(first, 2048) // there is no better range
		}
	}
	return lowestPort, highestPort
}
