package client

import (
	"fmt"
	"math"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// PoliteReconnects judges that no client tries to connect more often than it promises in any
// one window. The run has counted the attempts of each client, successful or not, and keeps the
// window with the most.
func PoliteReconnects(t *facts.Trace, v *verdict.Verdict) {
	bound := t.Header.Promises.Connects
	v.Promised = bound > 0
	if t.Census == nil || len(t.Census.Census.Connects) == 0 {
		v.Idle("the run did not count the attempts to connect")
		return
	}
	window := histories.ConnectWindow(t.Header.SessionTimeout)
	attempts, most := 0, 0
	for _, client := range t.Census.Census.Connects {
		attempts += client.Attempts
		most = max(most, client.Most)
		if client.Most > bound {
			v.Violate(func() verdict.Witness {
				from := max(0, t.Census.Time-client.Ago)
				w := judge.NewWitness(t, "", from, min(from+window, t.End))
				w.What = fmt.Sprintf("client %d tried to connect %s within %s, and promises at most %d; %d in all", client.Client, words.Count(client.Most, "time"), verdict.Ms(window), bound, client.Attempts)
				return w
			})
		}
	}
	v.Count("attempts to connect", attempts)
	v.Count("most of one client within "+verdict.Ms(window), most)
	if window > 0 {
		v.Figures = append(v.Figures, verdict.Figure{Name: "attempts a second of the busiest client", Value: math.Round(10*float64(most)/window.Seconds()) / 10})
	}
	if attempts == len(t.Census.Census.Connects) {
		v.Idle("no client had to connect again")
		return
	}
	v.Expected = true
	v.Conclude(
		fmt.Sprintf("%s to connect, no client more than %d within %s", words.Count(attempts, "attempt"), most, verdict.Ms(window)),
		fmt.Sprintf("%s tried to connect more than %s within %s", words.Count(v.Violations, "client"), words.Count(bound, "time"), verdict.Ms(window)))
}
