package conformance

import (
	"context"
	"encoding/binary"
	"net"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
)

// A session that ends by itself while a slow server is asked to end it is no fault of the
// worker: the worker's events about the session were right.
func TestASessionThatEndsByItselfIsNotTheWorkersFault(t *testing.T) {
	t.Parallel()
	for _, s := range run(t, t.Context(), slowEnsemble{servers(t)}, "right", "loss") {
		if !s.OK() {
			t.Errorf("%s is wrong: %+v", s.Name, s.Wrong)
		}
	}
}

// slowEnsemble is an ensemble whose first server never answers the check, and where the
// session that the check asks it to end has ended meanwhile.
type slowEnsemble struct{ ensemble.Ensemble }

func (e slowEnsemble) Servers() []ensemble.Server {
	all := append([]ensemble.Server(nil), e.Ensemble.Servers()...)
	all[0].Dialer = slowDialer{e.Ensemble.Servers()[1]}
	return all
}

type slowDialer struct{ other ensemble.Server }

func (d slowDialer) DialContext(context.Context, string, string) (net.Conn, error) {
	check, server := net.Pipe()
	go func() { // ends when the check closes its side
		defer server.Close()
		// The connect request: see ensemble.Expire.
		request := make([]byte, 4+28+16)
		if _, err := server.Read(request); err != nil {
			return
		}
		session := int64(binary.BigEndian.Uint64(request[20:]))
		_ = ensemble.Expire(context.Background(), d.other, session, request[32:], time.Second)
		_, _ = server.Read(request)
	}()
	return check, nil
}
