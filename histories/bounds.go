package histories

import "time"

// The faults that excuse a process for believing that it holds a lock that it has lost. They
// excuse only the processes that they name.
const (
	// ForcedExpiry forces a session to expire, without warning. Under it the service view is
	// still promised; belief is not promised until Promises.LossBound has passed.
	ForcedExpiry = "expire-session"
	// WorkerPause stops the process in which clients live. A process that does not run
	// cannot be told of a loss; belief is not promised from the start of the fault until
	// WakeBound and Slack have passed since its end.
	WorkerPause = "pause-worker"
	// NodeDeletion deletes a lock node, of a holder or a waiter, as an administrator would,
	// without warning. Its parameters "lock" and "token" (the zxid alone) identify the node,
	// with "sub" for the rest of the token if that is not 0: a reader that was a writer has a
	// node of its own. If the lock has no tokens, "session" is the session that owned the
	// node, and the session had no other node of that lock. It excuses as ForcedExpiry does.
	NodeDeletion = "delete-node"
)

// ConnectWindow returns the length of the window in which a client makes at most
// [Promises].Connects attempts to connect: nine tenths of a fifth of the session timeout, or of
// 5 s if that is shorter. The missing tenth is for attempts that are seen late: a client that
// keeps to the full length stays within the limit.
func ConnectWindow(sessionTimeout time.Duration) time.Duration {
	return min(sessionTimeout/5, 5*time.Second) * 9 / 10
}

// WakeBound bounds the time for which a process that was paused may still believe in a
// lost lease after it runs again.
const WakeBound = 100 * time.Millisecond

// easyWrite is the longest time of a write on a machine for which the bounds of the recovery
// are made.
const easyWrite = 10 * time.Millisecond

// Slowed returns the bound of the recovery for a machine on which a write takes the given time.
// The bound grows by the factor by which a write takes longer than 10 ms. All clients and
// servers share a machine.
func Slowed(bound, write time.Duration) time.Duration {
	return time.Duration(float64(bound) * max(1, float64(write)/float64(easyWrite)))
}

// EndBound bounds the time from the report of a loss until the context of the lease ends, while
// the process runs.
const EndBound = 250 * time.Millisecond

// Slack returns the time that a notice of a loss may take from the notified process to the
// history: a twentieth of the session timeout. Holders are told of a loss that much before
// their session can end.
func Slack(sessionTimeout time.Duration) time.Duration { return sessionTimeout / 20 }
