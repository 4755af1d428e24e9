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

// Variable is the environment variable that overrides the tests' choice of servers. It is
// "real", "simulated" or empty.
const Variable = "ZKVERIFY_TEST_SERVERS"

// Servers are servers that tests may damage.
type Servers interface {
	ensemble.Ensemble
	ensemble.Processes
	ensemble.PeerLinks
}

// reasons maps the names of the tests that have called Real to their reasons.
var reasons sync.Map

// Real marks t and its subtests as tests that need real servers, and gives the reason. A
// top-level test calls it before it asks for servers. Without Java or ZooKeeper the test
// is skipped.
func Real(t testing.TB, why string) {
	t.Helper()
	t.Logf("on real servers: %s", why)
	reasons.Store(root(t), why)
	if Simulated(t) {
		return // Variable overrides it
	}
	if _, err := ensemble.FindJava(""); ensemble.NotInstalled(err) {
		t.Skip(err)
	}
	if _, err := ensemble.FindZooKeeper(""); ensemble.NotInstalled(err) {
		t.Skip(err)
	}
}

// EveryNight skips a test that takes too long to run at each change. make test-real runs
// it.
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

// Kind returns the value of zkverify's option --ensemble for the servers of t.
func Kind(t testing.TB) string {
	if Simulated(t) {
		return "simulated"
	}
	return "local"
}

// root returns the name of the top-level test that t is a part of.
func root(t testing.TB) string {
	name, _, _ := strings.Cut(t.Name(), "/")
	return name
}

// Start starts servers for t alone, and closes them when t ends. For real servers t must
// have the turn, see Turn.
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
	// The version under test, if it can be simulated.
	if v := os.Getenv("ZKVERIFY_ZOOKEEPER"); config.ZooKeeper == "" && slices.Contains(simulated.Versions(), v) {
		config.ZooKeeper = v
	}
	s, err := simulated.Start(ctx, config)
	if err != nil {
		return nil, err
	}
	return s, nil
}
