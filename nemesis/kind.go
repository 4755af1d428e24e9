package nemesis

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind is a family of faults: what a schedule names.
type Kind struct {
	Name        string
	Description string // one line
	// Peers says that it needs links between the servers, which only an
	// ensemble of our own has.
	Peers bool
	// Workers says that it needs clients that live in worker processes.
	Workers bool
	// Weight is how often it is drawn, relative to others of its sort.
	Weight int
	// Span is how long it lasts at least and at most, for a session timeout.
	Span func(sessionTimeout time.Duration) (least, most time.Duration)
	// Make looks at the scene and makes the fault. [ErrNobody] means that
	// the scene has nobody for it at this moment.
	Make func(Scene) (Fault, error)
}

// List returns every kind of fault, in the order in which they are documented.
func List() []Kind {
	return []Kind{
		cutKind("down", "a client's connections are closed and new ones refused", linksDown),
		cutKind("black-hole", "a client's data vanishes both ways, connections stay open", linksBlackHole),
		cutKind("requests-lost", "a client's requests vanish, replies would pass", linksRequestsLost),
		cutKind("replies-lost", "a client's requests are carried out, the replies vanish", linksRepliesLost),
		latencyKind(),
		silenceKind(),
		expireKind(),
		leaderKind(),
		followerKind(),
		pauseWorkerKind(),
		killWorkerKind(),
	}
}

// Select returns the kinds that names ask for: "all", "none" (or nothing), or
// names of kinds. peers says whether the ensemble has links between its
// servers: kinds that need them are left out of "all", and an error when asked
// for by name. workers says the same of clients that live in worker processes.
func Select(names []string, peers, workers bool) ([]Kind, error) {
	var out []Kind
	for _, name := range names {
		switch name = strings.TrimSpace(name); name {
		case "", "none":
			continue
		case "all":
			for _, k := range List() {
				if (peers || !k.Peers) && (workers || !k.Workers) {
					out = appendKind(out, k)
				}
			}
			continue
		}
		k, err := kindNamed(name)
		if err != nil {
			return nil, err
		}
		if k.Peers && !peers {
			return nil, fmt.Errorf("fault %q needs links between the servers, which this ensemble does not give", name)
		}
		if k.Workers && !workers {
			return nil, fmt.Errorf("fault %q needs clients in worker processes (--workers)", name)
		}
		out = appendKind(out, k)
	}
	return out, nil
}

func appendKind(to []Kind, k Kind) []Kind {
	if slices.ContainsFunc(to, func(o Kind) bool { return o.Name == k.Name }) {
		return to
	}
	return append(to, k)
}

func kindNamed(name string) (Kind, error) {
	var known []string
	for _, k := range List() {
		if k.Name == name {
			return k, nil
		}
		known = append(known, k.Name)
	}
	return Kind{}, fmt.Errorf("unknown fault %q; known: all, none, %s", name, strings.Join(known, ", "))
}

// timeouts makes a Span in multiples of the session timeout.
func timeouts(least, most float64) func(time.Duration) (time.Duration, time.Duration) {
	return func(t time.Duration) (time.Duration, time.Duration) {
		return time.Duration(least * float64(t)), time.Duration(most * float64(t))
	}
}
