package ensemble_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
)

func TestALocalEnsembleServesOnEveryServer(t *testing.T) {
	l := local(t)
	leaders := 0
	for _, server := range l.Servers() {
		status, allowed, err := ensemble.AskStatus(testContext(t), server)
		must(t, err)
		if !status.Serving() || !allowed {
			t.Errorf("server %d: %+v", server.ID, status)
		}
		if status.Leads() {
			leaders++
			if id, err := l.Leader(testContext(t)); err != nil || id != server.ID {
				t.Errorf("server %d leads, Leader says %d, %v", server.ID, id, err)
			}
		}
		if text, err := l.Output(testContext(t), server.ID); err != nil || !strings.Contains(string(text), "myid") {
			t.Errorf("log of server %d: %v\n%.200s", server.ID, err, text)
		}
	}
	if leaders != 1 {
		t.Errorf("%d leaders", leaders)
	}
	if len(l.Servers()) != 3 || !strings.HasPrefix(l.Version(), "3.") || l.TickTime() != 200*time.Millisecond || l.Root() == "/" {
		t.Errorf("servers %v, version %q, tick %v, root %s", l.Servers(), l.Version(), l.TickTime(), l.Root())
	}
}

func TestFourLetterCommandsAreAnswered(t *testing.T) {
	addr := local(t).Servers()[0].Addr
	for command, want := range map[string]string{"wchs": "watching", "mntr": "zk_version", "wchp": "", "conf": "tickTime=200"} {
		if answer, err := ensemble.Four(testContext(t), ensemble.Server{Addr: addr}, command); (err != nil && want != "") || !strings.Contains(answer, want) {
			t.Errorf("%s: %v\n%s", command, err, answer)
		}
	}
}

func TestAKilledLeaderIsReplacedAndRestartsOnItsData(t *testing.T) {
	l, ctx := local(t), testContext(t)
	old, err := l.Leader(ctx)
	must(t, err)
	conn := dial(t, l.Servers()[old-1].Addr)
	const node = "/written-before-the-kill"
	_, err = conn.Create(node, []byte("x"), 0, zk.WorldACL(zk.PermAll))
	must(t, err)
	conn.Close()
	must(t, l.Kill(ctx, old))
	must(t, l.Kill(ctx, old))
	if l.Running(old) {
		t.Error("a killed server runs")
	}
	if err := l.Pause(ctx, old); !errors.Is(err, ensemble.ErrNotRunning) {
		t.Errorf("Pause of a killed server: %v", err)
	}
	must(t, l.Resume(ctx, old))
	leaderOtherThan(t, l, old)
	must(t, l.Restart(ctx, old))
	conn = dial(t, l.Servers()[old-1].Addr)
	data, _, err := conn.Get(node)
	if err != nil || string(data) != "x" {
		t.Errorf("after the restart: %q, %v", data, err)
	}
	must(t, conn.Delete(node, -1))
}

func TestAPausedServerStandsStillUntilItIsResumed(t *testing.T) {
	l, ctx := local(t), testContext(t)
	leads, err := l.Leader(ctx)
	must(t, err)
	id := leads%3 + 1 // a follower
	must(t, l.Pause(ctx, id))
	must(t, l.Pause(ctx, id))
	if !ensemble.Stopped(l.PID(id)) {
		t.Error("the paused server does not stand still")
	}
	must(t, l.Resume(ctx, id))
	must(t, l.Resume(ctx, id))
	eventually(t, "it serves again", func() bool {
		status, _, err := ensemble.AskStatus(ctx, l.Servers()[id-1])
		return err == nil && status.Serving()
	})
}

func TestALeaderCutOffFromItsPeersLosesItsPlaceAndComesBack(t *testing.T) {
	l, ctx := local(t), testContext(t)
	must(t, l.CheckPeers())
	old, err := l.Leader(ctx)
	must(t, err)
	var around []links.Link
	for _, other := range l.Servers() {
		around = append(append(around, l.Peer(old, other.ID)...), l.Peer(other.ID, old)...)
	}
	if len(around) != 8 {
		t.Fatalf("%d links around a server of three, want 2 peers × 2 ways × 2 ports", len(around))
	}
	start := time.Now()
	for _, link := range around {
		must(t, link.Cut(ctx, links.BlackHole))
	}
	leaderOtherThan(t, l, old)
	t.Logf("another server leads after %v", time.Since(start))
	must(t, l.CheckPeers())
	for _, link := range around {
		must(t, link.Heal(ctx))
	}
	eventually(t, "the old leader serves again", func() bool {
		status, _, err := ensemble.AskStatus(ctx, l.Servers()[old-1])
		return err == nil && status.Serving()
	})
	must(t, l.CheckPeers())
}

func TestAnEmptyContainerIsReapedSoon(t *testing.T) {
	conn := dial(t, local(t).Servers()[0].Addr)
	acl := zk.WorldACL(zk.PermAll)
	_, err := conn.CreateContainer("/container", nil, zk.FlagContainer, acl)
	must(t, err)
	_, err = conn.Create("/container/child", nil, 0, acl)
	must(t, err)
	must(t, conn.Delete("/container/child", -1))
	eventually(t, "the container is gone", func() bool {
		exists, _, err := conn.Exists("/container")
		return err == nil && !exists
	})
}

func TestDirectConnectionsBetweenServersAreNoticed(t *testing.T) {
	needsServers(t)
	dir := t.TempDir()
	l, err := ensemble.StartLocal(testContext(t), ensemble.LocalConfig{Dir: dir, Servers: 2})
	must(t, err)
	if got := l.CheckPeers(); !errors.Is(got, ensemble.ErrDirectPeerLink) {
		t.Errorf("servers without links between them: %v", got)
	}
	must(t, l.Close())
	left, err := os.ReadDir(dir)
	must(t, err)
	if len(left) != 2 || left[0].Name() != "server-1.log" {
		t.Errorf("after Close: %v, want the two logs", left)
	}
	if err := l.Kill(testContext(t), 1); !errors.Is(err, ensemble.ErrClosed) {
		t.Errorf("Kill after Close: %v", err)
	}
}
