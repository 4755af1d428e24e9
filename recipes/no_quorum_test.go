package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/recipes"
)

// TestAnEnsembleWithoutAQuorumIsNotHammered cuts all servers off from each
// other. They accept connections then and close them at once.
func TestAnEnsembleWithoutAQuorumIsNotHammered(t *testing.T) {
	apart(t)
	var peers []links.Link
	for _, a := range serversOf(t).Servers() {
		for _, b := range serversOf(t).Servers() {
			if a.ID != b.ID {
				peers = append(peers, serversOf(t).Peer(a.ID, b.ID)...)
			}
		}
	}
	cutAll(t, peers, links.BlackHole)
	t.Cleanup(func() {
		healAll(t, peers)
		awaitQuorum(t)
	})
	eventually(t, "no server serves", func() bool {
		for _, a := range addrsOf(t) {
			if text, err := ensemble.Four(context.Background(), ensemble.Server{Addr: a}, "srvr"); err != nil || strings.Contains(text, "Mode: ") {
				return false
			}
		}
		return true
	})
	var all sync.WaitGroup
	for _, list := range [][]string{addrsOf(t)[:1], addrsOf(t)} {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			var connects atomic.Int64
			_, err := recipes.Connect(ctx, list, recipes.WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
				connects.Add(1)
				return new(net.Dialer).DialContext(ctx, network, addr)
			}))
			n := connects.Load()
			t.Logf("%d servers: %d connects in 5 s: %v", len(list), n, err)
			if n > 20 || n < int64(len(list)) {
				t.Errorf("%d servers: %d connects in 5 s", len(list), n)
			}
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(fmt.Sprint(err), "serves no client now") {
				t.Errorf("got %v", err)
			}
		})
	}
	all.Wait()
}
