package model_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/ensemble/model/wire"
	model "github.com/zkverify/zkverify/ensemble/simulated"
)

// onewayTick is long, so that a busy machine does not make a server late by a tick.
const onewayTick = time.Second

// oneway records the effects of the loss of one direction between a follower and its
// leader.
type oneway struct {
	leaderHeard   bool // the follower knows of a write at the leader after the loss
	writeArrived  bool // the leader carried out a write through the follower after the loss
	writeAnswered bool
	gaveUp        time.Duration // time from the loss until the follower's client lost its connection
	expired       time.Duration // time from the loss until the client's session ended
}

// TestOneWayLossIsNoticedAsByZooKeeper compares real servers, whose links are
// Toxiproxy's, with the model.
func TestOneWayLossIsNoticedAsByZooKeeper(t *testing.T) {
	network, err := links.InProcess()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = network.Close() })
	config := ensemble.LocalConfig{TickTime: onewayTick, SyncLimit: 5, MaxSessionTimeout: 4 * onewayTick, Peers: network, StartLimit: 2 * time.Minute}
	simulated, err := model.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = simulated.Close() })
	if testing.Short() {
		t.Skip("needs real servers")
	}
	ensembletest.Turn(t)
	real, err := ensemble.StartLocal(t.Context(), config)
	if errors.Is(err, ensemble.ErrNoVersion) || ensemble.NotInstalled(err) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = real.Close() })
	for _, toLeader := range []bool{true, false} {
		name := "from the leader"
		if toLeader {
			name = "to the leader"
		}
		t.Run(name, func(t *testing.T) {
			var of [2]oneway
			var g errgroup.Group
			for i, e := range []ensembletest.Servers{real, simulated} {
				g.Go(func() (err error) { of[i], err = loseOneWay(t.Context(), e, toLeader); return err })
			}
			if err := g.Wait(); err != nil {
				t.Fatal(err)
			}
			t.Logf("ZooKeeper %+v, the model %+v", of[0], of[1])
			compareOneWay(t, of[0], of[1])
		})
	}
}

// compareOneWay fails unless both had the same effects, at the same time to within a
// tick: ticks, and the pings of half ticks, are not in step. Half a tick more is for a
// busy machine.
func compareOneWay(t *testing.T, real, model oneway) {
	t.Helper()
	for what, d := range map[string]time.Duration{
		"the end of the connection": real.gaveUp - model.gaveUp, "the end of the session": real.expired - model.expired,
	} {
		if d.Abs() > onewayTick*3/2 {
			t.Errorf("%s: %v apart", what, d)
		}
	}
	real.gaveUp, model.gaveUp, real.expired, model.expired = 0, 0, 0, 0
	if real != model {
		t.Errorf("ZooKeeper %+v, the model %+v", real, model)
	}
}

// loseOneWay cuts one direction, and heals it.
func loseOneWay(ctx context.Context, e ensembletest.Servers, toLeader bool) (o oneway, err error) {
	leader, err := e.Leader(ctx)
	if err != nil {
		return o, err
	}
	follower := leader%3 + 1
	observer, err := Dial(ctx, e.Servers()[leader-1].Addr, Session{}, patience)
	if err != nil {
		return o, err
	}
	defer observer.Close()
	began := time.Now()
	client, err := Dial(ctx, e.Servers()[follower-1].Addr, Session{}, onewayTick/4)
	if err != nil {
		return o, err
	}
	defer client.Close()
	if err := makeNode(client, "/session", wire.FlagEphemeral); err != nil {
		return o, err
	}
	from, to := follower, leader
	if !toLeader {
		from, to = leader, follower
	}
	lost := time.Now()
	// Either may have opened the connection.
	err = errors.Join(cutAll(ctx, e.Peer(from, to), links.RequestsLost), cutAll(ctx, e.Peer(to, from), links.RepliesLost))
	if err == nil {
		err = o.watch(client, observer, began, lost)
	}
	for _, l := range append(e.Peer(from, to), e.Peer(to, from)...) {
		err = errors.Join(err, l.Heal(ctx))
	}
	return o, errors.Join(err, allServe(ctx, e))
}

