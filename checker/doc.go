// Package checker judges recorded histories: one [Verdict] per guarantee.
//
// A guarantee holds, is violated (with witnesses that say who, when, and under
// which fault), is unknown (and why), or was not exercised: a run in which
// nothing put it to the test has shown nothing about it.
//
// # Two views
//
// Belief is what clients were entitled to think. A hold starts when the
// outermost acquire returns and ends at the first of: its release is invoked,
// the holder is told that the lease is lost, the holder crashes. An acquire
// that failed, or was never answered, is no hold: nobody acted on it. A release
// that was never answered ended the belief when it was invoked.
//
// Service is what the ensemble granted, by the order of fencing tokens.
//
// A target answers for belief under every fault but the one that gives no
// warning, [histories.ForcedExpiry]: from the moment a session is ended from
// the side, its holder is excused for the loss bound that the target promises.
// A target that promises no word of loss has no such bound and no excuse.
//
// # Two engines
//
// For a mutex the definite parts of holds decide everything: a history is
// linearizable exactly when they are pairwise disjoint. So a sort and a sweep
// judge histories of any length and find the witness. Porcupine judges the same
// history by search, cut into segments, under caps of time and memory. The two
// must agree; if they do not, that is a bug of this package, reported as
// [ErrDisagreement], and no verdict on the target.
package checker
