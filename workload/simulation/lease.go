package simulation

import (
	"strconv"
	"time"
)

// digit is a parameter of the fault of the plan lease, and the values that it goes through. A
// value that is listed more than once comes more often.
type digit struct {
	name   string
	values []string
}

// The tables of the plan lease: each fault of a run takes the next combination of one of them.
// A client takes answers as evidence that its session lives; so a strike comes before and after
// each answer that may count, and the leader has stood still before it for so many half ticks,
// or not at all.
var (
	halfTicks = []string{"4", "1", "6", "2", "8", "3", "0.5", "0"}
	// heldBack are strikes at answers while the leader stands still, and when it goes on.
	heldBack = []digit{
		{"ask", []string{"read-write", "read", "write", "sync", "read-write"}},
		{"stopped", halfTicks},
		{"lost", []string{"to-leader", "both"}},
		{"from", []string{"quiet", "answer", "request"}},
		{"stop", []string{"pause", "hold"}},
		{"at", []string{"follower"}}, {"answers", []string{"0"}}, {"until", []string{"time"}},
	}
	// chains are strikes at one of several answers behind each other.
	chains = []digit{
		{"answers", []string{"2", "1", "3", "4", "5", "6"}},
		{"ask", []string{"nothing", "sync", "write"}},
		{"stopped", halfTicks},
		{"from", []string{"answer", "request", "quiet"}},
		{"until", []string{"request", "time"}},
		{"stop", []string{"pause", "hold"}},
		{"lost", []string{"to-leader", "to-leader", "from-leader"}},
		{"at", []string{"follower"}},
	}
	// answeredFirst are strikes at a leader that goes on with the next request of a chain, and
	// answers before it pings.
	answeredFirst = []digit{
		{"answers", []string{"2", "2", "3", "2"}},
		{"stopped", []string{"1", "0.5", "1"}},
		{"at", []string{"follower"}}, {"from", []string{"quiet"}}, {"ask", []string{"nothing"}},
		{"until", []string{"request"}}, {"lost", []string{"to-leader"}},
	}
	// unasked are strikes at answers between which no ping need have been due.
	unasked = []digit{
		{"answers", []string{"5", "1", "4", "2", "3"}},
		{"from", []string{"answer", "request", "quiet"}},
		{"at", []string{"follower"}}, {"stopped", []string{"0"}}, {"ask", []string{"nothing"}},
		{"until", []string{"request"}}, {"lost", []string{"to-leader"}},
	}
	// deposed are strikes at a leader that stands still until another server leads, and answers
	// when it goes on. That takes short ticks, or the holder would know by then that its lease
	// has ended.
	deposed = []digit{
		{"ask", []string{"reconnect", "nothing", "sync"}},
		{"stopped", []string{"20", "24", "18", "22", "28"}},
		{"answers", []string{"5", "0"}},
		{"until", []string{"time", "request"}},
		{"from", []string{"answer", "quiet"}},
		{"lost", []string{"both", "connections"}},
		{"at", []string{"leader"}},
	}
)

// strikeOf returns the n-th strike of a table. Neighbors differ in most digits, so that few
// runs are spread over all combinations.
func strikeOf(table []digit, n uint64, tick, longest time.Duration) map[string]string {
	all := uint64(1)
	for _, d := range table {
		all *= uint64(len(d.values))
	}
	const stride = 4003 // a prime: no number of combinations has it as a factor
	return combination(table, n%all*stride%all, tick, longest)
}

// combination returns the n-th combination of a table. After a stop that is longer than longest
// the holder has lost its lease already.
func combination(table []digit, n uint64, tick, longest time.Duration) map[string]string {
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
