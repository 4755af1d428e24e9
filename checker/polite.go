package checker

import (
	"fmt"
	"math"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// politeReconnects: no client tries to connect more often than it promises in
// any one window. The run has counted the attempts of each, whatever came of
// them, and keeps the window with the most.
func politeReconnects(t *trace, v *Verdict) {
	bound := t.header.Promises.Connects
	v.Promised = bound > 0
	if t.census == nil || len(t.census.Census.Connects) == 0 {
		v.idle("nobody counted the attempts to connect")
		return
	}
	window := histories.ConnectWindow(t.header.SessionTimeout)
	attempts, most := 0, 0
	for _, client := range t.census.Census.Connects {
		attempts += client.Attempts
		most = max(most, client.Most)
		if client.Most > bound {
			v.violate(func() Witness {
				from := max(0, t.census.Time-client.Ago)
				w := t.newWitness("", from, min(from+window, t.end))
				w.What = fmt.Sprintf("client %d tried to connect %s within %s, and promises at most %d; %d in all", client.Client, words.Count(client.Most, "time"), ms(window), bound, client.Attempts)
				return w
			})
		}
	}
	v.count("attempts to connect", attempts)
	v.count("most of one client within "+ms(window), most)
	if window > 0 {
		v.Figures = append(v.Figures, Figure{Name: "attempts a second of the busiest client", Value: math.Round(10*float64(most)/window.Seconds()) / 10})
	}
	if attempts == len(t.census.Census.Connects) {
		v.idle("no client had to connect again")
		return
	}
	v.Expected = true
	v.conclude(
		fmt.Sprintf("%s to connect, no client more than %d within %s", words.Count(attempts, "attempt"), most, ms(window)),
		fmt.Sprintf("%s tried to connect more than %s within %s", words.Count(v.Violations, "client"), words.Count(bound, "time"), ms(window)))
}
