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

// PoliteReconnects judges that no client tries to connect, or asks again what it has been told, more
// often than it promises in any one window. The run has counted the attempts of each client,
// successful or not, and such requests, and keeps the windows with the most.
func PoliteReconnects(t *facts.Trace, v *verdict.Verdict) {
	bound, again := t.Header.Promises.Connects, t.Header.Promises.Repeats
	v.Promised = bound > 0 || again > 0
	if t.Census == nil || len(t.Census.Census.Connects) == 0 {
		v.Idle("the run did not count the attempts to connect")
		return
	}
	window := histories.ConnectWindow(t.Header.SessionTimeout)
	attempts, most, repeats := 0, 0, 0
	for _, client := range t.Census.Census.Connects {
		attempts += client.Attempts
		most = max(most, client.Most)
		repeats = max(repeats, client.Repeats)
		if again > 0 && client.Repeats > again {
			v.Violate(func() verdict.Witness {
				from := max(0, t.Census.Time-client.RepeatsAgo)
				w := judge.NewWitness(t, "", from, min(from+window, t.End))
				w.What = fmt.Sprintf("client %d asked the servers again, %s within %s, what it had been told, and promises at most %d", client.Client, words.Times(client.Repeats), verdict.Ms(window), again)
				return w
			})
		}
		if bound > 0 && client.Most > bound {
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
	if again > 0 {
		v.Count("most requests of one client within "+verdict.Ms(window)+" that ask again", repeats)
	}
	if window > 0 {
		v.Figures = append(v.Figures, verdict.Figure{Name: "attempts a second of the busiest client", Value: math.Round(10*float64(most)/window.Seconds()) / 10})
	}
	if v.Violations == 0 && attempts == len(t.Census.Census.Connects) {
		v.Idle("no client had to connect again")
		return
	}
	v.Expected = true
	v.Conclude(
		fmt.Sprintf("%s to connect, no client more than %d within %s", words.Count(attempts, "attempt"), most, verdict.Ms(window)),
		fmt.Sprintf("%s tried to connect, or asked again, more often than promised within %s", words.Count(v.Violations, "client"), verdict.Ms(window)))
}
