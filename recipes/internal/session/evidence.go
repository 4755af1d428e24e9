package session

import "time"

// evidence holds a client's knowledge of its session's expiry at the leader.
//
// # The rule
//
// Let T be the session timeout. The session cannot expire before c + T, where c is the send
// time of a request that the *leader* is known to have counted as activity. The leader
// counts activity as follows, in ZooKeeper 3.8.0, 3.9.3 and 3.9.6 alike:
//
//   - A server notes activity when it takes a request from the client's connection,
//     before it passes the request on (ZooKeeperServer.submitRequestNow calls touch). On
//     the leader that is SessionTrackerImpl.touchSession: the session expires T later,
//     rounded up to the next tick (ExpiryQueue.roundToNextInterval).
//   - On a follower it is only an entry in LearnerSessionTracker.touchTable. The leader
//     hears of it in the follower's reply to the leader's ping (Learner.ping,
//     LearnerHandler, case PING).
//   - A follower does not reply by its own clock. It replies to pings, and Leader.lead
//     pings every half tick, in a loop of its own. A leader that stands still sends no
//     pings, and a ping may be delayed on its way without bound.
//
// So neither pings of the client, nor reads, nor the time that has passed prove that the
// leader has counted. The order of messages does: a follower and its leader have one stream
// each way. Call an answer *relayed* when its request went to the leader and back in these
// streams. The answer to a write is relayed, and so is the answer to a sync
// (FollowerRequestProcessor, LearnerHandler, case REQUEST, Leader.processSync,
// Follower.processPacket, case SYNC), which costs neither a proposal nor a disk. A relayed
// answer proves that the follower has processed all messages that the leader had sent it
// before the answer, and that the leader has taken all messages that the follower had sent
// it before the request. The first request of a *chain* counts. A chain is five relayed
// answers of one connection, each request sent after the answer before it:
//
//	A1
//	A2, sent more than half a tick after the answer A1: a ping is due in between
//	A3, sent a little later: a leader that went on with A2 has pinged by now
//	A4, sent a little later: and so has one that stood still again
//	A5, a write
//
// The proof: the follower had the touch of A1 before the answer A1, hence before the ping
// that followed that answer. The ping came to the follower before the answer A4. So the
// reply, with the touch in it unless an earlier reply had it, left before the request A5,
// and the leader took it before A5. The send time of A1 is the new c.
//
// A leader that stands still and goes on may answer first and ping then, since two threads
// do that: each such stop may use up one of A2, A3 and A4, so two of them do no harm. Any
// number does no harm if the leader pings first.
//
// A5 is a write, since a deposed leader answers a sync too. A quorum has confirmed the
// write, so no other leader had begun before it; and a new leader gives every session its
// full timeout, from when it begins (Leader.startZkServer). The connection of a client has
// one leader: a server that changes its leader drops its clients.
//
// Two cases need no chain. Creating a session is itself a write on which the leader starts
// the countdown (LeaderSessionTracker.trackSession). Reconnecting makes the server ask the
// leader (LearnerHandler, case REVALIDATE), which touches the session before it answers;
// but a deposed leader answers too, so a reconnect counts only when a write on that
// connection has been confirmed.
//
// spec/lease.pml models this rule and the servers, for a checker that tries every order.
// docs/assumptions.md lists the assumptions that the rule still makes.
//
// # Versions
//
// From 3.8.0 to 3.9.6 no instruction of SessionTrackerImpl, ExpiryQueue,
// LearnerSessionTracker, LeaderSessionTracker and LearnerSender has changed, nor of
// Learner.ping and validateSession, Leader.touch, revalidateSession, processSync, sendSync
// and startZkServer, ZooKeeperServer.touch and submitRequestNow,
// FollowerZooKeeperServer.sync. LearnerHandler, PrepRequestProcessor and Learner.request
// keep a request's bytes in another class (RequestRecord), in the same order.
// docs/contract.md lists what else is new in 3.9, and why it does not affect the rule.
//
// evidence is a pure value over given times; the session locks it.
type evidence struct {
	tick time.Duration // at least the servers'

	counted   time.Time          // c of the rule; zero before the first
	reconnect time.Time          // send time of a reconnect that no write has confirmed yet
	chains    [links - 1][]chain // of this connection; chains[i] have i+1 answers; oldest first
}

