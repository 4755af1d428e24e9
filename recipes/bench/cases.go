package main

import "time"

// timedCase is a shape of work, and the peers that do it.
type timedCase struct {
	name   string
	title  string
	work   work
	peers  []string // the first is the subject of the case
	bounds []bound
	// slices is the number of works of fewer cycles into which a repetition is cut, so that
	// the peers take turns more often. The repetition's time is the sum of theirs. 0 means 1.
	slices int
	// delay is the delay of packets between clients and servers, each way. 0 means
	// that of loopback. A case with a delay has a row for its hand-overs too.
	delay time.Duration
	// once holds the peers that are too slow for more than one repetition, without
	// a warm-up.
	once map[string]bool
}

// timedCases holds the cases. Their targets are ratios to the peer named.
var timedCases = []timedCase{
	{
		name: "serial", title: "1 client, 1,000 cycles, no contention",
		work: work{kind: mutex, sessions: 1, contenders: 1, cycles: 1000}, slices: 10,
		peers:  []string{ours, floor, zkLock, sequential, naive, curator, kazoo},
		bounds: []bound{{floor, 1.08}},
	}, {
		name: "contended-100", title: "100 contenders, 1 session, 1 cycle each",
		work:  work{kind: mutex, sessions: 1, contenders: 100, cycles: 1},
		peers: []string{ours, floor, zkLock, sequential, naive, curator, kazoo},
	}, {
		name: "contended-1000", title: "1,000 contenders, 1 session, 1 cycle each",
		work:   work{kind: mutex, sessions: 1, contenders: 1000, cycles: 1},
		peers:  []string{ours, floor, zkLock, sequential, naive, curator, kazoo},
		bounds: []bound{{floor, 1.2}, {zkLock, 0.7}, {curator, 0.2}},
		once:   map[string]bool{naive: true},
	}, {
		name: "handoff-1000", title: "1,000 contenders, 1 session, local hand-off",
		work:   work{kind: mutex, sessions: 1, contenders: 1000, cycles: 1},
		peers:  []string{handoff, ours, curator},
		bounds: []bound{{curator, 0.02}},
	}, {
		name: "sessions", title: "20 sessions, 50 cycles each",
		work: work{kind: mutex, sessions: 20, contenders: 20, cycles: 50}, slices: 5,
		peers:  []string{ours, floor, trusting, zkLock, sequential, curator, kazoo},
		bounds: []bound{{zkLock, 0.95}, {curator, 0.85}},
	}, {
		name: "slow-links", title: "20 sessions, 1 ms each way, 10 cycles each",
		work: work{kind: mutex, sessions: 20, contenders: 20, cycles: 10}, delay: time.Millisecond,
		peers:  []string{ours, floor, trusting, zkLock, sequential, curator, kazoo},
		bounds: []bound{{curator, 0.65}, {zkLock, 0.7}},
	}, {
		name: "cycles-10", title: "10 contenders, 1 session, 100 cycles each",
		work: work{kind: mutex, sessions: 1, contenders: 10, cycles: 100}, slices: 10,
		peers: []string{ours, floor, zkLock, curator},
	}, {
		name: "cycles-100", title: "100 contenders, 1 session, 10 cycles each",
		work: work{kind: mutex, sessions: 1, contenders: 100, cycles: 10}, slices: 5,
		peers: []string{ours, floor, zkLock, curator},
	}, {
		name: "semaphore", title: "semaphore of 10, 100 contenders, 1 session, 5 cycles each",
		work: work{kind: semaphore, sessions: 1, contenders: 100, cycles: 5, permits: 10}, slices: 5,
		peers:  []string{ours, curator}, // kazoo's counts nodes of Curator's layout as permits
		bounds: []bound{{curator, 0.3}},
	}, {
		name: "readwrite", title: "read/write lock, 1 writer in 10, 100 contenders, 1 session, 5 cycles each",
		work: work{kind: readWrite, sessions: 1, contenders: 100, cycles: 5}, slices: 5,
		peers:  []string{ours, curator}, // kazoo's deadlocks (kazoo #649)
		bounds: []bound{{curator, 0.3}},
	}, {
		name: "worker", title: "a worker process of zkverify, 6 sessions, 100 cycles each",
		work: work{kind: mutex, sessions: 6, contenders: 6, cycles: 100}, slices: 5,
		peers:  []string{inWorker, curator},
		bounds: []bound{{curator, 1.15}},
	}, {
		name: "worker-holds", title: "a worker process of zkverify, 6 sessions, 100 cycles each, holds of 2 ms as in a run",
		work: work{kind: mutex, sessions: 6, contenders: 6, cycles: 100, hold: 2 * time.Millisecond}, slices: 5,
		peers:  []string{inWorker, curator},
		bounds: []bound{{curator, 1.15}},
	},
}
