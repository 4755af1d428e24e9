package histories

import "time"

// The faults that excuse beliefs, see their comments: of the processes that they
// name, and of nobody else.
const (
	// ForcedExpiry gives no warning: a session is forced to expire. The
	// service view is promised under it, belief is not, until
	// Promises.LossBound has passed.
	ForcedExpiry = "expire-session"
	// WorkerPause stops the process in which clients live. Nobody can tell a
	// process that does not run of anything; belief is not promised from the
	// start of the fault until WakeBound and Slack have passed since its end.
	WorkerPause = "pause-worker"
	// NodeDeletion gives no warning either: the node by which a lock is held, or waited
	// for, is deleted by an administrator. Its parameters "lock" and "token" (the zxid alone)
	// say which, and "sub" the rest of the token if that is not 0: a reader that was a writer
	// has a node of its own. If the lock has no tokens, "session" says whose node it was, of
	// which the session had no other for that lock. It excuses as ForcedExpiry does.
	NodeDeletion = "delete-node"
)

// ConnectWindow is the time in which a client tries to connect at most as often as
// [Promises] says: nine tenths of a fifth of a session timeout, at most of 5 s. A client
// that keeps to a fifth of a session timeout is in time however late some of its
// attempts are seen.
func ConnectWindow(sessionTimeout time.Duration) time.Duration {
	return min(sessionTimeout/5, 5*time.Second) * 9 / 10
}

// WakeBound is how long a process that was paused may go on believing once it
// runs again.
const WakeBound = 100 * time.Millisecond

// easyWrite is what a write may take at most on a machine that the bounds of the recovery
// are made for.
const easyWrite = 10 * time.Millisecond

// Slowed returns a bound of the recovery for a machine on which a write takes so long: longer
// by the factor by which that is more than 10 ms. All clients and servers share a machine.
func Slowed(bound, write time.Duration) time.Duration {
	return time.Duration(float64(bound) * max(1, float64(write)/float64(easyWrite)))
}

// EndBound is how long the context of a lease may go on after its loss was told, while its
// process runs.
const EndBound = 250 * time.Millisecond

// Slack is what notification of a loss may take from the process that it is told to
// until it is on record: a twentieth of the session timeout, by which holders
// are told before their session can end.
func Slack(sessionTimeout time.Duration) time.Duration { return sessionTimeout / 20 }
