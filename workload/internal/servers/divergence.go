package servers

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/histories"
)

// Divergences counts, for each server whose output can be read, how often it has found
// that its tree was not the leader's.
type Divergences map[int]int

// loading is the longest time between the moment a server begins to serve a wrong tree and the
// moment it reports that: a tree is checked with each transaction of the log that it is loaded
// from, and with the next one.
const loading = time.Second

// DivergedServers returns the servers that have found, since before was counted, that their
// tree was not the leader's, and counts anew. Such a server may have the leader's tree again by
// now, as after it was sent a snapshot: then Compare finds no difference. But the answers that
// clients got from it in between were wrong. elapsed is the time of the run now.
func (z *Times) DivergedServers(ctx context.Context, servers ensemble.Ensemble, elapsed time.Duration, before Divergences) (now Divergences, found []histories.Divergence, err error) {
	processes, ok := servers.(ensemble.Processes)
	if !ok {
		return nil, nil, nil
	}
	origin := time.Now().Add(-elapsed)
	now = make(Divergences)
	var errs []error
	for _, s := range servers.Servers() {
		text, err := processes.Output(ctx, s.ID)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all := ensemble.Divergences(text)
		now[s.ID] = len(all)
		for _, d := range all[min(before[s.ID], len(all)):] {
			since := z.before(d.Zxid)
			if !d.At.IsZero() {
				since = max(since, d.At.Sub(origin)-loading)
			}
			found = append(found, histories.Divergence{Server: s.ID, Zxid: d.Zxid, Since: since})
		}
	}
	return now, found, errors.Join(errs...)
}

// Times records, over time, the newest transaction that any of the servers knew of when it was
// asked. Its zero value is ready.
type Times struct {
	mu    sync.Mutex
	times []zxidTime // both grow
}

type zxidTime struct {
	zxid int64
	at   time.Duration
}

// Saw records the answer of a server at a time.
func (z *Times) Saw(zxid int64, at time.Duration) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if n := len(z.times); n == 0 || zxid > z.times[n-1].zxid && at > z.times[n-1].at {
		z.times = append(z.times, zxidTime{zxid, at})
	}
}

// before returns the last time at which no server that was asked knew of a transaction: 0 if
// none is known.
func (z *Times) before(zxid int64) (last time.Duration) {
	z.mu.Lock()
	defer z.mu.Unlock()
	for _, t := range z.times {
		if t.zxid >= zxid {
			break
		}
		last = t.at
	}
	return last
}
