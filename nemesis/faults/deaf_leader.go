package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// deafKind has the leader stand still, and when it goes on it does not hear the follower that
// a lock's holder is linked to; the holder is cut off once it has been answered. What the
// holder hears last the leader has answered, and yet the leader does not count the holder's
// session from then: it pings nobody while it stands still, and only in their answers to its
// pings do followers tell it which sessions are active.
//
// What a client takes for evidence that its session lives is an answer, or several, so a
// schedule may say from which instant on the leader stands still, for how long, what the holder
// asks for meanwhile, which direction is lost then, and after how many answers.
func deafKind() fault.Kind {
	return fault.Kind{
		Name:        "deaf-leader",
		Description: "the leader stands still, and when it goes on a holder's follower is not heard; the holder is cut off once it has been answered",
		Needs:       fault.NeedsPeers, Weight: 1, Early: 4,
		Span: fault.Timeouts(1.5, 2), // from then on
		Params: []fault.Param{
			fault.Choice("at", string(fault.AFollower), string(fault.TheLeader)),
			fault.Choice("stop", stopPause, stopNone),
			fault.Choice("from", onAnswer, onRequest), fault.Choice("until", onTime, onRequest),
			fault.Duration("stopped", time.Millisecond),
			fault.Choice("ask", askNothing, askRead, askSync, askWrite, askReadWrite, askReconnect),
			fault.Choice("lost", lostToLeader, lostFromLeader, lostBoth, lostNothing), fault.Number("answers", 0),
		},
		Make: makeDeaf,
	}
}

// The values of the parameters.
const (
	stopPause, stopNone                    = "pause", "none"
	onAnswer, onRequest, onTime            = "answer", "request", "time"
	askNothing, askRead, askSync, askWrite = "nothing", string(fault.Read), string(fault.Sync), string(fault.Write)
	askReadWrite, askReconnect             = "read-write", "reconnect"
	lostToLeader, lostFromLeader, lostBoth = "to-leader", "from-leader", "both"
	lostNothing                            = "nothing"
)

const (
	deafGlance   = 200 * time.Microsecond // between two looks at what the holder was answered
	betweenReads = 25 * time.Millisecond
	// beforeGoingOn is when the holder sends the last request that the leader finds when it
	// goes on, and settled what comes behind an answer at the latest.
	beforeGoingOn, settled = 10 * time.Millisecond, 5 * time.Millisecond
)

// deaf is such a fault.
type deaf struct {
	fault.Scene
	holder  fault.Client
	leader  int
	server  int // of the holder, from when it begins
	servers fault.Servers
	peers   ensemble.PeerLinks

	stop, from, until, ask, lost string
	stopped                      time.Duration
	answers                      int
}

func makeDeaf(s fault.Scene) (fault.Fault, error) {
	d := &deaf{Scene: s, leader: s.Leader}
	f, err := d.choose()
	if err != nil {
		return f, err
	}
	var ok bool
	if d.peers, ok = s.Ensemble().(ensemble.PeerLinks); !ok {
		return f, errors.New("deaf-leader: this ensemble has no links between its servers")
	}
	f, err = s.OnServers(f, []int{d.leader}, func(ctx context.Context, p fault.Servers) error {
		d.servers = p
		return d.start(ctx)
	})
	if err != nil {
		return f, err
	}
	if d.server != d.leader {
		f.Servers = append(f.Servers, d.server)
		f.Targets = append(f.Targets, fault.ServerName(d.server))
	}
	f.Targets = append(f.Targets, fault.ClientName(d.holder.Index))
	f.Reserves = append([]int{d.holder.Index}, d.holder.Together...)
	f.Endure, f.HealWithin = 5*s.SessionTimeout()/2, f.HealWithin+4*s.SessionTimeout()
	back := f.Stop
	f.Stop = func(ctx context.Context) error {
		all := append(d.between(true), d.between(false)...)
		heal := func(ctx context.Context, l links.Link) error { return l.Heal(ctx) }
		err := errors.Join(fault.Each(ctx, all, heal), fault.Each(ctx, d.holder.AllLinks(), heal))
		return errors.Join(err, back(ctx))
	}
	return f, nil
}

