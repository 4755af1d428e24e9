package simulation

import (
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/model"
	"github.com/zkverify/zkverify/ensemble/model/live"
	"github.com/zkverify/zkverify/ensemble/model/wire"
	"github.com/zkverify/zkverify/ensemble/txnlog"
	"github.com/zkverify/zkverify/histories/situations"
	"github.com/zkverify/zkverify/workload/lock"
)

// wired is a connection of a client whose messages a trace has noted.
type wired struct {
	*trace
	conn    model.ConnID
	arrived [2]int
	now     time.Duration
}

// says notes bytes of one side. Those that are lost do not arrive.
func (w *wired) says(reply, lost bool, data []byte) {
	way := toServer
	if reply {
		way = toClient
	}
	w.now += time.Millisecond
	if !lost {
		w.arrived[way] += len(data)
	}
	w.messages = append(w.messages, []sent{{live.Message{Client: "c1", Conn: w.conn, Server: 2, Reply: reply, Data: data, Arrived: &w.arrived[way]}, w.now}})
}

func (w *wired) asks(xid int32, op wire.Op, body wire.Record) {
	w.says(false, false, wire.Frame(&wire.RequestHeader{Xid: xid, Op: op}, body))
}

func (w *wired) answers(lost bool, xid int32, zxid int64, err wire.Code, body ...wire.Record) {
	w.says(true, lost, wire.Frame(append([]wire.Record{&wire.ReplyHeader{Xid: xid, Zxid: zxid, Err: err}}, body...)...))
}

const aSession = 0x70

// Requests are put together from bytes, which arrive in pieces, together, or not at all.
func TestRequestsArePutTogetherFromMessages(t *testing.T) {
	tr := &trace{txns: []txnlog.Txn{
		{Zxid: 11, Session: aSession, Cxid: 1, Op: wire.Create2, Changes: []txnlog.Change{{Op: wire.Create, Path: "/locks/m/a"}}},
		{Zxid: 12, Session: aSession, Cxid: 3, Op: wire.ErrorOp},
	}}
	first := &wired{trace: tr, conn: 1}
	first.says(false, false, wire.Frame(&wire.ConnectRequest{Password: []byte{}}))
	first.says(true, false, wire.Frame(&wire.ConnectResponse{Session: aSession}))
	first.asks(1, wire.Create, &wire.CreateRequest{Path: "/locks/m/a", Flags: wire.FlagEphemeralSequential})
	first.asks(wire.PingXid, wire.Ping, &wire.MultiRequest{})
	list := wire.Frame(&wire.RequestHeader{Xid: 2, Op: wire.GetChildren2}, &wire.PathWatch{Path: "/locks/m"})
	first.says(false, false, list[:9])
	first.says(false, false, list[9:])
	first.answers(false, 1, 11, wire.OK, &wire.Path{Path: "/locks/m/a"})
	first.answers(false, 2, 11, wire.OK)
	multi := &wire.MultiRequest{Parts: []wire.Part{{Op: wire.Check, Body: &wire.PathVersion{Path: "/locks/m/a"}}, {Op: wire.SetData, Body: &wire.SetDataRequest{Path: "/g"}}}}
	first.asks(3, wire.Multi, multi)
	first.answers(false, 3, 12, wire.OK, &wire.MultiReply{Results: []wire.Result{{Op: wire.ErrorOp, Body: &wire.ErrorReply{Err: wire.NoNode}}, {Op: wire.ErrorOp, Body: &wire.ErrorReply{Err: wire.RuntimeInconsistency}}}})
	first.asks(4, wire.Delete, &wire.PathVersion{Path: "/locks/m/a"})
	first.answers(true, 4, 13, wire.NoNode)
	first.answers(true, wire.NotificationXid, -1, wire.OK, &wire.WatcherEvent{Path: "/locks/m/b"})
	second := &wired{trace: tr, conn: 2, now: first.now}
	second.says(false, false, wire.Frame(&wire.ConnectRequest{Session: aSession, Password: []byte{}}))
	second.says(true, false, wire.Frame(&wire.ConnectResponse{Session: aSession}))
	second.answers(false, wire.PingXid, 13, wire.OK)

	ms, name := time.Millisecond, lock.SessionName(aSession)
	want := []situations.Call{
		{At: 7 * ms, Sent: 3 * ms, Op: situations.Create, Path: "/locks/m/a", Arrived: true, Committed: 11, Answered: true, Received: true, Zxid: 11, Returned: true},
		{At: 8 * ms, Sent: 6 * ms, Op: situations.List, Path: "/locks/m", Arrived: true, Answered: true, Received: true, Zxid: 11, Returned: true},
		{At: 10 * ms, Sent: 9 * ms, Op: situations.Multi, Checks: 1, Sets: 1, Arrived: true, Answered: true, Received: true, Zxid: 12, Failed: situations.NoNode, Returned: true},
		{At: 12 * ms, Sent: 11 * ms, Op: situations.Delete, Path: "/locks/m/a", Arrived: true, Answered: true, Zxid: 13, Failed: situations.NoNode, Returned: true},
		{At: 13 * ms, Sent: 13 * ms, Op: situations.Notify, Path: "/locks/m/b", Answered: true, Returned: true},
		{At: 15 * ms, Sent: 14 * ms, Op: situations.Connect, Arrived: true, Answered: true, Received: true, Zxid: 13},
	}
	got := tr.calls()
	if len(got) != len(want) {
		t.Fatalf("%d requests, want %d", len(got), len(want))
	}
	for i := range want {
		want[i].Client, want[i].Session, want[i].Server = "c1", name, 2
		if *got[i] != want[i] {
			t.Errorf("request %d is\n%+v, want\n%+v", i, *got[i], want[i])
		}
	}
}

// A few runs reach most situations, and each that does not need a pause of one client.
func TestAFewRunsReachMostSituations(t *testing.T) {
	var reached situations.Counts
	for seed, plan := range map[int64]string{1: "random", 8: "random", 4: "edges", 11: "edges", 18: "swarm"} {
		s := spec(seed, plan, "recipes")
		s.Recipes, s.Duration = []string{"all"}, 12*time.Second
		o, _ := run(t, s, Look{})
		reached.Add(o.Coverage.Situations)
	}
	if missed := len(reached.Missed()); len(reached) < 40 || missed > 20 {
		t.Errorf("%d of %d were missed: %v", missed, len(reached), reached)
	}
	for _, name := range []string{"create-reply-lost", "delete-lost", "notification-lost", "gone-before-the-watch", "comes-back-too-late", "size-below-use"} {
		if reached[name] == 0 {
			t.Errorf("no run reached %s", name)
		}
	}
}
