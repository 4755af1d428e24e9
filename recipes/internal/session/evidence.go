package session

import "time"

// evidence holds what a client knows of its session's expiry at the leader.
//
// # The rule
//
// Let T be the session timeout. The session cannot expire before c + T, where c
// is the send time of a request that the *leader* is known to have counted as
// activity. What makes the leader count, in ZooKeeper 3.8.0, 3.9.3 and 3.9.6 alike:
//
//   - A server notes activity when it takes a request from the client's
//     connection (ZooKeeperServer.submitRequestNow calls touch). On the leader
//     that is SessionTrackerImpl.touchSession: the session expires T later,
//     rounded up to the next tick (ExpiryQueue.roundToNextInterval).
//   - On a follower it is only an entry in LearnerSessionTracker.touchTable.
//     The leader hears of it in the follower's reply to the leader's ping
//     (LearnerHandler, case PING), and Leader.lead pings every half tick.
//   - A write that is forwarded to the leader (LearnerHandler, case REQUEST)
//     does not touch the session there. But a follower's packets to the leader
//     are one ordered stream: a write that the leader took proves that it has
//     taken every ping reply that was sent before.
//
// So neither pings, nor reads, nor a follower's word prove anything: a follower
// cut off from its leader goes on answering them while the leader counts the
// session down. And one confirmed write proves nothing about itself: the cut
// may fall between its answer and the next ping reply. What counts is
//
//	a request answered at a, when a write sent at w ≥ a + tick on the same
//	connection has been confirmed by a quorum
//
// for the server had the request by a and sent the write on after w, so that at
// least one ping reply, with the activity in it, went ahead of the write. Its
// send time is the new c. Note a + tick, not its send time + tick: a request
// delayed on its way may reach the server together with the write.
//
// Two cases need no tick in between. Creating a session is itself a write on
// which the leader starts the countdown (LeaderSessionTracker.trackSession).
// Reconnecting makes the server ask the leader (LearnerHandler, case
// REVALIDATE), which touches the session at once; but a deposed leader answers
// too, so it counts only when a write on that connection has been confirmed: a
// server that changes its leader drops its clients, hence the leader that
// confirmed the write is the one that was asked.
//
// A new leader gives every session its full timeout again, later than any
// request that the old one confirmed.
//
// # Versions
//
// From 3.8.0 to 3.9.6 no instruction of SessionTrackerImpl, ExpiryQueue,
// LearnerSessionTracker, LeaderSessionTracker and LearnerSender has changed, nor of
// Learner.ping and validateSession, Leader.touch, revalidateSession and
// startZkServer, ZooKeeperServer.touch and submitRequestNow. LearnerHandler,
// PrepRequestProcessor and Learner.request keep a request's bytes in another class
// (RequestRecord), in the same order. docs/contract.md says what else is new in 3.9,
// and why it does not touch the rule.
//
// evidence is a pure value over given times; the session locks it.
type evidence struct {
	tick time.Duration

	counted   time.Time // c of the rule; zero before the first
	reconnect time.Time // send time of a reconnect that no write has confirmed yet
	touches   []touch   // answered requests of this connection that may come to count, oldest first
}

// touch is one request that the server answered.
type touch struct{ sent, answered time.Time }

// established notes that a new session was created by a request sent then.
func (e *evidence) established(sent time.Time) {
	e.counted, e.reconnect, e.touches = sent, time.Time{}, nil
}

// reconnected notes that the session goes on over a new connection.
func (e *evidence) reconnected(sent time.Time) {
	e.reconnect, e.touches = sent, nil
}

// answered notes that a request of any kind was answered.
func (e *evidence) answered(sent, at time.Time) {
	// A handful of touches a tick is as good as thousands.
	if n := len(e.touches); n > 0 && at.Sub(e.touches[n-1].answered) < e.tick/8 {
		return
	}
	e.touches = append(e.touches, touch{sent, at})
	// A write sent from now on counts nothing older than the newest touch that
	// is a tick old.
	for len(e.touches) > 1 && !at.Before(e.touches[1].answered.Add(e.tick)) {
		e.touches = e.touches[1:]
	}
}

// confirmed notes that a write sent then was carried out by a leader with a
// quorum.
func (e *evidence) confirmed(sent time.Time) {
	if !e.reconnect.IsZero() {
		e.count(e.reconnect)
		e.reconnect = time.Time{}
	}
	n := 0
	for n < len(e.touches) && !sent.Before(e.touches[n].answered.Add(e.tick)) {
		n++
	}
	if n > 0 {
		e.count(e.touches[n-1].sent)
		e.touches = append(e.touches[:0], e.touches[n:]...)
	}
}

func (e *evidence) count(sent time.Time) {
	if sent.After(e.counted) {
		e.counted = sent
	}
}

// deadline is the instant from which the servers may expire a session with this
// timeout, less the margin; the zero time when nothing is known.
func (e *evidence) deadline(timeout time.Duration) time.Time {
	if e.counted.IsZero() {
		return time.Time{}
	}
	return e.counted.Add(timeout - margin(timeout))
}

// margin covers what the rule leaves out: clocks whose rates differ (5 % is far
// above any working clock) and the delay between the deadline and the moment at
// which the holder's goroutine hears of it.
func margin(timeout time.Duration) time.Duration { return timeout / 20 }
