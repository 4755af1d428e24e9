package verify

import (
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/nemesis/faults"
	"github.com/zkverify/zkverify/workload"
)

// Option is an option of [Lock].
type Option func(*settings)

// settings is what the options say.
type settings struct {
	config  workload.Config // but for Ensemble, Network, Target and Recorder
	recipes []string
	own     []checker.Option // guarantees of the user's
	seeded  bool
	servers ensemble.Ensemble // nil: three servers are started
	version string            // of simulated servers; empty: real ones
	keep    string            // nothing: what passes is removed
}

// Duration is how long faults come and go, 30 s by default. Starting the servers,
// recovery after the faults and judging take some 10 s more. A run that is too
// short does not exercise everything that the lock promises, and fails the test.
func Duration(d time.Duration) Option { return func(s *settings) { s.config.Duration = d } }

// Faults are the names of the faults to draw from, as zkverify list faults has
// them; "all", the default, or "none".
func Faults(names ...string) Option { return func(s *settings) { s.config.Faults = names } }

// OwnFaults are kinds of faults of yours, beside those that zkverify has: "all" has
// them, and [Faults] and a schedule may name them. A fault of servers that only you
// can make, such as a disk that fills, says what it needs in its Needs.
func OwnFaults(kinds ...fault.Kind) Option {
	return func(s *settings) { s.config.Kinds = append(faults.List(), kinds...) }
}

// OwnGuarantees are guarantees of yours, which the lock is held to beside those that
// zkverify has.
func OwnGuarantees(all ...checker.OwnGuarantee) Option {
	return func(s *settings) {
		for _, g := range all {
			s.own = append(s.own, checker.WithGuarantee(g))
		}
	}
}

// Seed decides which faults come when and what clients do. By default it is drawn
// for each run, and logged.
func Seed(seed int64) Option {
	return func(s *settings) { s.config.Seed, s.seeded = seed, true }
}

// Clients is how many clients contend, each with a session of its own; 10 by
// default, or two for each recipe if that is more.
func Clients(n int) Option { return func(s *settings) { s.config.Clients = n } }

// Locks is how many locks of each recipe they contend for; 5 by default, or 1 if
// several recipes are driven.
func Locks(n int) Option { return func(s *settings) { s.config.Locks = n } }

// Recipes are the recipes of the target to drive, "all" for each that it offers;
// by default Target.Recipe alone.
func Recipes(names ...string) Option { return func(s *settings) { s.recipes = names } }

// SessionTimeout is that of the clients' sessions, 2 s by default.
func SessionTimeout(d time.Duration) Option {
	return func(s *settings) { s.config.SessionTimeout = d }
}

// On runs against an ensemble of yours, which stays open: one that several tests
// share, or one of [ensemble.External]. By default three servers are started for
// the test.
func On(e ensemble.Ensemble) Option { return func(s *settings) { s.servers = e } }

// Simulated runs on servers that are simulated in the test's own process, as ZooKeeper
// of that version (simulated.Versions lists them). It needs no Java. A violation on
// them is to be confirmed on real servers, and a lock that passes has not yet been
// tested on ZooKeeper.
func Simulated(version string) Option { return func(s *settings) { s.version = version } }

// Keep keeps the folder of every run below dir, as <time>-<test>. By default the
// folder of a run that passes is removed, and that of one that fails stays in the
// folder for temporary files; with go test -artifacts both are kept where that
// says.
func Keep(dir string) Option { return func(s *settings) { s.keep = dir } }

// With changes what there is no option for, the mix of what clients do or the
// schedule of the faults for instance. Ensemble, Network, Target and Recorder are
// not to be set.
func With(change func(*workload.Config)) Option {
	return func(s *settings) { change(&s.config) }
}
