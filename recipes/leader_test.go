package recipes_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// observing takes the leaders of an election one at a time.
type observing struct {
	t    *testing.T
	next func() (recipes.Participant, error, bool)
}

func observe(t *testing.T, ctx context.Context, e *recipes.Election) observing {
	next, stop := iter.Pull2(e.Observe(ctx))
	t.Cleanup(stop)
	return observing{t, next}
}

// sees checks the next leader: its data, and its token unless that is zero.
func (o observing) sees(data string, token recipes.Token) recipes.Participant {
	o.t.Helper()
	p, err, ok := o.next()
	switch {
	case !ok || err != nil:
		o.t.Fatalf("the observation has ended with %v", err)
	case string(p.Data) != data, !token.IsZero() && p.Token != token, data == "" && p.Node != "":
		o.t.Fatalf("leads %+v, want %q with token %v", p, data, token)
	}
	return p
}

func TestAnObserverSeesLeadersComeAndGo(t *testing.T) {
	for _, options := range [][]recipes.LockOption{nil, {recipes.WithLeaderSelector()}} {
		path := uniquePath(t)
		candidate := func(data string) *recipes.Election {
			return recipes.NewElection(connect(t, addrsOf(t)), path, append(options, recipes.WithData([]byte(data)))...)
		}
		a, b := candidate("a:80"), candidate("b:80")
		sees := observe(t, within(t), candidate("observer"))
		sees.sees("", recipes.Token{}) // there is not even a parent
		first := campaign(t, a)
		if p := sees.sees("a:80", first.Token()); p.Node != first.Node() || p.Session != first.SessionID() {
			t.Errorf("observed is %+v", p)
		}
		next := make(chan *recipes.Lease)
		go func() {
			term, err := b.Campaign(within(t))
			if err != nil {
				t.Error(err)
			}
			next <- term
		}()
		eventually(t, "there are two candidates", func() bool { return len(candidates(t, a)) == 2 })
		if err := first.Release(within(t)); err != nil {
			t.Fatal(err)
		}
		second := <-next
		sees.sees("b:80", second.Token())
		if err := second.Release(within(t)); err != nil {
			t.Fatal(err)
		}
		sees.sees("", recipes.Token{}) // the parent exists
		third := campaign(t, a)
		sees.sees("a:80", third.Token())
	}
}

func TestAnObserverSeesWhatTheLeaderAnnounces(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	requests := make(chan struct{}, 1)
	e := recipes.NewElection(connect(t, addrsOf(t)), path, recipes.WithData([]byte("a:80")), recipes.WithRevocation(func(*recipes.Lease) { requests <- struct{}{} }))
	term := campaign(t, e)
	sees := observe(t, within(t), e)
	sees.sees("a:80", term.Token())
	if err := connect(t, addrsOf(t)).Revoke(within(t), term.Node()); err != nil {
		t.Fatal(err)
	}
	<-requests // the request replaces the address until the leader restores it
	eventually(t, "the leader announces its address again", func() bool {
		data, _, err := conn.Get(term.Node())
		return err == nil && string(data) == "a:80"
	})
	if _, err := conn.Set(term.Node(), []byte("a:81"), -1); err != nil {
		t.Fatal(err)
	}
	sees.sees("a:81", term.Token())
}

func TestAnObserverGoesOnInTheNextSession(t *testing.T) {
	path := uniquePath(t)
	i := &intercept{}
	leads := recipes.NewElection(connect(t, addrsOf(t)), path, recipes.WithData([]byte("a")))
	term := campaign(t, leads)
	client := connect(t, addrsOf(t), recipes.WithDialer(i.dial), recipes.WithSessionTimeout(timeout))
	sees := observe(t, within(t), recipes.NewElection(client, path))
	sees.sees("a", term.Token())
	before := client.SessionID()
	expire(t, i)
	done := make(chan recipes.Participant)
	go func() {
		p, _, _ := sees.next()
		done <- p
	}()
	eventually(t, "the observer has another session", func() bool { return client.SessionID() != before })
	if err := term.Release(within(t)); err != nil {
		t.Fatal(err)
	}
	if p := <-done; p.Node != "" {
		t.Errorf("leads %+v", p)
	}
}

func TestAnObservationEndsWithItsContext(t *testing.T) {
	path := uniquePath(t)
	leavesNoGoroutine(t)
	e := recipes.NewElection(connect(t, addrsOf(t)), path)
	for _, leads := range []bool{false, true} {
		if leads {
			campaign(t, e)
		}
		ctx, cancel := context.WithCancelCause(within(t))
		enough := errors.New("enough")
		var seen []error
		for _, err := range e.Observe(ctx) {
			if seen = append(seen, err); len(seen) == 1 {
				time.AfterFunc(10*time.Millisecond, func() { cancel(enough) })
			}
		}
		if len(seen) != 2 || seen[0] != nil || !errors.Is(seen[1], enough) {
			t.Errorf("it yields the errors %v", seen)
		}
		cancel(nil)
	}
}

// An observer cannot look while the link is down: this must not be reported as an election
// without a leader.
func TestAnObservationEndsWithItsContextWhileTheLinkIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers := zktest.Start(t)
		c := bubbleClient(t, servers, "observer", recipes.WithSessionTimeout(time.Minute))
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		enough := errors.New("enough")
		var seen []error
		for p, err := range recipes.NewElection(c, "/election").Observe(ctx) {
			if seen = append(seen, err); len(seen) > 1 {
				if !errors.Is(err, enough) {
					t.Errorf("it yields %+v, %v", p, err)
				}
				break
			}
			time.AfterFunc(time.Second, func() { servers.Client("observer").Refuse() })
			time.AfterFunc(10*time.Second, func() { cancel(enough) })
		}
		if len(seen) != 2 || seen[0] != nil {
			t.Errorf("it yields the errors %v", seen)
		}
	})
}

