package faults

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// deafKind and deposedKind are compound faults. They attack the evidence by which a client
// concludes that its session lives: one answer, or several. They differ in their usual
// parameters.
//
// deafKind makes the leader stand still. When the leader goes on, it does not hear the follower
// to which a lock's holder is linked; the holder is cut off once it has been answered. The leader
// gave the holder's last answer, and yet it does not count the holder's session from then: it
// sends no pings while it stands still, and followers report active sessions only in their
// answers to its pings.
//
// A schedule may decide when the leader begins to stand still, for how long, the holder's requests
// meanwhile, the direction that is lost then, and the number of answers before that.
func deafKind() fault.Kind {
	return standingLeader("deaf-leader", "the leader stands still, and when it goes on a holder's follower is not heard; the holder is cut off once it has been answered", 1, 4,
		map[string]string{
			"at": string(fault.AFollower), "stop": stopPause, "from": onQuiet, "until": onTime, "ask": askReadWrite, "lost": lostToLeader, "answers": "0",
		})
}

// deposedKind makes the leader stand still until the other servers follow a new leader. When the
// old leader goes on, it answers a holder that sends it a request, or that reconnects to it, before
// it notices the new leader. The new leader has begun to count the holder's session by then.
func deposedKind() fault.Kind {
	usual := map[string]string{"at": string(fault.TheLeader), "stop": stopPause, "from": onQuiet, "until": onTime, "lost": lostAll}
	asks, reconnects := maps.Clone(usual), maps.Clone(usual)
	asks["ask"], asks["answers"] = askSync, "5"
	reconnects["ask"], reconnects["answers"] = askReconnect, "0"
	return standingLeader("deposed-leader", "the leader stands still until another one leads; when it goes on it answers a holder, who is cut off then", 3, 5, asks, reconnects, reconnects, reconnects, reconnects, reconnects)
}

// standingLeader returns a kind of fault in which the leader stands still. Usual has sets of
// parameter values, of which a fault usually takes one; a set may be given several times, so
// that it is drawn more often.
func standingLeader(name, description string, weight, early int, usual ...map[string]string) fault.Kind {
	return fault.Kind{
		Name: name, Description: description,
		Needs: fault.NeedsPeers, Weight: weight, Early: early,
		Span: fault.Timeouts(1.5, 1.6), // after Start
		Params: []fault.Param{
			fault.Choice("at", string(fault.AFollower), string(fault.TheLeader)),
			fault.Choice("stop", stopPause, stopHold, stopNone),
			fault.Choice("from", onQuiet, onAnswer, onRequest), fault.Choice("until", onTime, onRequest),
			fault.Duration("stopped", time.Millisecond),
			fault.Choice("ask", askNothing, askRead, askSync, askWrite, askReadWrite, askReconnect),
			fault.Choice("lost", lostToLeader, lostFromLeader, lostBoth, lostAll, lostNothing), fault.Number("answers", 0),
		},
		Make: func(s fault.Scene) (fault.Fault, error) { return makeDeaf(s, usual) },
	}
}

// The values of the parameters.
const (
	stopPause, stopHold, stopNone          = "pause", "hold", "none"
	onQuiet, onAnswer, onRequest, onTime   = "quiet", "answer", "request", "time"
	askNothing, askRead, askSync, askWrite = "nothing", string(fault.Read), string(fault.Sync), string(fault.Write)
	askReadWrite, askReconnect             = "read-write", "reconnect"
	lostToLeader, lostFromLeader, lostBoth = "to-leader", "from-leader", "both"
	lostAll, lostNothing                   = "connections", "nothing"
)

const (
	betweenReads = 25 * time.Millisecond
	// beforeGoingOn is the time between the holder's last request and the end of the leader's
	// standstill: the leader finds that request when it goes on. settled bounds the time between
	// an answer and the next one of the same batch, resumed that between the answer to a reconnect
	// and those to the client's requests on the new connection.
	beforeGoingOn, settled, resumed = 10 * time.Millisecond, 5 * time.Millisecond, 40 * time.Millisecond
)

// deaf is a fault of standingLeader.
type deaf struct {
	fault.Scene
	usual   map[string]string // values of parameters, nil in one fault of four
	holder  fault.Client
	leader  int
	server  int // the holder's server once the fault has begun
	servers fault.Servers

	said voice // by the leader to all other servers
	// The messages of the leader to the holder's server, and from it; if the leader is that
	// server, to and from all other servers.
	answered, heard              voice
	stop, from, until, ask, lost string
	stopped                      time.Duration
	answers                      int
}