// choose picks the holder, and draws what the schedule does not say.
func (d *deaf) choose() (f fault.Fault, err error) {
	if err := d.ServersFree(); err != nil {
		return f, err
	}
	f.Name = "deaf-leader"
	draw := func(name string, of ...string) string { return d.Set(&f, name, of[d.Rand.IntN(len(of))]) }
	follower, leader := string(fault.AFollower), string(fault.TheLeader)
	at := draw("at", follower, follower, follower, leader)
	holders := slices.DeleteFunc(slices.Clone(d.Free), func(c fault.Client) bool {
		return !fault.AtHolder.At(c) || d.Exact && !c.Lingers
	})
	if len(holders) == 0 {
		return f, fmt.Errorf("%w: no client holds a lock", fault.ErrNobody)
	}
	if w, ok := d.World.(fault.Chooser); ok {
		holders = w.Rarest(d.Kind, fault.AtHolder, holders, false)
	}
	d.holder = holders[d.Rand.IntN(len(holders))]
	switch followers := d.Voters(d.leader); {
	case at == leader:
		d.server = d.leader
	case slices.Contains(followers, d.holder.Linked):
		d.server = d.holder.Linked
	default:
		d.server = followers[d.Rand.IntN(len(followers))]
	}
	d.stop = draw("stop", stopPause)
	d.from = draw("from", onAnswer, onAnswer, onRequest)
	d.until = draw("until", onTime, onTime, onRequest)
	d.ask = draw("ask", askReadWrite, askReadWrite, askReadWrite, askNothing, askRead, askSync, askWrite)
	d.lost = draw("lost", lostToLeader, lostToLeader, lostToLeader, lostFromLeader, lostBoth)
	d.answers, err = strconv.Atoi(draw("answers", "0", "0", "0", "1", "2", "3", "4", "5"))
	// From half of half a tick, after which a leader pings, to four ticks, after which its
	// followers may give it up.
	tick := d.Ensemble().TickTime()
	stopped := tick/4 + time.Duration(d.Rand.Int64N(int64(4*tick)))
	d.stopped = d.SetDuration(&f, "stopped", min(stopped, 2*d.SessionTimeout()/5).Round(time.Millisecond))
	return f, err
}

// start does all of it. Where it waits for requests and answers of the holder it waits for a
// while: they may not be known.
func (d *deaf) start(ctx context.Context) error {
	t := d.SessionTimeout()
	if err := d.keep(ctx); err != nil {
		return err
	}
	d.await(ctx, d.events(d.from), 1, t/2)
	if err := d.stand(ctx); err != nil {
		return err
	}
	requests := d.events(onRequest)
	d.standStill(ctx)
	if d.until == onRequest {
		d.await(ctx, requests, 1, t/6)
	}
	answers := d.events(onAnswer)
	if d.answers == 0 {
		if err := d.lose(ctx); err != nil {
			return err
		}
	}
	if d.stop == stopPause {
		if err := d.servers.Resume(ctx, d.leader); err != nil {
			return err
		}
	}
	if d.answers > 0 {
		d.await(ctx, answers, d.answers, t/2)
		if err := d.lose(ctx); err != nil {
			return err
		}
	} else {
		d.await(ctx, answers, 1, t/6)
		for before := -1; answers() != before && ctx.Err() == nil; { // those behind it, too
			before = answers()
			wait.For(ctx, settled)
		}
	}
	return fault.Each(ctx, d.holder.AllLinks(), func(ctx context.Context, l links.Link) error { return l.Cut(ctx, links.BlackHole) })
}

