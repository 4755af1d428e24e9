package session

import (
	"context"
	"fmt"
	"time"
)

// Servers whose data were wiped, or restored from a backup, have seen fewer transactions than
// their clients. A server hangs up on a client that has seen more: the server might be one that
// lags behind, and the client has to try another (ZooKeeperServer.processConnectRequest). A
// client that learns no more would go on trying until the servers have come as far again.
//
// Hanging up alone proves nothing: a server without a quorum does it too. The number of a write
// is a proof. The numbers of transactions grow, also from one leader to the next, as long as the
// servers keep what a quorum has logged. So when a quorum has carried out a write with a number
// that is less than one that this session has seen, the servers have lost the session's
// past. Then the session is over, even if the backup has it: its nodes may be missing, and its
// locks may have been granted to others. The next session has seen no transaction, so the
// servers let it in.

// askIfForgotten asks a server for another session, if servers hang up on this session's
// client. It returns ErrEnded when the servers have lost the session's past, and another
// error when it cannot find out.
func (c connector) askIfForgotten(ctx context.Context, addr string, patience time.Duration) error {
	s := c.s
	s.mu.Lock()
	ask := s.ID != 0 && s.hangUps >= len(s.cfg.Servers)
	if ask {
		s.hangUps = len(s.cfg.Servers) - 1 // the next attempt is for this session again
	}
	s.mu.Unlock()
	if !ask {
		return nil
	}
	// A server that demands an authentication carries out no request without one. The
	// timeout of the session lets it last as long as the authentication may take.
	answer, err := c.probe(ctx, &s.cfg, addr, s.cfg.Timeout, patience)
	if err != nil {
		return err
	}
	if answer.demandsAuth != nil {
		return answer.demandsAuth
	}
	if seen := s.lastZxid.Load(); answer.zxid > 0 && answer.zxid < seen {
		err := fmt.Errorf("%s: the servers have lost data: they are at transaction %#x, and this client has seen %#x", addr, answer.zxid, seen)
		s.failures.failed(addr, err)
		s.end(Expired)
		return ErrEnded
	}
	return s.pace.awaitAnother(s.dials)
}