func makeDeaf(s fault.Scene, usual []map[string]string) (fault.Fault, error) {
	d := &deaf{Scene: s, leader: s.Leader}
	if s.Rand.IntN(4) > 0 {
		d.usual = usual[s.Rand.IntN(len(usual))]
	}
	f, err := d.choose()
	if err != nil {
		return f, err
	}
	if err := d.listen(); err != nil {
		return f, err
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
	f.Endure, f.HealWithin = d.endure(), f.HealWithin+4*s.SessionTimeout()
	back := f.Stop
	f.Stop = func(ctx context.Context) error {
		err := errors.Join(fault.Each(ctx, d.said.links(), heal), fault.Each(ctx, d.holder.AllLinks(), heal))
		return errors.Join(err, back(ctx))
	}
	return f, nil
}

// choose picks the holder, and draws the parameters that the schedule does not set.
func (d *deaf) choose() (f fault.Fault, err error) {
	if err := d.ServersFree(); err != nil {
		return f, err
	}
	f.Name = d.Kind
	draw := func(name string, of ...string) string {
		drawn := of[d.Rand.IntN(len(of))]
		if value, ok := d.usual[name]; ok {
			drawn = value
		}
		return d.Set(&f, name, drawn)
	}
	follower, leader := string(fault.AFollower), string(fault.TheLeader)
	at := draw("at", follower, leader)
	holders := slices.DeleteFunc(slices.Clone(d.Free), func(c fault.Client) bool {
		return !fault.AtHolder.At(c) || d.Exact && !c.Lingers
	})
	if len(holders) == 0 {
		return f, fmt.Errorf("%w: no client holds a lock", fault.ErrNobody)
	}
	prefer := func(fits func(fault.Client) bool) bool {
		some := slices.DeleteFunc(slices.Clone(holders), func(c fault.Client) bool { return !fits(c) })
		if d.usual != nil && len(some) > 0 {
			holders = some
		}
		return d.usual == nil || len(some) > 0
	}
	// Prefer a holder that need not move to the server and does not give up its lock when it is
	// cut off, since either may cost it its lock, and one that does not share its session, since
	// the requests of other clients delay its own.
	if !prefer(func(c fault.Client) bool {
		if at == leader {
			return c.Linked == d.leader && !c.EndsHold
		}
		return slices.Contains(d.Voters(d.leader), c.Linked) && !c.EndsHold
	}) && d.Exact {
		return f, fmt.Errorf("%w: no holder at the server goes on when it is cut off", fault.ErrNobody)
	}
	prefer(func(c fault.Client) bool { return c.Together == nil })
	if w, ok := d.World.(fault.Chooser); ok {
		holders = w.Rarest(d.Kind, fault.AtHolder, holders, false)
	}
	d.holder = holders[d.Rand.IntN(len(holders))]
	if w, ok := d.World.(fault.Keeper); ok && !w.Keep(d.holder.Index, d.endure()) && d.Exact {
		return f, fmt.Errorf("%w: the client has just released its lock", fault.ErrNobody)
	}
	switch followers := d.Voters(d.leader); {
	case at == leader:
		d.server = d.leader
	case slices.Contains(followers, d.holder.Linked):
		d.server = d.holder.Linked
	default:
		d.server = followers[d.Rand.IntN(len(followers))]
	}
	d.stop = draw("stop", stopPause, stopHold)
	d.from = draw("from", onQuiet, onAnswer, onRequest)
	d.until = draw("until", onTime, onRequest)
	d.ask = draw("ask", askReadWrite, askNothing, askRead, askSync, askWrite)
	d.lost = draw("lost", lostToLeader, lostFromLeader, lostBoth, lostAll)
	d.answers, err = strconv.Atoi(draw("answers", "0", "1", "2", "3", "4", "5"))
	// From a quarter of a tick (a leader pings every half tick) to four ticks, after which its
	// followers may give it up. The longer the leader stands still, the greater is the error of a
	// wrong rule of evidence; but a holder waits for its server for at most two fifths of its
	// timeout.
	tick, longest := d.Ensemble().TickTime(), 2*d.SessionTimeout()/5
	stopped := tick/4 + time.Duration(d.Rand.Int64N(int64(4*tick)))
	if d.ask == askReconnect && d.lost == lostAll {
		// The holder is cut off meanwhile, and waits for no server. The later it connects again,
		// the longer it outlasts what the new leader counts; but its lease ends with its timeout.
		longest = 4 * d.SessionTimeout() / 5
		stopped = min(longest*2/3+time.Duration(d.Rand.Int64N(int64(longest/4))), longest)
	} else if d.usual != nil {
		stopped = longest*2/3 + time.Duration(d.Rand.Int64N(int64(longest/3)))
	}
	d.stopped = d.SetDuration(&f, "stopped", min(stopped, longest).Round(time.Millisecond))
	return f, err
}

// endure returns the time for which the holder should hold on.
func (d *deaf) endure() time.Duration { return 5 * d.SessionTimeout() / 2 }

// start puts the fault in force, step by step. It waits for requests and answers of the holder
// for a limited time only: they may not be known.
func (d *deaf) start(ctx context.Context) error {
	t := d.SessionTimeout()
	if err := d.keep(ctx); err != nil {
		return err
	}
	if d.from == onQuiet {
		// The second quiet time probably follows a heartbeat: the next heartbeat is far off.
		d.await(ctx, d.quiet(), 2, t/2)
	} else {
		d.await(ctx, d.events(d.from), 1, t/2)
	}
	if err := d.stand(ctx); err != nil {
		return err
	}
	if d.lost == lostAll { // at once: there must be a new leader by the time that this one goes on
		if err := d.lose(ctx); err != nil {
			return err
		}
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
	if err := d.goOn(ctx); err != nil {
		return err
	}
	if d.answers > 0 {
		d.await(ctx, answers, d.answers, t/2)
		if err := d.lose(ctx); err != nil {
			return err
		}
	} else {
		d.await(ctx, answers, 1, t/6)
		for before := -1; answers() != before && ctx.Err() == nil; { // and the answers right after it
			before = answers()
			if d.ask == askReconnect {
				wait.For(ctx, resumed)
			} else {
				wait.For(ctx, settled)
			}
		}
	}
	return fault.Each(ctx, d.holder.AllLinks(), func(ctx context.Context, l links.Link) error { return l.Cut(ctx, links.BlackHole) })
}

// keep leaves the holder one server, to which it moves with its session if necessary.
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

// stand makes the leader stand still, or seem to.
func (d *deaf) stand(ctx context.Context) error {
	switch d.stop {
	case stopPause:
		return d.servers.Pause(ctx, d.leader)
	case stopHold:
		return d.said.hold(ctx)
	}
	return nil
}

// goOn makes the leader go on. It does not heal the links that lose messages by now: on these the
// messages that were held back have arrived, or are lost.
func (d *deaf) goOn(ctx context.Context) error {
	switch d.stop {
	case stopPause:
		return d.servers.Resume(ctx, d.leader)
	case stopHold:
		return fault.Each(ctx, slices.DeleteFunc(d.said.links(), d.loses), heal)
	}
	return nil
}

func heal(ctx context.Context, l links.Link) error { return l.Heal(ctx) }

// standStill waits for as long as the leader stands still, and makes the holder send requests.
// Reads, which the follower answers by itself, are sent again and again, since they have to wait
// as soon as the holder itself has written; the last one is sent a tick before the last write.
func (d *deaf) standStill(ctx context.Context) {
	end := time.Now().Add(d.stopped)
	if d.ask == askReconnect {
		d.standApart(ctx, end)
		return
	}
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
	}
	wait.For(ctx, time.Until(end))
}

// standApart cuts the holder off until shortly before the leader goes on: then the holder
// connects to it, and the leader finds its connect request when it goes on, and then a sync, which
// the holder sends as soon as it can.
func (d *deaf) standApart(ctx context.Context, end time.Time) {
	used := d.holder.Links[d.server]
	_ = used.Cut(ctx, links.Down)
	wait.For(ctx, time.Until(end)-d.SessionTimeout()/5) // a client connects again every sixth of its timeout
	d.asks(fault.Sync)
	_ = used.Heal(ctx) // if it cannot be healed, Stop returns an error
	wait.For(ctx, time.Until(end))
}

func (d *deaf) asks(what fault.Request) {
	if w, ok := d.World.(fault.Asker); ok {
		w.Ask(d.holder.Index, what)
	}
}

// listen finds the links between the leader and the other servers.
func (d *deaf) listen() (err error) {
	others := []int{d.server}
	if d.server == d.leader {
		others = d.Others(d.leader)
	}
	if d.said, err = voiceOf(d.Ensemble(), d.leader, d.Others(d.leader)...); err != nil {
		return err
	}
	d.answered, err = voiceOf(d.Ensemble(), d.leader, others...)
	d.heard = voice{opened: d.answered.accepted, accepted: d.answered.opened}
	return err
}

// lose makes the links lose the messages in the chosen direction.
func (d *deaf) lose(ctx context.Context) error {
	switch d.lost {
	case lostToLeader:
		return d.heard.lose(ctx)
	case lostFromLeader:
		return d.answered.lose(ctx)
	case lostBoth, lostAll:
		cut := links.BlackHole
		if d.lost == lostAll {
			cut = links.Down
		}
		return fault.Each(ctx, d.answered.links(), func(ctx context.Context, l links.Link) error { return l.Cut(ctx, cut) })
	}
	return nil
}

// loses reports whether lose has changed a link.
func (d *deaf) loses(l links.Link) bool {
	return (d.answers == 0 && d.lost != lostNothing || d.lost == lostAll) && slices.Contains(d.answered.links(), l)
}
