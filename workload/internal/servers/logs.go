package servers

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/txnlog"
	"github.com/zkverify/zkverify/histories"
)

// DivergedLogs reads what the servers have logged, if they are servers whose files are here,
// and says which of them was wrong first, and how. It sees also what no server has found: a
// transaction that was lost, and made up for by the leader's tree later.
//
// Servers may still write meanwhile. A log that is read earlier than another one ends
// earlier, which contradicts nothing.
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
