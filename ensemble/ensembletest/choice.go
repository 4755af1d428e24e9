package ensembletest

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/simulated"
)

// Variable is the environment variable that overrides what tests choose. It is "real",
// "simulated" or empty.
const Variable = "ZKVERIFY_TEST_SERVERS"

// Servers are servers that tests may harm.
type Servers interface {
	ensemble.Ensemble
	ensemble.Processes
	ensemble.PeerLinks
}

// reasons has the tests that have called Real, and why.
var reasons sync.Map

// Real says that t and its subtests need real servers, and why. A top-level test calls it
// before it asks for servers. Without Java or ZooKeeper the test is skipped.
func Real(t testing.TB, why string) {
	t.Helper()
	t.Logf("on real servers: %s", why)
	reasons.Store(root(t), why)
	if Simulated(t) {
		return // Variable says so
	}
	if _, err := ensemble.FindJava(""); ensemble.NotInstalled(err) {
		t.Skip(err)
	}
	if _, err := ensemble.FindZooKeeper(""); ensemble.NotInstalled(err) {
		t.Skip(err)
	}
}

// EveryNight skips a test that takes too long for each change: make test-real has it.
func EveryNight(t testing.TB) {
	t.Helper()
	if os.Getenv(Variable) != "real" {
		t.Skip("it takes long: make test-real has it, every night")
	}
}

// Simulated reports whether t runs on simulated servers.
func Simulated(t testing.TB) bool {
	switch os.Getenv(Variable) {
	case "real":
		return false
	case "simulated":
		return true
	}
	_, real := reasons.Load(root(t))
	return !real
}

// Kind is the value of the option --ensemble of zkverify for the servers of t.
func Kind(t testing.TB) string {
	if Simulated(t) {
		return "simulated"
	}
	return "local"
}

// root is the name of the top-level test that t is a part of.
func root(t testing.TB) string {
	name, _, _ := strings.Cut(t.Name(), "/")
	return name
}

// Start starts servers of t's own, and closes them when t ends. Real ones need the turn.
func Start(t testing.TB, config ensemble.LocalConfig) Servers {
	t.Helper()
	if !Simulated(t) {
		Turn(t)
	}
	s, err := start(t.Context(), Simulated(t), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing the servers: %v", err)
		}
	})
	return s
}

func start(ctx context.Context, simulate bool, config ensemble.LocalConfig) (Servers, error) {
	if !simulate {
		s, err := ensemble.StartLocal(ctx, config)
		if err != nil {
			return nil, err // not a nil *Local in an interface
		}
		return s, nil
	}
	// The version that is tested, if it is one that can be simulated.
	if v := os.Getenv("ZKVERIFY_ZOOKEEPER"); config.ZooKeeper == "" && slices.Contains(simulated.Versions(), v) {
		config.ZooKeeper = v
	}
	s, err := simulated.Start(ctx, config)
	if err != nil {
		return nil, err
	}
	return s, nil
}