// keep leaves the holder one server, to which it moves with its session if it has to.
func (d *deaf) keep(ctx context.Context) error {
	rest := slices.DeleteFunc(d.holder.AllLinks(), func(l links.Link) bool { return l == d.holder.Links[d.server] })
	if err := fault.Each(ctx, rest, func(ctx context.Context, l links.Link) error { return l.Cut(ctx, links.Down) }); err != nil {
		return err
	}
	d.await(ctx, func() int {
		for _, c := range d.Clients() {
			if c.Index == d.holder.Index && c.Linked == d.server {
				return 1
			}
		}
		return 0
	}, 1, d.SessionTimeout()/2)
	return nil
}

// stand has the leader stand still.
func (d *deaf) stand(ctx context.Context) error {
	if d.stop == stopPause {
		return d.servers.Pause(ctx, d.leader)
	}
	return nil
}

// standStill waits for as long as the leader stands still, and has the holder ask. What the
// follower answers by itself is asked for again and again, since it has to wait as soon as the
// holder itself has written, and no later than a tick before the last write.
func (d *deaf) standStill(ctx context.Context) {
	end := time.Now().Add(d.stopped)
	if d.ask == askRead || d.ask == askReadWrite {
		for last := end.Add(-11 * d.Ensemble().TickTime() / 10); ; {
			d.asks(fault.Read)
			if !time.Now().Add(betweenReads).Before(last) || !wait.For(ctx, betweenReads) {
				break
			}
		}
	}
	wait.For(ctx, time.Until(end)-beforeGoingOn)
	switch d.ask {
	case askReadWrite, askWrite:
		d.asks(fault.Write)
	case askSync:
		d.asks(fault.Sync)
	case askReconnect:
		used := d.holder.Links[d.server]
		_ = used.Cut(ctx, links.Down)
		_ = used.Heal(ctx) // if it cannot be healed, the fault's end says so
	}
	wait.For(ctx, time.Until(end))
}

func (d *deaf) asks(what fault.Request) {
	if w, ok := d.World.(fault.Asker); ok {
		w.Ask(d.holder.Index, what)
	}
}

// between are the links on which the leader and the holder's follower talk, those of the
// leader's own holder and all others: those that a side has opened.
func (d *deaf) between(byLeader bool) (ls []links.Link) {
	others := []int{d.server}
	if d.server == d.leader {
		others = d.Others(d.leader)
	}
	for _, other := range others {
		if byLeader {
			ls = append(ls, d.peers.Peer(d.leader, other)...)
		} else {
			ls = append(ls, d.peers.Peer(other, d.leader)...)
		}
	}
	return ls
}

// lose has what one says to the other be lost.
func (d *deaf) lose(ctx context.Context) error {
	cut := func(byLeader bool, cut links.Cut) error {
		return fault.Each(ctx, d.between(byLeader), func(ctx context.Context, l links.Link) error { return l.Cut(ctx, cut) })
	}
	switch d.lost {
	case lostToLeader:
		return errors.Join(cut(true, links.RepliesLost), cut(false, links.RequestsLost))
	case lostFromLeader:
		return errors.Join(cut(true, links.RequestsLost), cut(false, links.RepliesLost))
	case lostBoth:
		return errors.Join(cut(true, links.BlackHole), cut(false, links.BlackHole))
	}
	return nil
}

// events counts the holder's requests, or the answers to them, from now on. The count is 0
// where they are not known.
func (d *deaf) events(of string) func() int {
	w, ok := d.World.(Listener)
	if !ok {
		return func() int { return 0 }
	}
	if of == onAnswer {
		before := w.Answers(d.holder.Index)
		return func() int { return w.Answers(d.holder.Index) - before }
	}
	before := w.Sent(d.holder.Index)
	return func() int {
		if w.Sent(d.holder.Index).Equal(before) {
			return 0
		}
		return 1
	}
}

// await waits until a count has come to n, or patience ends.
func (d *deaf) await(ctx context.Context, count func() int, n int, patience time.Duration) {
	for end := time.Now().Add(patience); count() < n && time.Now().Before(end); {
		if !wait.For(ctx, deafGlance) {
			return
		}
	}
}
