package recipes_test

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/zkverify/zkverify/recipes"
)

const marker = "__REVOKE__"

// announces checks that no follower sees the marker in place of the leader's data. It reports
// whether all of them see the leader's data.
func announces(t *testing.T, e *recipes.Election, want string) bool {
	t.Helper()
	leader, err := e.Leader(within(t))
	if err != nil {
		t.Fatal(err)
	}
	all, err := e.Participants(within(t))
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	seen := []string{string(leader.Data), string(all[0].Data)}
	for p, err := range e.Observe(within(t)) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, string(p.Data))
		break
	}
	if slices.Contains(seen, marker) {
		t.Fatalf("followers see %q", seen)
	}
	return !slices.ContainsFunc(seen, func(s string) bool { return s != want })
}

// The leader has a listener or not; Curator has two kinds of candidates.
func TestARequestToResignLeavesWhatTheLeaderAnnounces(t *testing.T) {
	for _, c := range []struct {
		name            string
		listens, stays  bool // stays: the leader's node never has other data
		electionOptions []recipes.LockOption
	}{
		{"a leader that does not listen", false, true, nil},
		{"a leader that listens", true, true, nil},
		{"a selected leader that does not listen", false, false, []recipes.LockOption{recipes.WithLeaderSelector()}},
		{"a selected leader that listens", true, false, []recipes.LockOption{recipes.WithLeaderSelector()}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, conn := uniquePath(t), admin(t)
			var asked atomic.Int32
			options := append(c.electionOptions, recipes.WithData([]byte("a:80")))
			if c.listens {
				options = append(options, recipes.WithRevocation(func(*recipes.Lease) { asked.Add(1) }))
			}
			term := campaign(t, recipes.NewElection(connect(t, addrsOf(t)), path, options...))
			follower := recipes.NewElection(connect(t, addrsOf(t)), path, c.electionOptions...)
			node, other := term.Node(), connect(t, addrsOf(t))
			for i := range 3 {
				if err := other.Revoke(within(t), node); err != nil {
					t.Fatal(err)
				}
				if data, _, err := conn.Get(node); c.stays && (err != nil || string(data) != "a:80") {
					t.Fatalf("the node has %q, %v", data, err)
				}
				eventually(t, "followers see the address", func() bool { return announces(t, follower, "a:80") })
				if c.listens {
					eventually(t, "the leader is asked", func() bool { return int(asked.Load()) == i+1 })
				}
			}
			if !term.Valid() {
				t.Error("the term has ended")
			}
		})
	}
}

// A waiting candidate is asked when it leads, once.
func TestACandidateThatWasAskedWhileItWaitedIsAskedWhenItLeads(t *testing.T) {
	path := uniquePath(t)
	first := campaign(t, recipes.NewElection(connect(t, addrsOf(t)), path))
	var asked atomic.Int32
	second := recipes.NewElection(connect(t, addrsOf(t)), path, recipes.WithRevocation(func(*recipes.Lease) { asked.Add(1) }))
	leads := make(chan *recipes.Lease)
	go func() {
		term, err := second.Campaign(within(t))
		if err != nil {
			t.Error(err)
		}
		leads <- term
	}()
	eventually(t, "there are two candidates", func() bool { return len(candidates(t, second)) == 2 })
	if err := connect(t, addrsOf(t)).Revoke(within(t), candidates(t, second)[1].Node); err != nil {
		t.Fatal(err)
	}
	if err := first.Release(within(t)); err != nil {
		t.Fatal(err)
	}
	<-leads
	eventually(t, "it is asked", func() bool { return asked.Load() > 0 })
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// Data that another client writes to the leader's node are not a request, and the next request
// leaves them in place.
func TestAnAddressThatOthersChangeIsNoRequest(t *testing.T) {
	path, conn := uniquePath(t), admin(t)
	asked := make(chan struct{}, 10)
	e := recipes.NewElection(connect(t, addrsOf(t)), path, recipes.WithData([]byte("a:80")), recipes.WithRevocation(func(*recipes.Lease) { asked <- struct{}{} }))
	term := campaign(t, e)
	sees := observe(t, within(t), e)
	sees.sees("a:80", term.Token())
	if _, err := conn.Set(term.Node(), []byte("a:81"), -1); err != nil {
		t.Fatal(err)
	}
	sees.sees("a:81", term.Token())
	eventually(t, "the leader watches again", func() bool { return watchesBelow(t, path) > 0 })
	if len(asked) > 0 {
		t.Error("it is asked")
	}
	if err := connect(t, addrsOf(t)).Revoke(within(t), term.Node()); err != nil {
		t.Fatal(err)
	}
	<-asked
	if !announces(t, e, "a:81") {
		t.Error("the address has changed")
	}
}

// A request whose reply is lost is made once.
func TestARequestToResignWhoseReplyIsLostIsMadeOnce(t *testing.T) {
	for name, lose := range map[string]func(wire *intercept){
		"it was carried out": func(wire *intercept) { wire.on(nil, once(opSetData, cut)) },
		"it was not sent":    func(wire *intercept) { wire.on(once(opSetData, cut), nil) },
	} {
		t.Run(name, func(t *testing.T) {
			path, conn := uniquePath(t), admin(t)
			term := campaign(t, recipes.NewElection(connect(t, addrsOf(t)), path))
			var wire intercept
			c := connect(t, addrsOf(t), recipes.WithDialer(wire.dial))
			lose(&wire)
			if err := c.Revoke(within(t), term.Node()); err != nil {
				t.Fatal(err)
			}
			if _, stat, err := conn.Get(term.Node()); err != nil || stat.Version != 1 {
				t.Errorf("the node has version %d, %v", stat.Version, err)
			}
		})
	}
}

// A request is lost on its way while another client changes the leader's data. That change does
// not pass for the request.
func TestARequestToResignIsMadeWhereTheDataHasChangedMeanwhile(t *testing.T) {
	path, conn := uniquePath(t), admin(t)
	term := campaign(t, recipes.NewElection(connect(t, addrsOf(t)), path, recipes.WithData([]byte("a:80"))))
	var wire intercept
	other := connect(t, addrsOf(t), recipes.WithDialer(wire.dial))
	wire.on(once(opSetData, func() bool {
		if _, err := conn.Set(term.Node(), []byte("a:81"), -1); err != nil {
			t.Error(err)
		}
		return cut()
	}), nil)
	if err := other.Revoke(within(t), term.Node()); err != nil {
		t.Fatal(err)
	}
	if data, stat, err := conn.Get(term.Node()); err != nil || stat.Version != 2 || string(data) != "a:81" {
		t.Errorf("the node has %q in version %d, %v", data, stat.Version, err)
	}
}
