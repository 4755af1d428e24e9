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
// warning, [histories.ForcedExpiry]: from the moment a session is forced to
// expire, its holder is excused for the loss bound that the target promises. A
// target that promises no loss notification has no such bound and no excuse.
//
// # Two engines
//
// The definite parts of holds, from the return of the acquire to the call of the
// release, decide everything: a mutex is linearizable exactly when they are
// pairwise disjoint, a read/write lock when none overlaps a writer of another
// owner, a semaphore when their permits never add up to more than its size. So
// a sort and a sweep judge histories of any length and find the witness.
// Porcupine judges the same history by search, cut into segments, under caps of
// time and memory. The two must agree; if they do not, that is a bug of this
// package, reported as [ErrDisagreement], and no verdict on the target.
//
// Only where changes of a semaphore's size overlap the sweep is not exact: what
// it lets pass is decided by Porcupine alone.
//
// The queue of [Fairness], and a barrier that is set and removed, have two
// engines too. What needs no second engine says why where it is judged: several
// locks at once come down to each of them, a request to release to its own
// lease, and the rounds of a double barrier to their earliest instants.
package checker
