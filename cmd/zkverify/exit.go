package main

import (
	"errors"
	"fmt"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/cmd/zkverify/internal/field"
	"github.com/zkverify/zkverify/cmd/zkverify/internal/locks"
	"github.com/zkverify/zkverify/cmd/zkverify/internal/trackrecord"
	"github.com/zkverify/zkverify/cmd/zkverify/internal/transactions"
	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/campaign"
)

// The exit statuses.
const (
	exitHolds       = 0
	exitViolated    = 1
	exitUnknown     = 2  // also: not exercised, not judged, or the run did not end in good order
	exitUsage       = 64 // EX_USAGE: also input that cannot be read
	exitUnavailable = 69 // EX_UNAVAILABLE: no ensemble
)

var (
	errNoToxiproxy = errors.New("toxiproxy cannot be used")
	errNoEnsemble  = errors.New("no such ensemble is running")
)

// outcome is the "error" of a command that has judged histories and printed the verdicts.
type outcome verdict.Outcome

func (o outcome) Error() string { return string(o) }

func (o outcome) status() int {
	switch verdict.Outcome(o) {
	case verdict.Holds:
		return exitHolds
	case verdict.Violated:
		return exitViolated
	}
	return exitUnknown
}

// usageError is an error in the command line or its input.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// unavailable is the error of a command that has no ensemble to run on.
type unavailable struct{ error }

func (e unavailable) Unwrap() error { return e.error }

// statusOf returns the exit status of a command that ends with err.
func statusOf(err error) int {
	if err == nil {
		return exitHolds
	}
	var said outcome
	if errors.As(err, &said) {
		return said.status()
	}
	var exit *locks.Exit
	if errors.As(err, &exit) {
		return exit.Status
	}
	if errors.Is(err, transactions.ErrDiffer) || errors.Is(err, field.ErrUnexplained) || errors.Is(err, trackrecord.ErrEscaped) {
		return exitViolated
	}
	var u usageError
	var refused transactions.Refused
	var refusedRuns campaign.Refused
	var none unavailable
	var f *histories.FormatError
	if errors.As(err, &u) || errors.As(err, &f) || errors.As(err, &refused) || errors.As(err, &refusedRuns) {
		return exitUsage
	}
	if errors.As(err, &none) {
		return exitUnavailable
	}
	for _, e := range []error{
		ensemble.ErrNoJava, ensemble.ErrNoZooKeeper, ensemble.ErrNoVersion, ensemble.ErrNoByteman, ensemble.ErrServerDied, ensemble.ErrNotServing, errNoEnsemble, workload.ErrNoEnsemble, trackrecord.ErrMissing,
	} {
		if errors.Is(err, e) {
			return exitUnavailable
		}
	}
	return exitUnknown
}

// upgradeRefused turns the error of an upgrade to the running version into a usage error.
func upgradeRefused(err error) error {
	if errors.Is(err, ensemble.ErrSameVersion) {
		return usage("--upgrade-to: %w", ensemble.ErrSameVersion)
	}
	return err
}

// withHint adds to the error of a missing Java or ZooKeeper that simulated servers need neither.
func withHint(err error) error {
	if errors.Is(err, ensemble.ErrNoJava) || errors.Is(err, ensemble.ErrNoZooKeeper) {
		return fmt.Errorf("%w; without either, --ensemble simulated runs servers written in Go", err)
	}
	return err
}
