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

// settings holds the values of the options.
type settings struct {
	config  workload.Config // without Ensemble, Network, Target and Recorder
	recipes []string
	own     []checker.Option // the user's own guarantees
	seeded  bool
	servers ensemble.Ensemble // nil: three servers are started
	version string            // of simulated servers; empty: real ones
	keep    string            // folder to keep runs in; empty: runs that pass are removed
}

// Duration is the time for which faults come and go, 30 s by default. Starting the servers,
// recovery after the faults and judging take some 10 s more. A run that is too short does not
// exercise every promise of the lock, and fails the test.
func Duration(d time.Duration) Option { return func(s *settings) { s.config.Duration = d } }

// Faults are the names of the faults to draw from, as zkverify list faults prints them; "all",
// the default, or "none".
func Faults(names ...string) Option { return func(s *settings) { s.config.Faults = names } }

// OwnFaults adds your own kinds of faults to those of zkverify: "all" includes them, and
// [Faults] and a schedule may name them. A fault of servers that only you can cause, such as a
// full disk, must state its requirement in its Needs.
func OwnFaults(kinds ...fault.Kind) Option {
	return func(s *settings) { s.config.Kinds = append(faults.List(), kinds...) }
}

// OwnGuarantees adds your own guarantees to those of zkverify: the lock is judged by them too.
func OwnGuarantees(all ...checker.OwnGuarantee) Option {
	return func(s *settings) {
		for _, g := range all {
			s.own = append(s.own, checker.WithGuarantee(g))
		}
	}
}

// Seed decides the faults, their times and the actions of clients. By default it is drawn for
// each run, and logged.
func Seed(seed int64) Option {
	return func(s *settings) { s.config.Seed, s.seeded = seed, true }
}

// Clients is the number of clients that contend, each with a session of its own; 10 by default,
// or two for each recipe if that is more.
func Clients(n int) Option { return func(s *settings) { s.config.Clients = n } }

// Locks is the number of locks of each recipe that they contend for; 5 by default, or 1 if
// several recipes are driven.
func Locks(n int) Option { return func(s *settings) { s.config.Locks = n } }

// Recipes are the recipes of the target to drive, "all" for each that it offers;
// by default Target.Recipe alone.
func Recipes(names ...string) Option { return func(s *settings) { s.recipes = names } }

// SessionTimeout is the timeout of the clients' sessions, 2 s by default.
func SessionTimeout(d time.Duration) Option {
	return func(s *settings) { s.config.SessionTimeout = d }
}

// On runs against your own ensemble, which stays open: one that several tests share, or one of
// [ensemble.External]. By default three servers are started for the test.
func On(e ensemble.Ensemble) Option { return func(s *settings) { s.servers = e } }

// Simulated runs on servers that are simulated in the test's own process, as ZooKeeper
// of that version (simulated.Versions lists them). It needs no Java. A violation on
// them is to be confirmed on real servers, and a lock that passes has not yet been
// tested on ZooKeeper.
func Simulated(version string) Option { return func(s *settings) { s.version = version } }

// Keep keeps the folder of every run below dir, as <time>-<test>. By default the folder of a
// run that passes is removed, and that of one that fails stays in the folder for temporary
// files; go test -artifacts keeps both in its output folder.
func Keep(dir string) Option { return func(s *settings) { s.keep = dir } }

// With changes settings that have no option, for example the mix of client actions or the
// schedule of the faults. It must not set Ensemble, Network, Target or Recorder.
func With(change func(*workload.Config)) Option {
	return func(s *settings) { change(&s.config) }
}
