// Package ports chooses TCP ports for listeners that will be closed and opened
// again on the same number: a link that is cut, a server that is killed.
//
// Such a port must not come from the range that the kernel hands to outgoing
// connections. While nobody listens there, a client that keeps dialling it can
// be given that very number as its own and connect to itself, and any other
// connection of the machine can take it, so that the listener never returns.
//
// Nor may two processes choose the same one: between the choice and the listener
// lies the start of a JVM. Each process claims blocks of ports for itself.
package ports

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

// ErrNone is returned by Free when too few ports are free.
var ErrNone = errors.New("no free TCP port found")

const (
	low   = 10000
	high  = 32000
	block = 50 // ports that a process claims at once
	most  = 40 // claims of one process: the others need ports too
	tries = 500
)

var (
	mu     sync.Mutex
	source = rand.New(rand.NewPCG(uint64(os.Getpid()), uint64(time.Now().UnixNano())))
	mine   []int       // the claimed ports that were not given yet, in random order
	spent  []int       // the claimed ports that were given, the oldest first
	claims []io.Closer // held until the process ends
)

// Free returns n distinct ports on which nobody listens at the moment, and that
// no other process which asks this package is given while this one runs. The
// choice is random and needs no seed: no result depends on a port's number.
func Free(n int) ([]int, error) {
	mu.Lock()
	defer mu.Unlock()
	found := make([]int, 0, n)
	for drawn := range tries + n {
		if len(found) == n {
			return found, nil
		}
		if len(mine) == 0 {
			refill(drawn)
		}
		if len(mine) == 0 {
			break
		}
		port := mine[0]
		mine, spent = mine[1:], append(spent, port)
		if Check(port) == nil {
			found = append(found, port)
		}
	}
	if len(found) == n {
		return found, nil
	}
	from, to := span()
	return nil, fmt.Errorf("%w between %d and %d", ErrNone, from, to)
}

// refill makes ports ready to be given: those of a block that nobody else has
// claimed, or else the ones given longest ago, or else a block that is claimed:
// Check still refuses what is in use. The last keep of the spent ports belong to
// the call that asks, and stay spent.
func refill(keep int) {
	from, to := span()
	blocks := source.Perm((to - from) / block)
	for _, n := range blocks {
		if len(claims) >= most {
			break
		}
		if claim, err := claimBlock(from + n*block); err == nil {
			claims = append(claims, claim)
			take(from + n*block)
			return
		}
	}
	if again := len(spent) - keep; again > 0 {
		mine, spent = slices.Clone(spent[:again]), slices.Clone(spent[again:])
		return
	}
	take(from + blocks[0]*block)
}

// take makes the ports of one block ready to be given.
func take(first int) {
	mine = source.Perm(block)
	for i := range mine {
		mine[i] += first
	}
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
