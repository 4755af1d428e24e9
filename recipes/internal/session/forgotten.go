package session

import (
	"context"
	"fmt"
	"time"
)

// Servers whose data were wiped, or put back from a backup, have seen fewer transactions than
// their clients. They hang up on a client that has seen more, since it might be a server that
// lags behind, and its client has to try another one (ZooKeeperServer.processConnectRequest). A
// client that is not told more would try for as long as the servers have not come as far again.
//
// Hanging up alone proves nothing: a server without a quorum does it too. What proves something
// is a write. Transactions have numbers that grow, whatever leader makes them, as long as the
// servers keep what a quorum has logged. So when a quorum has carried out a write by a number
// that is less than one that this session has seen, the servers have lost the session's
// past. Then the session is over, also if the backup has it: its nodes may not be there, and
// others may have been granted what it held. The next one has seen nothing, and is let in.

// askIfForgotten asks a server for another session, if servers hang up on this one's client. It
// returns ErrEnded when the servers have lost the session's past, and why that is not known.
func (c connector) askIfForgotten(ctx context.Context, addr string, patience time.Duration) error {
	s := c.s
	s.mu.Lock()
	ask := s.ID != 0 && s.hangUps >= len(s.cfg.Servers)
	if ask {
		s.hangUps = len(s.cfg.Servers) - 1 // the next attempt is one for this session again
	}
	s.mu.Unlock()
	if !ask {
		return nil
	}
	// A server that demands an authentication carries out nothing without one. As long as
	// that may take, the session lasts.
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
