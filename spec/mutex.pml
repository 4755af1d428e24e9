/* At most one client believes that it holds the mutex; clients hold it in the order of their places,
 * each with a higher token; each waiter has its turn; when all have left no node remains.
 *
 * A contender creates a node, lists the queue, waits until the nodes ahead are gone, is granted the mutex
 * while its session has evidence, and deletes its node. servers.inc has the servers. All faults can come together, since
 * a watch, a list and a node that is found after a lost answer depend on each other; create.pml shows which mistakes a
 * create, a release and a lease must not make.
 *
 * The model leaves open which node ahead a contender watches, whether it watches others in the same
 * request, whether it lists before its node exists, and whether it lists after a node is gone. The choices of
 * the recipes are among these (leanest.pml has the leanest), so no promise depends on them. A real waiter looks
 * again after 3/4 of the timeout; a waiter of the model does not, so a missed wake-up leaves it waiting. All
 * faults have a limit, and so has every run. With TRACE the model does what a run on record has done: record.inc.
 *
 * switch: N=n contenders, each with a session
 * switch: SHARED the first two contenders have one session
 * switch: ROUNDS=n how often each takes the mutex
 * switch: BREAKS=n how often a connection breaks, with requests that are carried out at once, later or never
 * switch: SILENCES=n how often a session is without evidence; its leases end, and it may be expired
 * switch: CANCELS=n how often a contender gives up
 * switch: CRASHES=n how many clients crash
 * switch: DEPOSED=n how often a client is told too early that its session has ended
 * switch: ADMINS=n how many nodes are deleted by others
 * switch: WRITES a holder writes, guarded by its node
 * switch: BUG_NO_OWN_NODE first in a list that lacks the own node
 * switch: BUG_EVENT_IS_TURN the node before has gone, so it must be one's turn
 * switch: BUG_NO_SECOND_LOOK a watch is set, and not whether its node is there
 * switch: BUG_WATCH_LOST_ON_RECONNECT a waiter does not look again after a reconnect
 * switch: BUG_WATCH_KEPT_ON_RECONNECT a waiter looks again, and takes its watches for set
 * switch: BUG_WAITS_ON a waiter does not hear that its session has ended
 * switch: BUG_HANDOVER_EARLY the next contender of the session has its turn before the last write has ended
 * switch: BUG_WRITE_UNSETTLED a write has ended when its connection has broken
 *
 * search: "two sessions, two rounds, a broken connection" quick -DROUNDS=2 -DBREAKS=1 => holds
 * search: "two sessions, two rounds, two broken connections" -DROUNDS=2 -DBREAKS=2 => holds
 * search: "two sessions, two rounds, an expiry" -DROUNDS=2 -DSILENCES=1 => holds
 * search: "a broken connection, an expiry, a cancel" -DBREAKS=1 -DSILENCES=1 -DCANCELS=1 -DWRITES => holds
 * search: "a broken connection, a crash, an end that is told early" -DBREAKS=1 -DCRASHES=1 -DDEPOSED=1 => holds
 * search: "three sessions, a broken connection" -DN=3 -DBREAKS=1 => holds
 * search: "three sessions, an expiry" -DN=3 -DSILENCES=1 => holds
 * search: "three sessions, a crash" -DN=3 -DCRASHES=1 => holds
 * search: "three sessions, a cancel" -DN=3 -DCANCELS=1 => holds
 * search: "three sessions, a node deleted by others" -DN=3 -DADMINS=1 => holds
 * search: "two contenders of a session and one of another, a cancel" -DN=3 -DSHARED -DCANCELS=1 => holds
 * search: "two contenders of a session, writes, two broken connections" -DSHARED -DWRITES -DBREAKS=2 -DROUNDS=2 => holds
 * search: "the list lacks the own node" -DBUG_NO_OWN_NODE => violated inTurn
 * search: "the event is taken for the turn" -DBUG_EVENT_IS_TURN -DN=3 -DCANCELS=1 => violated inTurn
 * search: "no second look" -DBUG_NO_SECOND_LOOK => stuck
 * search: "the watch is lost" -DBUG_WATCH_LOST_ON_RECONNECT -DBREAKS=1 => stuck
 * search: "the watch is taken for set" -DBUG_WATCH_KEPT_ON_RECONNECT -DBREAKS=1 => stuck
 * search: "the end of the session is not heard" -DBUG_WAITS_ON -DSILENCES=1 => stuck
 * search: "the next turn comes before the last write" -DBUG_HANDOVER_EARLY -DSHARED -DWRITES => violated inOrder
 * search: "the last write may still come" -DBUG_WRITE_UNSETTLED -DSHARED -DWRITES -DBREAKS=1 => violated inOrder
 */
