package model_test

import (
	"errors"
	"flag"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/ensemble/model/wire"
	model "github.com/zkverify/zkverify/ensemble/simulated"
)

// The tests of this file compare the model with real servers: whether two ensembles behave alike.
// They run random programs on both and compare all the answers.
//
// A [Program] is drawn from a seed: a few sessions, on different servers, that meet at a
// few nodes. [Target.Run] runs it and returns a [Transcript]: each reply, notification
// and closed connection in its order, as text that does not depend on the ensemble, the
// time or earlier programs:
//
//   - Paths are relative to a node of the program's own, "~".
//   - A zxid is "+n", if n of the program's changes were made up to it.
//   - A time is "ok" if it lies within the step that made the change.
//   - A session is named s0, s1, …; passwords are left out.
//   - Children and ephemeral nodes are sorted, and so are the notifications that the end
//     of a session causes: servers keep both in hash tables.
//
// One step runs at a time, and after it each session has its server synchronized. So the
// program alone decides the results that are compared, except the deletions that a server
// makes on its own: of containers, and of nodes whose time to live is over. A run waits
// for those.
//
// [Compare] returns the steps in which two transcripts differ, [Shrink] removes the steps
// that a difference does not need, and [Known] lists the differences between ZooKeeper's
// versions.

var (
	sideA    = flag.String("a", "", "one side: a version of ZooKeeper, simulated-VERSION, or the addresses of servers with commas")
	sideB    = flag.String("b", "", "the other side")
	alsoReal = flag.Bool("real", false, "compare real servers with each other, too")
	versions = flag.Bool("versions", false, "the other side is of a later version: known differences are none")
	programs = flag.Int("programs", 20, "how many programs to run")
	seed     = flag.Uint64("seed", 1, "the seed of the first program; the others follow")
	steps    = flag.Int("steps", 40, "steps of a program")
)

// side is one of the two ensembles.
type side struct {
	t       *testing.T
	servers []ensemble.Server
	target  *Target
}

// startSide starts servers of a version, or uses those of the addresses.
func startSide(t *testing.T, what string) *side {
	t.Helper()
	s := &side{t: t}
	if strings.Contains(what, ":") {
		for i, a := range strings.Split(what, ",") {
			s.servers = append(s.servers, ensemble.Server{ID: i + 1, Addr: a})
		}
	} else {
		e := startServers(t, what)
		t.Cleanup(func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
		s.servers = e.Servers()
	}
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.target.Close() })
	return s
}

// simulated is the prefix of the name of a side that is the model.
const simulated = "simulated-"

