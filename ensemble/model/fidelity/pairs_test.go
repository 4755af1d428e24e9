package fidelity_test

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/model/fidelity"
)

var (
	sideA    = flag.String("a", "3.8.0", "one side: a version of ZooKeeper, or the addresses of its servers with commas")
	sideB    = flag.String("b", "3.9.6", "the other side")
	programs = flag.Int("programs", 20, "how many programs to run")
	seed     = flag.Uint64("seed", 1, "the seed of the first program; the others follow")
	steps    = flag.Int("steps", 40, "steps of a program")
	strict   = flag.Bool("strict", false, "take the known differences between versions for differences")
	show     = flag.Bool("show", false, "print each program and transcript")
)

// side is one of the two ensembles.
type side struct {
	t       *testing.T
	servers []ensemble.Server
	target  *fidelity.Target
}

// startSide starts servers of a version, or uses those of the addresses.
func startSide(t *testing.T, what string) *side {
	t.Helper()
	if testing.Short() {
		t.Skip("needs real servers")
	}
	s := &side{t: t}
	if strings.Contains(what, ":") {
		for i, a := range strings.Split(what, ",") {
			s.servers = append(s.servers, ensemble.Server{ID: i + 1, Addr: a})
		}
	} else {
		// With this tick, a busy machine does not cost the leader its followers.
		e, err := ensemble.StartLocal(t.Context(), ensemble.LocalConfig{ZooKeeper: what, TickTime: 2 * time.Second, StartLimit: 2 * time.Minute})
		if errors.Is(err, ensemble.ErrNoVersion) || ensemble.NotInstalled(err) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
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
	target, err := fidelity.Open(s.t.Context(), addresses)
	if err == nil {
		s.target = target
	}
	return err
}

// run runs a program, again if the ensemble was disturbed.
func (s *side) run(p fidelity.Program) (fidelity.Transcript, error) {
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
func runBoth(a, b *side, p fidelity.Program) (ta, tb fidelity.Transcript, err error) {
	var g errgroup.Group
	g.Go(func() (err error) { ta, err = a.run(p); return err })
	g.Go(func() (err error) { tb, err = b.run(p); return err })
	return ta, tb, g.Wait()
}

func TestProgramsRunAlikeOnBoth(t *testing.T) {
	a, b := startSide(t, *sideA), startSide(t, *sideB)
	var known []fidelity.KnownDifference
	if *sideA != *sideB && !*strict {
		known = fidelity.Known
	}
	var spent time.Duration
	differ := 0
	for n := range uint64(*programs) {
		p := fidelity.Random(*seed+n, *steps)
		begin := time.Now()
		ta, tb, err := runBoth(a, b, p)
		if err != nil {
			t.Fatalf("seed %d: %v", p.Seed, err)
		}
		spent += time.Since(begin)
		if *show {
			fmt.Printf("%s%s", p, ta)
		}
		first := fidelity.Unknown(p, ta, tb, known)
		if len(first) == 0 {
			continue
		}
		differ++
		short, err := fidelity.Shrink(p, func(p fidelity.Program) (bool, error) {
			ta, tb, err := runBoth(a, b, p)
			return len(fidelity.Unknown(p, ta, tb, known)) > 0, err
		})
		if err != nil {
			t.Fatal(err)
		}
		if ta, tb, err = runBoth(a, b, short); err != nil {
			t.Fatal(err)
		}
		if last := fidelity.Unknown(short, ta, tb, known); len(last) > 0 {
			t.Errorf("seed %d\n%s%s", p.Seed, short, last)
		} else {
			t.Errorf("seed %d: a difference that does not come again: %s", p.Seed, first)
		}
	}
	t.Logf("%d programs in %v, %d differ", *programs, spent, differ)
}