/* last: the nodes when the session was expired, since its client hears no more; known: those in the local queue; deaf:
 * watches that the servers do not have. */
#define stateOfModel set last[SESSIONS], known[SESSIONS], waits[N], watched[N], deaf[N]; bool listed[N], woken[N];
#define onMessage() each(if :: waits[k] & x & ~view[s] & ~deaf[k] -> woken[k] = true :: else fi)
#define onBreak(j) deaf[j] = watched[j]; woken[j] = (waits[j] != 0 && !on(BUG_WATCH_LOST_ON_RECONNECT)); \
	if :: !on(BUG_WATCH_LOST_ON_RECONNECT) && !on(BUG_WATCH_KEPT_ON_RECONNECT) -> watched[j] = 0; deaf[j] = 0 :: else fi
#define onExpiry() last[s] = stand
#include "servers.inc"


#define ahead rivals(known[s] & (node[c] - 1))
#define after(b) (ahead & ~(b | (b - 1)))
#if TRACE
#define own(b) ((b) & mine[s])
#elif defined(SHARED)
#define own(b) (c < 2 && ((b) == node[0] || (b) == node[1]))
#else
#define own(b) false
#endif

/* The turn of the session's other contenders begins with the release.
 * recipes: queue.Contender.leaving, queue.localQueue.leaving */
inline turnOver() {
	d_step { leaves ->
		noteBelief(); believes[c] = false; leaving[s] = leaving[s] | node[c]; known[s] = known[s] & ~node[c];
		each(if :: waits[k] != 0 && waits[k] == node[c] -> woken[k] = true :: else fi);
		recorded()
	}
}

