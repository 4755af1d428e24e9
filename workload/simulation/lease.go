package simulation

import (
	"strconv"
	"time"

	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// leaseFault is what the plan lease is made of, besides clocks that run as fast and as slow as
// the contract of a lease allows.
const leaseFault = "deaf-leader"

// digit is a parameter of the fault, and the values that it goes through. A value that stands
// there more than once comes the more often.
type digit struct {
	name   string
	values []string
}

// What the plan lease goes through: each fault of a run takes the next combination. A client
// takes answers for evidence that its session lives; so a strike comes before and after each
// that may count, and the leader has stood still before it for so many half ticks.
var (
	// aroundAnswers are strikes at what a follower relays.
	aroundAnswers = []digit{
		{"at", []string{"follower"}},
		{"ask", []string{"read-write", "nothing", "write", "read-write", "sync", "read"}},
		{"answers", []string{"0", "1", "0", "2", "3", "0", "4", "5"}},
		{"stopped", []string{"4", "1", "6", "2", "0.5", "3", "1.5", "0"}}, // 0: it does not stand still
		{"from", []string{"answer", "answer", "request"}},
		{"until", []string{"time", "request"}},
		{"lost", []string{"to-leader", "to-leader", "both", "from-leader"}},
	}
	// deposed are strikes at a leader that stands still until another one leads, and answers
	// when it goes on. That takes short ticks, or the holder would know by then that its
	// lease has ended.
	deposed = []digit{
		{"at", []string{"leader"}},
		{"ask", []string{"reconnect", "nothing", "sync"}},
		{"answers", []string{"5", "0", "2"}},
		{"stopped", []string{"20", "24", "18", "22", "28"}},
		{"from", []string{"answer", "request"}},
		{"until", []string{"time", "request"}},
		{"lost", []string{"both"}},
	}
)

// lease has the leader stand still around the answers that a holder's evidence is made of, one
// direction be lost, and the holder be cut off behind an answer. The servers' tick, and whether
// the leader's clock is fast or slow, go by the seed too.
func lease(w *world) {
	if w.Clients == 0 && len(w.Recipes) == 1 {
		w.Clients = 9
	}
	if w.Locks == 0 {
		w.Locks = 3
	}
	m := &w.Mix
	m.Try, m.Timeout, m.Cancel, m.Crash, m.Long, m.HoldOn = -1, -1, -1, -1, -1, 1
	m.Hold, m.Rest = 300*time.Millisecond, 100*time.Millisecond
	w.latency = 100 * time.Microsecond
	t := w.SessionTimeout
	w.tick = (t / []time.Duration{10, 4, 2, 20}[w.seed%4]).Round(time.Millisecond)
	if w.Schedule != nil {
		return
	}
	rate := []string{"1.05", "1", "0.95"}[w.seed/4%3]
	w.Schedule = &nemesis.Schedule{Steps: []nemesis.Step{{
		For: w.Duration, Fault: "clock-rate", Pick: fault.Pick{Server: fault.TheLeader, Params: map[string]string{"rate": rate}},
	}}}
	r, every := w.draws(), 7*t/2
	strikes := uint64(w.Duration / every)
	for i := range strikes {
		table := aroundAnswers
		if w.tick <= t/20 && i%2 == 0 {
			table = deposed
		}
		w.Schedule.Steps = append(w.Schedule.Steps, nemesis.Step{
			At: t/4 + time.Duration(i)*every + time.Duration(r.Int64N(int64(t/4))), For: 5 * t / 2, Fault: leaseFault,
			Pick: fault.Pick{Aim: fault.AtHolder, Draw: r.Uint32(), Params: strikeOf(table, w.seed*strikes+i, w.tick, 7*t/10)},
		})
	}
}

// strikeOf is the n-th combination of a table. Neighbors differ in most digits: few runs are
// spread over all combinations. After a longer stop the holder has lost its lease already.
func strikeOf(table []digit, n uint64, tick, longest time.Duration) map[string]string {
	all := uint64(1)
	for _, d := range table {
		all *= uint64(len(d.values))
	}
	const stride = 6151 // a prime that no number of combinations has as a factor
	n = n % all * stride % all
	params := map[string]string{"stop": "pause"}
	for _, d := range table {
		params[d.name] = d.values[n%uint64(len(d.values))]
		n /= uint64(len(d.values))
	}
	halfTicks, _ := strconv.ParseFloat(params["stopped"], 64) // a number of the table
	if halfTicks == 0 {
		params["stop"], halfTicks = "none", 1 // for which it asks
	}
	stopped := time.Duration(halfTicks * float64(tick/2))
	params["stopped"] = min(stopped, longest).Round(time.Millisecond).String()
	return params
}
