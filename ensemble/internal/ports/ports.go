// Package ports chooses TCP ports for listeners that will be closed and opened
// again on the same number: a link that is cut, a server that is killed.
//
// Such a port must not come from the range that the kernel hands to outgoing
// connections. While nobody listens there, a client that keeps dialling it can
// be given that very number as its own and connect to itself, and any other
// connection of the machine can take it, so that the listener never returns.
package ports

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"sync"
	"time"
)

// ErrNone is returned by Free when too few ports are free.
var ErrNone = errors.New("no free TCP port found")

const (
	low   = 10000
	high  = 32000
	tries = 500 // per call, far more than a machine in its senses needs
)

var (
	mu     sync.Mutex
	source = rand.New(rand.NewPCG(uint64(os.Getpid()), uint64(time.Now().UnixNano())))
	given  = map[int]bool{} // no port is given twice, so that two callers at once cannot collide
)

// Free returns n distinct ports on which nobody listens at the moment. The
// choice is random and needs no seed: no result depends on a port's number.
func Free(n int) ([]int, error) {
	mu.Lock()
	defer mu.Unlock()
	found := make([]int, 0, n)
	from, to := span()
	if len(given) > (to-from)/2 {
		clear(given)
	}
	for range tries + n {
		if len(found) == n {
			return found, nil
		}
		port := from + source.IntN(to-from)
		if given[port] || Check(port) != nil {
			continue
		}
		given[port] = true
		found = append(found, port)
	}
	if len(found) == n {
		return found, nil
	}
	return nil, fmt.Errorf("%w between %d and %d", ErrNone, from, to)
}

// Check returns nil when a listener can be opened on port, on all addresses.
func Check(port int) error {
	l, err := net.Listen("tcp4", net.JoinHostPort("", strconv.Itoa(port)))
	if err != nil {
		return err
	}
	return l.Close()
}

// span returns the range to choose from: below the ports of outgoing
// connections, which start at 32768 on Linux and at 49152 elsewhere unless an
// administrator moved them.
func span() (from, to int) {
	var first, last int
	if text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		if _, err := fmt.Sscan(string(text), &first, &last); err == nil && first < high {
			if last < 60000 {
				return last + 1, 65535
			}
			return 1024, max(first, 2048) // nothing better is left
		}
	}
	return low, high
}