proctype contender(byte c) DUE {
	set b; byte rounds;
	bool over, stale; /* over: it has held, or given up; stale: known may be shorter than that */

round:	if
	BEGINS
	fi;
	{ skip;
again:	atomic { /* recipes: queue.NewContender, queue.Contender.Enqueue, queue.enqueueAll */
		d_step { guid[c] = 0; node[c] = 0; listed[c] = false };
create:		askCreate()
	};
	do
#if CANCELS
	:: d_step { mayCancel -> cancel() }
#endif
	:: atomic { answered ->
		if
		:: hearBefore(); known[s] = view[s] & ~leaving[s] /* a list requested with the create, or before */
		:: true                                         /* or the nodes known from before */
		fi;
		hearAnswer();
		if
		:: answer[c] == OK -> d_step { node[c] = made[c]; heard() }; goto placed
		:: else -> heard()
		fi;
find:		ask(SETTLE, 0); hearAnswer();
		if
		:: answer[c] == LOST -> heard(); goto find
		:: else -> heard()
		fi;
		hearSome(); /* recipes: queue.findContenders, session.FindByGUID, session.SettledChildren, session.Identify */
		node[c] = view[s] & guid[c] & -(view[s] & guid[c]);
		if
		:: node[c] == 0 && over -> goto round
		:: node[c] == 0 && !over -> goto create
		:: else
		fi;
placed:		known[s] = known[s] | node[c]; stale = true; /* recipes: queue.localQueue.join */
		if :: over -> goto leave :: else fi;
judge:		if /* recipes: queue.Contender.Wait, queue.localQueue.judge */
		:: ahead == 0 && (listed[c] || on(BUG_NO_OWN_NODE) || semaphore) -> goto turn
		:: ahead == 0 && !(listed[c] || on(BUG_NO_OWN_NODE) || semaphore) -> goto list
		:: ahead && stale -> goto list
		:: ahead -> b = 1
		fi;
		do
		:: b & ahead -> break
		:: after(b) -> b = b << 1
		od;
		if /* recipes: queue.localQueue.waitFor, queue.Contender.awaitOther, queue.Contender.awaitOwn, session.Watch */
		:: (b & watched[c]) || own(b)
		:: else -> hearSome();
			if
			:: watched[c] = watched[c] | b; deaf[c] = deaf[c] & ~b
			:: watched[c] = watched[c] | b | after(b); deaf[c] = deaf[c] & ~(b | after(b))
			fi
		fi;
		if
		:: !(b & view[s]) && !on(BUG_NO_SECOND_LOOK) -> d_step { known[s] = known[s] & ~b; b = 0; stale = true }; goto judge
		:: else -> d_step { waits[c] = b; b = 0 }; goto wait
		fi;
list:		hearSome(); stale = false; /* recipes: queue.localQueue.list, queue.localQueue.fetch, queue.localQueue.apply */
		d_step {
			known[s] = view[s] & ~leaving[s];
			each(if :: node[k] & view[s] -> listed[k] = true :: else fi)
		};
		if
		:: node[c] & view[s] -> goto judge
		:: else -> goto again
		fi }
	od;
wait:	if
	:: atomic { /* recipes: queue.localQueue.gone */
		d_step { woken[c] || waits[c] & view[s] & ~deaf[c] & ~(alive[s] -> stand : last[s]) ->
			do :: !woken[c] -> hear() :: else -> break od;
			if :: token != 0 && happened && (waits[c] & ~view[s]) -> skip; /* reached */
			:: else
			fi;
			woken[c] = false; known[s] = known[s] & (view[s] | ~waits[c]); waits[c] = 0; stale = true
		};
		if :: on(BUG_EVENT_IS_TURN) -> goto turn :: else -> goto judge fi }
#if CANCELS
	:: atomic { mayCancel -> d_step { cancel(); woken[c] = false; waits[c] = 0 }; goto leave }
#endif
	fi;
turn:	if /* recipes: recipes.Client.startHold, session.Session.AwaitEvidence, recipes.newHold, session.Locked.Left */
	:: d_step { evidence[s] && grantOnRecord -> grant(); over = true; stepped() }
#if ADMINS
	:: atomic { !(stand & node[c]) -> goto again } /* recipes: session.heartbeat.nodesGone */
#endif
#if CANCELS
	:: atomic { mayCancel -> cancel(); goto leave }
#endif
	fi;
#ifdef WRITES
	if /* recipes: recipes.guarded, recipes.writing */
	:: atomic { believes[c] -> ask(WRITE, node[c]); if :: on(BUG_HANDOVER_EARLY) -> turnOver() :: else fi };
		atomic { hearAnswer();
settle:		if /* recipes: session.Settle */
		:: answer[c] == LOST && settlesWrites -> heard(); ask(SETTLE, 0); hearAnswer(); goto settle
		:: else -> heard()
		fi }
	:: skip
	fi;
#endif
leave:	/* recipes: recipes.Lease.release, queue.Contender.Grant, queue.Contender.Leave, session.RemoveHere,
	 * session.DeleteInBackground, session.DeleteByGUID, recipes.cohort.pass */
	if
	PASSES
	:: atomic {
		turnOver();
delete:		ask(DELETE, node[c]); hearAnswer();
		if
		:: answer[c] == LOST -> heard(); goto delete
		:: else -> d_step { leaving[s] = leaving[s] & ~node[c]; node[c] = 0; watched[c] = 0; heard() }; goto round
		fi }
	fi
	} unless { atomic { /* recipes: session.Keeper.run, recipes.Client.inSession */
		dead[s] || ended[s] && !(on(BUG_WAITS_ON) && waits[c] != 0) ->
		d_step {
			leaveSession(); known[s] = 0; waits[c] = 0; watched[c] = 0; deaf[c] = 0; woken[c] = false; b = 0; stale = false
		};
		if
		:: dead[s] -> node[c] = 0; goto finished
		:: else ->
			d_step { last[s] = 0; nextSession() };
			if
			:: over -> node[c] = 0; goto round
			:: else -> goto again
			fi
		fi } };
finished:
	atomic { done++; came[c] = true;
#ifndef SHARED
		ended[s] = true; view[s] = 0; known[s] = 0; hearNoMore()
#endif
	}
}

init {
	byte c;
	atomic {
#if TRACE
		c_code { zk_load(); };
		for (c : 0 .. N - 1) { slot[c] = c };
#endif
		runAll()
	};
#if TRACE
	do
	:: d_step { isNext(EMPTY) && stand == 0 -> step() }
	:: d_step { isNext(WINDOW) -> c_code { zk_window(); } }
	od;
#endif
end:	atomic { settled -> clean = (stand == 0); assert(clean) }
}