// links is the number of relayed answers that make a chain.
const links = 5

// chain is a chain that still lacks answers.
type chain struct {
	first time.Time // when the first request was sent
	last  time.Time // when the latest answer came
}

// spacing returns the least time between an answer of a chain and the sending of the next
// request, by the number of answers so far. The first is half a tick, plus a margin for
// clocks that differ and for a leader that counts in milliseconds. The next two are the
// time in which a leader that answers pings too, if a ping is due.
func (e *evidence) spacing(answers int) time.Duration {
	switch answers {
	case 1:
		return e.tick/2 + e.tick/32 + 2*time.Millisecond
	case 2, 3:
		return max(10*time.Millisecond, e.tick/32)
	}
	return 0
}

// established notes that a request sent at this time created the session.
func (e *evidence) established(sent time.Time) {
	e.counted, e.reconnect = sent, time.Time{}
	clear(e.chains[:])
}

// reconnected notes that the session goes on over a new connection.
func (e *evidence) reconnected(sent time.Time) {
	e.reconnect = sent
	clear(e.chains[:])
}

// relayed notes a relayed answer, which came at the time at to a request sent at the time
// sent. confirmed means that a quorum has carried the request out: it was a write.
func (e *evidence) relayed(sent, at time.Time, confirmed bool) {
	if confirmed {
		if !e.reconnect.IsZero() {
			e.count(e.reconnect)
			e.reconnect = time.Time{}
		}
		if whole := e.extend(links-1, sent); !whole.IsZero() {
			e.count(whole)
		}
	}
	for answers := links - 2; answers > 0; answers-- {
		if first := e.extend(answers, sent); !first.IsZero() {
			e.chains[answers] = append(e.chains[answers], chain{first, at})
		}
	}
	// A handful of chains that wait for half a tick is as good as thousands.
	if n := len(e.chains[0]); n == 0 || at.Sub(e.chains[0][n-1].last) >= e.tick/16 {
		e.chains[0] = append(e.chains[0], chain{sent, at})
	}
	e.forget(sent)
}

// forget drops a chain when a later one proves more with the answer to any request that is
// sent at this time or later. Requests are answered in their order: no answer is to come to
// an earlier one.
func (e *evidence) forget(sent time.Time) {
	for i, have := range e.chains {
		n := 0
		for n+1 < len(have) && !sent.Before(have[n+1].last.Add(e.spacing(i+1))) {
			n++
		}
		e.chains[i] = append(have[:0], have[n:]...)
	}
}

// extend removes the chains with this many answers for which a request sent at this time
// comes late enough, and returns when the youngest of them began: with the same next
// answer, the others prove less. It returns the zero time when there is none.
func (e *evidence) extend(answers int, sent time.Time) (first time.Time) {
	have := e.chains[answers-1]
	n := 0
	for n < len(have) && !sent.Before(have[n].last.Add(e.spacing(answers))) {
		first = have[n].first
		n++
	}
	e.chains[answers-1] = append(have[:0], have[n:]...)
	return first
}

func (e *evidence) count(sent time.Time) {
	if sent.After(e.counted) {
		e.counted = sent
	}
}

// deadline returns the instant from which the servers may expire a session with this
// timeout, less the margin, or the zero time when nothing is known.
func (e *evidence) deadline(timeout time.Duration) time.Time {
	if e.counted.IsZero() {
		return time.Time{}
	}
	return e.counted.Add(timeout - margin(timeout))
}

// margin returns the margin for effects outside the rule: clocks whose rates differ (5 % is
// far above any working clock) and the delay between the deadline and the moment at which
// the holder's goroutine hears of it.
func margin(d time.Duration) time.Duration { return d / 20 }
