package servers

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/txnlog"
	"github.com/zkverify/zkverify/histories"
)

// DivergedLogs reads the servers' logs, if their files are on this machine, and reports the
// server that was wrong first, and how. It also finds a divergence that no server has found: a
// transaction that was lost, and replaced by the leader's tree later.
//
// Servers may still write meanwhile. A log that is read earlier than another one ends earlier,
// which is no contradiction.
func (z *Times) DivergedLogs(ctx context.Context, servers ensemble.Ensemble) (found []histories.Divergence, how string, err error) {
	dirs, err := dirsOf(ctx, servers)
	if dirs == nil || err != nil {
		return nil, "", err
	}
	d, err := txnlog.Compare(dirs)
	if d == nil || err != nil {
		return nil, "", err
	}
	return []histories.Divergence{{Server: d.Server, Zxid: d.Zxid, Since: max(0, z.before(d.Zxid)-time.Millisecond)}}, d.String(), nil
}