func startServers(t *testing.T, what string) ensemble.Ensemble {
	t.Helper()
	// With this tick, a busy machine does not cost the leader its followers.
	config := ensemble.LocalConfig{ZooKeeper: what, TickTime: 2 * time.Second, StartLimit: 2 * time.Minute}
	if version, ok := strings.CutPrefix(what, simulated); ok {
		config.ZooKeeper = version
		e, err := model.Start(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	if testing.Short() {
		t.Skip("needs real servers")
	}
	ensembletest.Turn(t)
	e, err := ensemble.StartLocal(t.Context(), config)
	if errors.Is(err, ensemble.ErrNoVersion) || ensemble.NotInstalled(err) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// open makes a target whose first server leads.
func (s *side) open() error {
	leader, err := ensemble.LeaderOf(s.t.Context(), s.servers)
	if err != nil {
		return err
	}
	var addresses []string
	for _, server := range s.servers {
		if server.ID == leader {
			addresses = append([]string{server.Addr}, addresses...)
		} else {
			addresses = append(addresses, server.Addr)
		}
	}
	target, err := Open(s.t.Context(), addresses)
	if err == nil {
		s.target = target
	}
	return err
}

// run runs a program, again if an election disturbed the ensemble.
func (s *side) run(p Program) (Transcript, error) {
	for try := 1; ; try++ {
		transcript, err := s.target.Run(s.t.Context(), p)
		if err == nil || try == 4 || s.t.Context().Err() != nil {
			return transcript, err
		}
		s.t.Logf("seed %d runs again: %v", p.Seed, err)
		s.target.Close()
		for open := 1; ; open++ {
			if err = s.open(); err == nil {
				break
			}
			if open == 20 {
				return transcript, err
			}
			time.Sleep(500 * time.Millisecond) // an election has no event to wait for
		}
	}
}

// runBoth runs a program on both at the same time.
func runBoth(a, b *side, p Program) (ta, tb Transcript, err error) {
	var g errgroup.Group
	g.Go(func() (err error) { ta, err = a.run(p); return err })
	g.Go(func() (err error) { tb, err = b.run(p); return err })
	return ta, tb, g.Wait()
}

// comes is the number of times in a row that a difference has to appear. The model always
// gives the same answers; real servers delete a node whose time to live is over at
// varying times.
const comes = 3

// TestTheModelAnswersAsZooKeeperDoes runs programs on servers and on the model of them.
func TestTheModelAnswersAsZooKeeperDoes(t *testing.T) {
	for _, version := range model.Versions() {
		t.Run(version, func(t *testing.T) {
			comparePrograms(t, startSide(t, version), startSide(t, simulated+version), nil)
		})
	}
}

// TestProgramsSayTheSameTwice finds parts of a transcript that a program does not decide.
func TestProgramsSayTheSameTwice(t *testing.T) {
	t.Run("the model", func(t *testing.T) {
		comparePrograms(t, startSide(t, simulated+"3.8.0"), startSide(t, simulated+"3.8.0"), nil)
	})
	t.Run("ZooKeeper", func(t *testing.T) {
		if !*alsoReal {
			t.Skip("compares real servers with each other: only with -real")
		}
		comparePrograms(t, startSide(t, "3.8.0"), startSide(t, "3.8.0"), nil)
	})
}

func TestVersionsDifferInWhatIsKnown(t *testing.T) {
	t.Run("the model", func(t *testing.T) {
		comparePrograms(t, startSide(t, simulated+"3.8.0"), startSide(t, simulated+"3.9.6"), Known)
	})
	t.Run("ZooKeeper", func(t *testing.T) {
		if !*alsoReal {
			t.Skip("compares real servers with each other: only with -real")
		}
		comparePrograms(t, startSide(t, "3.8.0"), startSide(t, "3.9.6"), Known)
	})
}

// TestTwoSides runs programs on the sides that -a and -b name.
func TestTwoSides(t *testing.T) {
	if *sideA == "" || *sideB == "" {
		t.Skip("-a and -b are not given")
	}
	var known []KnownDifference
	if *versions {
		known = Known
	}
	comparePrograms(t, startSide(t, *sideA), startSide(t, *sideB), known)
}

// TestADifferenceIsFound compares the versions of the model without the known
// differences.
func TestADifferenceIsFound(t *testing.T) {
	a, b := startSide(t, simulated+"3.8.0"), startSide(t, simulated+"3.9.6")
	p := Program{Steps: []Step{
		ask(1, Request{Op: wire.Exists, Body: &wire.PathWatch{Path: "~/a", Watch: true}}),
		ask(0, Request{Op: wire.Ping}),
		ask(0, Request{Op: wire.Create, Body: &wire.CreateRequest{Path: "~/a", ACL: []wire.ACL{{Perms: wire.PermAll, ID: wire.ID{Scheme: "world", ID: "anyone"}}}}}),
	}}
	ta, tb, err := runBoth(a, b, p)
	if err != nil {
		t.Fatal(err)
	}
	got := Compare(ta, tb)
	if len(got) != 1 || got[0].Step != 2 || len(got[0].A) != 1 ||
		got[0].A[0].String() != "s1 notification zxid -1 created ~/a state 3" || got[0].B[0].String() != "s1 notification zxid +1 created ~/a state 3" {
		t.Errorf("got %v", got)
	}
	if unknown := Unknown(p, ta, tb, Known); len(unknown) > 0 {
		t.Errorf("not known: %v", unknown)
	}
}

// comparePrograms runs programs on both sides. A difference is shrunk and reported.
func comparePrograms(t *testing.T, a, b *side, known []KnownDifference) {
	t.Helper()
	var spent time.Duration
	for n := range uint64(*programs) {
		p := Random(*seed+n, *steps)
		begin := time.Now()
		ta, tb, err := runBoth(a, b, p)
		if err != nil {
			t.Fatalf("seed %d: %v", p.Seed, err)
		}
		spent += time.Since(begin)
		first := Unknown(p, ta, tb, known)
		if len(first) == 0 {
			continue
		}
		short, err := Shrink(p, func(p Program) (bool, error) {
			ta, tb, err := runBoth(a, b, p)
			return len(Unknown(p, ta, tb, known)) > 0, err
		})
		if err != nil {
			t.Fatal(err)
		}
		last := first
		for again := 0; again < comes && len(last) > 0; again++ {
			if ta, tb, err = runBoth(a, b, short); err != nil {
				t.Fatal(err)
			}
			last = Unknown(short, ta, tb, known)
		}
		if len(last) > 0 {
			t.Errorf("seed %d\n%s%s", p.Seed, short, last)
		} else {
			t.Logf("seed %d: a difference that does not come again each time, as of a node whose time to live ends: %s", p.Seed, first)
		}
	}
	t.Logf("%d programs in %v", *programs, spent)
}

// TestWhatLiesInTheTreesRootIsNoDifference: a disturbed program leaves its nodes.
func TestWhatLiesInTheTreesRootIsNoDifference(t *testing.T) {
	a, b := startSide(t, simulated+"3.8.0"), startSide(t, simulated+"3.8.0")
	touch := Request{Op: wire.SetData, Body: &wire.SetDataRequest{Path: "/", Version: -1}}
	leaves := Request{Op: wire.Create, Body: &wire.CreateRequest{Path: "/left-behind", ACL: []wire.ACL{{Perms: wire.PermAll, ID: wire.ID{Scheme: "world", ID: "anyone"}}}}}
	if _, err := a.run(Program{Steps: []Step{ask(0, touch, leaves)}}); err != nil {
		t.Fatal(err)
	}
	asks := Program{Steps: []Step{ask(0, touch, Request{Op: wire.Exists, Body: &wire.PathWatch{Path: "/"}})}}
	ta, tb, err := runBoth(a, b, asks)
	if err != nil {
		t.Fatal(err)
	}
	if ta.String() != tb.String() || !strings.Contains(ta.String(), "version=1 ") {
		t.Errorf("one side says\n%s and the other\n%s", ta, tb)
	}
}
