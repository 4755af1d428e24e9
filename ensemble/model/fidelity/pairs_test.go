package fidelity_test

import (
	"context"
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
	pairA    = flag.String("a", "3.8.0", "one side: a version of ZooKeeper, or its servers' addresses with commas, the leader's first")
	pairB    = flag.String("b", "3.9.6", "the other side")
	programs = flag.Int("programs", 20, "how many programs to run")
	seed     = flag.Uint64("seed", 1, "the seed of the first program; the others follow")
	steps    = flag.Int("steps", 40, "steps of a program")
	show     = flag.Bool("show", false, "print each program and transcript")
)

// start starts servers of a version, and returns their addresses, the leader's first.
func start(t *testing.T, version string) []string {
	t.Helper()
	if strings.Contains(version, ":") {
		return strings.Split(version, ",")
	}
	if testing.Short() {
		t.Skip("needs real servers")
	}
	e, err := ensemble.StartLocal(t.Context(), ensemble.LocalConfig{ZooKeeper: version, StartLimit: time.Minute})
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
	leader, err := e.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var addresses []string
	for _, s := range e.Servers() {
		if s.ID == leader {
			addresses = append([]string{s.Addr}, addresses...)
		} else {
			addresses = append(addresses, s.Addr)
		}
	}
	return addresses
}

func openTarget(t *testing.T, version string) *fidelity.Target {
	t.Helper()
	target, err := fidelity.Open(t.Context(), start(t, version))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(target.Close)
	return target
}

// runBoth runs a program on both at the same time.
func runBoth(ctx context.Context, a, b *fidelity.Target, p fidelity.Program) (ta, tb fidelity.Transcript, err error) {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { ta, err = a.Run(ctx, p); return err })
	g.Go(func() (err error) { tb, err = b.Run(ctx, p); return err })
	return ta, tb, g.Wait()
}

func TestProgramsRunAlikeOnBoth(t *testing.T) {
	a, b := openTarget(t, *pairA), openTarget(t, *pairB)
	begin := time.Now()
	differ := 0
	for n := range uint64(*programs) {
		p := fidelity.Random(*seed+n, *steps)
		ta, tb, err := runBoth(t.Context(), a, b, p)
		if err != nil {
			t.Fatalf("seed %d: %v", p.Seed, err)
		}
		if *show {
			fmt.Printf("%s%s", p, ta)
		}
		differences := fidelity.Compare(ta, tb)
		if len(differences) == 0 {
			continue
		}
		differ++
		short, err := fidelity.Shrink(p, func(p fidelity.Program) (bool, error) {
			ta, tb, err := runBoth(t.Context(), a, b, p)
			return len(fidelity.Compare(ta, tb)) > 0, err
		})
		if err != nil {
			t.Fatal(err)
		}
		if ta, tb, err = runBoth(t.Context(), a, b, short); err != nil {
			t.Fatal(err)
		}
		t.Errorf("seed %d\n%s%s", p.Seed, short, fidelity.Compare(ta, tb))
	}
	t.Logf("%d programs in %v, %d differ", *programs, time.Since(begin), differ)
}
