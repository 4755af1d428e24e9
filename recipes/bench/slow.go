package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
)

// slowLinks lead to the servers over a slow network, like that between the machines of one
// data center or two. They are Toxiproxy's, in this process.
type slowLinks struct {
	delay   time.Duration // each way
	network links.Network
	addrs   []string
	relays  *relays // count the traffic, in front of the links
}

// newSlowLinks opens a link to each server that delays all packets, each way.
func newSlowLinks(ctx context.Context, servers []string, delay time.Duration) (_ *slowLinks, err error) {
	network, err := links.InProcess()
	if err != nil {
		return nil, err
	}
	s := &slowLinks{delay: delay, network: network}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	for i, server := range servers {
		link, err := network.Link(ctx, fmt.Sprint("slow-", i), server)
		if err != nil {
			return nil, err
		}
		if err := link.Delay(ctx, delay, 0); err != nil {
			return nil, err
		}
		s.addrs = append(s.addrs, link.Addr())
	}
	s.relays, err = newRelays(s.addrs)
	return s, err
}

func (s *slowLinks) close() error {
	var err error
	if s.relays != nil {
		err = s.relays.close()
	}
	return errors.Join(err, s.network.Close())
}

// slowed returns the links to the servers with this delay.
func (s *servers) slowed(ctx context.Context, delay time.Duration) (*slowLinks, error) {
	if s.slow != nil && s.slow.delay == delay {
		return s.slow, nil
	}
	if s.slow != nil {
		if err := s.slow.close(); err != nil {
			return nil, err
		}
	}
	var err error
	s.slow, err = newSlowLinks(ctx, s.addrs, delay)
	return s.slow, err
}
