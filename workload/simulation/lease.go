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

// What the plan lease goes through: each fault of a run takes the next combination of one of
// the tables. A client takes answers for evidence that its session lives; so a strike comes
// before and after each that may count, and the leader has stood still before it for so many
// half ticks, or not at all.
var (
	halfTicks = []string{"4", "1", "6", "2", "8", "3", "0.5", "0"}
	// heldBack are strikes at what is answered while the leader stands still, and when it
	// goes on.
	heldBack = []digit{
		{"ask", []string{"read-write", "read", "write", "sync", "read-write"}},
		{"stopped", halfTicks},
		{"lost", []string{"to-leader", "both"}},
		{"from", []string{"answer", "request"}},
		{"at", []string{"follower"}}, {"answers", []string{"0"}}, {"until", []string{"time"}},
	}
	// chains are strikes at one of several answers behind each other.
	chains = []digit{
		{"answers", []string{"2", "1", "3", "4", "5", "6"}},
		{"ask", []string{"nothing", "sync", "write"}},
		{"stopped", halfTicks},
		{"from", []string{"answer", "request"}},
		{"until", []string{"request", "time"}},
		{"lost", []string{"to-leader", "to-leader", "from-leader"}},
		{"at", []string{"follower"}},
	}
	// deposed are strikes at a leader that stands still until another one leads, and answers
	// when it goes on. That takes short ticks, or the holder would know by then that its
	// lease has ended.
	deposed = []digit{
		{"ask", []string{"reconnect", "nothing", "sync"}},
		{"stopped", []string{"20", "24", "18", "22", "28"}},
		{"answers", []string{"5", "0"}},
		{"until", []string{"time", "request"}},
		{"at", []string{"leader"}}, {"from", []string{"answer"}}, {"lost", []string{"both"}},
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
	ticks := []time.Duration{t / 10, t / 4, t / 2, t / 20}
	w.tick = ticks[w.seed%uint64(len(ticks))].Round(time.Millisecond)
	if w.Schedule != nil {
		return
	}
	r, every := w.draws(), 7*t/2
	w.Schedule = &nemesis.Schedule{Steps: []nemesis.Step{{
		For: w.Duration, Fault: "clock-rate",
		Pick: fault.Pick{Server: fault.TheLeader, Params: map[string]string{"rate": []string{"1.05", "1", "0.95"}[r.IntN(3)]}},
	}}}
	tables := [][]digit{heldBack, chains}
	if w.tick <= t/20 {
		tables = append(tables, deposed)
	}
	strikes, rounds := uint64(w.Duration/every), w.seed/uint64(len(ticks))
	for i := range strikes {
		n := rounds*strikes + i
		of := uint64(len(tables))
		w.Schedule.Steps = append(w.Schedule.Steps, nemesis.Step{
			At: t/4 + time.Duration(i)*every + time.Duration(r.Int64N(int64(t/4))), For: 5 * t / 2, Fault: leaseFault,
			Pick: fault.Pick{Aim: fault.AtHolder, Draw: r.Uint32(), Params: strikeOf(tables[n%of], n/of, w.tick, 7*t/10)},
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
	const stride = 4003 // a prime: no number of combinations has it as a factor
	n = n % all * stride % all
	params := map[string]string{"stop": "pause"}
	for _, d := range table {
		params[d.name] = d.values[n%uint64(len(d.values))]
		n /= uint64(len(d.values))
	}
	stood, _ := strconv.ParseFloat(params["stopped"], 64) // a number of the table
	if stood == 0 {
		params["stop"], stood = "none", 1 // for which it asks
	}
	stopped := time.Duration(stood * float64(tick/2))
	params["stopped"] = min(stopped, longest).Round(time.Millisecond).String()
	return params
}
