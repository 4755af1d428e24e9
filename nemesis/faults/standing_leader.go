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

// deafKind and deposedKind are compound faults, of one sentence each, that aim at what a client
// takes for evidence that its session lives: an answer, or several. They differ in what they
// usually do.
//
// deafKind has the leader stand still, and when it goes on it does not hear the follower that
// a lock's holder is linked to; the holder is cut off once it has been answered. What the
// holder hears last the leader has answered, and yet the leader does not count the holder's
// session from then: it pings nobody while it stands still, and only in their answers to its
// pings do followers tell it which sessions are active.
//
// A schedule may say from which instant on the leader stands still, for how long, what the holder
// asks for meanwhile, which direction is lost then, and after how many answers.
func deafKind() fault.Kind {
	return standingLeader("deaf-leader", "the leader stands still, and when it goes on a holder's follower is not heard; the holder is cut off once it has been answered", 4,
		map[string]string{
			"at": string(fault.AFollower), "stop": stopPause, "from": onQuiet, "until": onTime, "ask": askReadWrite, "lost": lostToLeader, "answers": "0",
		})
}

// deposedKind has the leader stand still until the other servers follow another one, and when it
// goes on it answers a holder that asks it, or that reconnects to it, before it finds that out.
// The new leader has begun to count the holder's session by then.
func deposedKind() fault.Kind {
	usual := map[string]string{"at": string(fault.TheLeader), "stop": stopPause, "from": onQuiet, "until": onTime, "lost": lostAll}
	asks, reconnects := maps.Clone(usual), maps.Clone(usual)
	asks["ask"], asks["answers"] = askSync, "5"
	reconnects["ask"], reconnects["answers"] = askReconnect, "0"
	return standingLeader("deposed-leader", "the leader stands still until another one leads; when it goes on it answers a holder, who is cut off then", 5, asks, reconnects)
}

// standingLeader is a kind of fault in which the leader stands still. What it usually does is one
// of these: values of parameters.
func standingLeader(name, description string, early int, usual ...map[string]string) fault.Kind {
	return fault.Kind{
		Name: name, Description: description,
		Needs: fault.NeedsPeers, Weight: 1, Early: early,
		Span: fault.Timeouts(1.5, 2), // from then on
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
	deafGlance   = 200 * time.Microsecond // between two looks at what the holder was answered
	betweenReads = 25 * time.Millisecond
	// beforeGoingOn is when the holder sends the last request that the leader finds when it
	// goes on, and settled what comes behind an answer at the latest.
	beforeGoingOn, settled = 10 * time.Millisecond, 5 * time.Millisecond
	// nothingUnderWay is for how long a holder is quiet that has been answered: it waits for
	// no other answer, and what the leader holds back keeps none of the next requests.
	nothingUnderWay = 20 * time.Millisecond
)

// deaf is such a fault.
type deaf struct {
	fault.Scene
	usual   map[string]string // values of parameters, nil in one fault of four
	holder  fault.Client
	leader  int
	server  int // of the holder, from when it begins
	servers fault.Servers

	said voice // by the leader to all other servers
	// What the leader says to the holder's server, and hears of it; to all and of all, if that
	// is the leader itself.
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
	f.Endure, f.HealWithin = 5*s.SessionTimeout()/2, f.HealWithin+4*s.SessionTimeout()
	back := f.Stop
	f.Stop = func(ctx context.Context) error {
		err := errors.Join(fault.Each(ctx, d.said.links(), heal), fault.Each(ctx, d.holder.AllLinks(), heal))
		return errors.Join(err, back(ctx))
	}
	return f, nil
}

// choose picks the holder, and draws what the schedule does not say.
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
	prefer := func(fits func(fault.Client) bool) {
		some := slices.DeleteFunc(slices.Clone(holders), func(c fault.Client) bool { return !fits(c) })
		if d.usual != nil && len(some) > 0 {
			holders = some
		}
	}
	// One that has to move may lose its lock for that. What another client of its session asks
	// for is in the way of what it asks for.
	prefer(func(c fault.Client) bool {
		if at == leader {
			return c.Linked == d.leader
		}
		return slices.Contains(d.Voters(d.leader), c.Linked)
	})
	prefer(func(c fault.Client) bool { return c.Together == nil })
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
	d.stop = draw("stop", stopPause, stopHold)
	d.from = draw("from", onQuiet, onAnswer, onRequest)
	d.until = draw("until", onTime, onRequest)
	d.ask = draw("ask", askReadWrite, askNothing, askRead, askSync, askWrite)
	d.lost = draw("lost", lostToLeader, lostFromLeader, lostBoth, lostAll)
	d.answers, err = strconv.Atoi(draw("answers", "0", "1", "2", "3", "4", "5"))
	// From half of half a tick, after which a leader pings, to four ticks, after which its
	// followers may give it up. What a rule of evidence counts too much is the more the longer
	// that is; for longer than two fifths of its timeout a holder does not wait for its server.
	tick, longest := d.Ensemble().TickTime(), 2*d.SessionTimeout()/5
	stopped := tick/4 + time.Duration(d.Rand.Int64N(int64(4*tick)))
	if d.usual != nil {
		stopped = longest*2/3 + time.Duration(d.Rand.Int64N(int64(longest/3)))
	}
	d.stopped = d.SetDuration(&f, "stopped", min(stopped, longest).Round(time.Millisecond))
	return f, err
}

// start does all of it. Where it waits for requests and answers of the holder it waits for a
// while: they may not be known.
func (d *deaf) start(ctx context.Context) error {
	t := d.SessionTimeout()
	if err := d.keep(ctx); err != nil {
		return err
	}
	if d.from == onQuiet {
		d.await(ctx, d.quiet(), 2, t/2) // the second is behind a heartbeat, most likely: the next one is far
	} else {
		d.await(ctx, d.events(d.from), 1, t/2)
	}
	if err := d.stand(ctx); err != nil {
		return err
	}
	if d.lost == lostAll { // at once: another leader is to lead by the time that this one goes on
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

// stand has the leader stand still, or seem to.
func (d *deaf) stand(ctx context.Context) error {
	switch d.stop {
	case stopPause:
		return d.servers.Pause(ctx, d.leader)
	case stopHold:
		return d.said.hold(ctx)
	}
	return nil
}

// goOn has it go on. What was held back has arrived on links that lose something by now, as
// far as they do not lose it.
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

// listen finds the links on which the leader and the other servers talk.
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

// lose has what one says to the other be lost.
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

// loses reports whether lose has done something to a link.
func (d *deaf) loses(l links.Link) bool {
	return (d.answers == 0 && d.lost != lostNothing || d.lost == lostAll) && slices.Contains(d.answered.links(), l)
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

// quiet counts how often the holder has been answered, and sends nothing.
func (d *deaf) quiet() func() int {
	w, ok := d.World.(Listener)
	if !ok {
		return func() int { return 0 }
	}
	counted := w.Answers(d.holder.Index)
	answers, sent, since, times := counted, w.Sent(d.holder.Index), time.Now(), 0
	return func() int {
		if a, s := w.Answers(d.holder.Index), w.Sent(d.holder.Index); a != answers || !s.Equal(sent) {
			answers, sent, since = a, s, time.Now()
		}
		if answers != counted && time.Since(since) >= nothingUnderWay {
			counted = answers
			times++
		}
		return times
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