// watch sends requests through the follower, and looks for their effects at the leader.
func (o *oneway) watch(client, observer *Client, began, lost time.Time) error {
	time.Sleep(onewayTick) // a ping of the leader and its reply are due: one of them is lost
	err := makeNode(observer, "/other", wire.FlagPersistent)
	if err != nil {
		return err
	}
	time.Sleep(onewayTick / 4)
	if o.leaderHeard, err = isThere(client, "/other"); err != nil {
		return err
	}
	write, err := client.Send(wire.Create, &wire.CreateRequest{Path: "/written", ACL: world}, 0)
	if err != nil {
		return err
	}
	var g errgroup.Group
	g.Go(func() error {
		// It pings: a server closes a silent connection.
		for err := ErrNoAnswer; errors.Is(err, ErrNoAnswer); {
			var frames []Frame
			frames, err = client.AwaitClosed()
			for _, f := range frames {
				o.writeAnswered = o.writeAnswered || f.Xid == write && f.Err == wire.OK
			}
			if err == nil {
				break
			}
			if time.Since(lost) > patience {
				return errors.New("the follower keeps its client")
			}
			_, _ = client.Send(wire.Ping, nil, 0) // the next read returns its end
		}
		o.gaveUp = time.Since(lost)
		return nil
	})
	g.Go(func() error {
		for there := true; there; time.Sleep(onewayTick / 100) {
			var err error
			if there, err = isThere(observer, "/session"); err != nil || time.Since(lost) > patience {
				return errors.Join(err, errors.New("the session does not end"))
			}
		}
		o.expired = time.Since(began)
		return nil
	})
	if err := g.Wait(); err != nil {
		return err
	}
	o.writeArrived, err = isThere(observer, "/written")
	for _, path := range []string{"/other", "/written"} {
		_, failed := askFor(observer, wire.Delete, &wire.PathVersion{Path: path, Version: -1})
		err = errors.Join(err, failed)
	}
	return err
}

func cutAll(ctx context.Context, ls []links.Link, cut links.Cut) (err error) {
	for _, l := range ls {
		err = errors.Join(err, l.Cut(ctx, cut))
	}
	return err
}

// allServe waits until all servers have taken part in a quorum for a tick: a server that
// has just found its leader may lose it again.
func allServe(ctx context.Context, e ensembletest.Servers) error {
	serve := func(s ensemble.Server) bool {
		status, _, err := ensemble.AskStatus(ctx, s)
		return err == nil && status.Serving()
	}
	for since := time.Now(); time.Since(since) < onewayTick; time.Sleep(onewayTick / 20) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !slices.ContainsFunc(e.Servers(), func(s ensemble.Server) bool { return !serve(s) }) {
			continue
		}
		since = time.Now()
	}
	return nil
}

var world = []wire.ACL{{Perms: wire.PermAll, ID: wire.ID{Scheme: "world", ID: "anyone"}}}

func askFor(c *Client, op wire.Op, body wire.Record) (Frame, error) {
	xid, err := c.Send(op, body, 0)
	if err != nil {
		return Frame{}, err
	}
	frames, err := c.Await(xid)
	if err != nil {
		return Frame{}, err
	}
	return frames[len(frames)-1], nil
}

func makeNode(c *Client, path string, flags int32) error {
	f, err := askFor(c, wire.Create, &wire.CreateRequest{Path: path, ACL: world, Flags: flags})
	if err == nil && f.Err != wire.OK {
		err = errors.New("create " + strings.TrimPrefix(path, "/") + " was refused")
	}
	return err
}

func isThere(c *Client, path string) (bool, error) {
	f, err := askFor(c, wire.Exists, &wire.PathWatch{Path: path})
	return f.Err == wire.OK, err
}