func TestTheLeaderIsFound(t *testing.T) {
	path := uniquePath(t)
	e := recipes.NewElection(connect(t, addrsOf(t)), path, recipes.WithData([]byte("a:80")))
	if p, err := e.Leader(within(t)); !errors.Is(err, recipes.ErrNoLeader) {
		t.Errorf("leads %+v, %v", p, err)
	}
	term := campaign(t, e)
	other := recipes.NewElection(connect(t, addrsOf(t)), path)
	var p recipes.Participant
	eventually(t, "the other client's server has heard of the leader", func() bool {
		var err error
		p, err = other.Leader(within(t))
		return err == nil
	})
	if string(p.Data) != "a:80" || p.Token != term.Token() || p.Node != term.Node() || p.Kind != "latch-" {
		t.Errorf("leads %+v", p)
	}
	if err := term.Release(within(t)); err != nil {
		t.Fatal(err)
	}
	if p, err := e.Leader(within(t)); !errors.Is(err, recipes.ErrNoLeader) {
		t.Errorf("after the term leads %+v, %v", p, err)
	}
}

// An observer sees an election that begins between its look and its watch at once, not at its
// next poll.
func TestAnObserverSeesAnElectionThatBeginsWhileItLooks(t *testing.T) {
	path := uniquePath(t)
	leads := recipes.NewElection(connect(t, addrsOf(t)), path, recipes.WithData([]byte("a:80")))
	wire := new(intercept)
	watches := recipes.NewElection(connect(t, addrsOf(t), recipes.WithDialer(wire.dial)), path)
	var term *recipes.Lease
	wire.on(once(opExists, func() bool { term = campaign(t, leads); return true }), nil)
	observe(t, within(t), watches).sees("a:80", recipes.Token{})
	if err := term.Release(within(t)); err != nil {
		t.Error(err)
	}
}

// TestObserversSeeTermsInOrder makes candidates change as fast as they can. The last one stays.
func TestObserversSeeTermsInOrder(t *testing.T) {
	path := uniquePath(t)
	const terms = 40
	clients := []*recipes.Client{connect(t, addrsOf(t)), connect(t, addrsOf(t)), connect(t, addrsOf(t))}
	led := make(chan []recipes.Token, 1)
	go func() { // ends with the last term's begin
		var all []recipes.Token
		defer func() { led <- all }()
		for i := range terms {
			data := "one of many"
			if i == terms-1 {
				data = "the last"
			}
			term, err := recipes.NewElection(clients[i%len(clients)], path, recipes.WithData([]byte(data))).Campaign(within(t))
			if err != nil {
				t.Error(err)
				return
			}
			all = append(all, term.Token())
			if i < terms-1 {
				if err := term.Release(within(t)); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	var seen []recipes.Token
	for p, err := range recipes.NewElection(connect(t, addrsOf(t)), path).Observe(within(t)) {
		if err != nil {
			t.Fatal(err)
		}
		if p.Node != "" {
			seen = append(seen, p.Token)
		}
		if string(p.Data) == "the last" {
			break
		}
	}
	if !slices.IsSortedFunc(seen, recipes.Token.Compare) {
		t.Errorf("seen are %v", seen)
	}
	all := <-led
	for _, token := range seen {
		if !slices.Contains(all, token) {
			t.Errorf("%v is the token of no leader", token)
		}
	}
}

// Observers are not told of a request to resign.
func TestAnObserverIsNotToldOfARequestToResign(t *testing.T) {
	path := uniquePath(t)
	c := connect(t, addrsOf(t))
	term, err := recipes.NewElection(c, path, recipes.WithData([]byte("web-1"))).Campaign(within(t))
	if err != nil {
		t.Fatal(err)
	}
	asked := false
	for leader, err := range recipes.NewElection(connect(t, addrsOf(t)), path).Observe(within(t)) {
		if err != nil {
			t.Fatal(err)
		}
		if leader.Node == "" {
			break
		}
		if asked || string(leader.Data) != "web-1" {
			t.Errorf("asked to resign: %v, and an observer is told of %q", asked, leader.Data)
			break
		}
		asked = true
		if err := c.Revoke(within(t), term.Node()); err != nil {
			t.Fatal(err)
		}
		for late, err := range recipes.NewElection(c, path).Observe(within(t)) {
			if err != nil || late.Node == "" || string(late.Data) != "web-1" {
				t.Errorf("who comes later is told of %+v, %v", late, err)
			}
			break
		}
		time.AfterFunc(100*time.Millisecond, func() { _ = term.Release(within(t)) })
	}
}

// An observer that finds another leader at each look does not pause between its looks.
func TestAnObserverKeepsUpWithLeadersThatChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers := zktest.Start(t)
		leads := recipes.NewElection(bubbleClient(t, servers, "leads"), "/election")
		c, wire := interceptedClient(t, servers, "observer")
		watches := recipes.NewElection(c, "/election")
		term, err := leads.Campaign(t.Context())
		var last time.Time
		changes := 0
		wire.on(func(op int32) bool {
			if op == opGetData && changes < 8 {
				changes++
				err = errors.Join(err, term.Release(t.Context()))
				var e error
				term, e = leads.Campaign(t.Context())
				err = errors.Join(err, e)
				last = time.Now()
			}
			return true
		}, nil)
		for p, e := range watches.Observe(t.Context()) {
			if e != nil || err != nil || p.Token != term.Token() {
				t.Errorf("it yields %v, %v; %v", p, e, err)
			}
			break
		}
		if took := time.Since(last); changes < 8 || took > 100*time.Millisecond {
			t.Errorf("after %d changes it took %v", changes, took)
		}
	})
}
