// Package checker judges recorded histories: one [Verdict] per guarantee.
//
// A guarantee holds, is violated (with witnesses that name the parties, the time and the
// fault), is unknown (with a reason), or was not exercised: a run in which nothing put the
// guarantee to the test has shown nothing about it.
//
// # Two views
//
// Belief is the time in which a client was entitled to think that it holds a lock. A hold
// starts when the outermost acquire returns and ends at the first of: its release is invoked,
// the holder is told that the lease is lost, the holder crashes. An acquire that failed, or was
// never answered, is no hold: no client acted on it. A release that was never answered ended
// the belief when it was invoked.
//
// Service is the order in which the ensemble granted the lock, by its fencing tokens.
//
// A target answers for belief under every fault but the one that gives no warning,
// [histories.ForcedExpiry]: from the moment a session is forced to expire, its holder is
// excused for the loss bound that the target promises. A target that promises no loss
// notification has no such bound and no excuse.
//
// # Two engines
//
// The definite parts of holds, from the return of the acquire to the call of the release,
// decide everything: a mutex is linearizable exactly when they are pairwise disjoint, a
// read/write lock when none overlaps a writer of another owner, a semaphore when their permits
// never add up to more than its size. So a sort and a sweep judge histories of any length and
// find the witness. Porcupine judges the same history by search, cut into segments, under caps
// of time and memory. The two engines must agree. A disagreement is a bug of this package: it
// is reported as [ErrDisagreement], and not as a verdict on the target.
//
// The sweep is not exact where changes of a semaphore's size overlap: Porcupine alone decides
// about the histories that the sweep lets pass there.
//
// The queue of [Fairness], and a barrier that is set and removed, have two engines too. Every
// other guarantee is judged by one engine, and its code states the reason: several locks at
// once are judged lock by lock, a request to release is held against its own lease, and the
// rounds of a double barrier are placed at their earliest instants.
package checker
