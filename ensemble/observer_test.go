package ensemble_test

import (
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/ensemble/simulated"
)

func TestSimulatedServersHaveNoObservers(t *testing.T) {
	if e, err := simulated.Start(t.Context(), ensemble.LocalConfig{Observers: 1}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v, %v", e, err)
	}
}

func TestAnObserverServesAndHasNoVote(t *testing.T) {
	ensembletest.EveryNight(t)
	network, err := links.InProcess()
	must(t, err)
	defer network.Close()
	l, err := ensemble.StartLocal(t.Context(), ensemble.LocalConfig{Observers: 1, Peers: network})
	must(t, err)
	defer l.Close()
	ctx := testContext(t)
	if s := l.Servers(); len(s) != 4 || !s[3].Observer || s[0].Observer || s[1].Observer || s[2].Observer {
		t.Fatalf("%+v", s)
	}
	mode := func(id int) string {
		status, _, err := ensemble.AskStatus(ctx, l.Servers()[id-1])
		if err != nil {
			return err.Error()
		}
		return status.Mode
	}
	if got := mode(4); got != "observer" {
		t.Errorf("server 4 is %q", got)
	}
	conn := dial(t, l.Servers()[3].Addr)
	if _, err := conn.Create("/written", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Error("through the observer:", err)
	}
	must(t, l.CheckPeers())

	// The leader and the observer are two of four servers. The other two are a quorum.
	old, err := l.Leader(ctx)
	must(t, err)
	must(t, l.Kill(ctx, old))
	must(t, l.Kill(ctx, 4))
	if now := leaderOtherThan(t, l, old); now == 4 {
		t.Error("the observer leads")
	}
	must(t, l.Restart(ctx, 4))

	// One voter and the observer are no quorum.
	for id := range 3 {
		if id+1 != old {
			must(t, l.Kill(ctx, id+1))
			break
		}
	}
	eventually(t, "the observer serves no client", func() bool { return mode(4) == "" })
	if id, err := l.Leader(ctx); err == nil {
		t.Errorf("server %d leads without a quorum", id)
	}
}
