/* A mutex that is handed on within a client: no two hold it, the tokens grow, each grant by a place comes before its
 * loss is told, others wait for LIMIT grants more at most, and none waits for ever.
 *
 * mutex.pml and lease.pml show, and here it is assumed: whose node is first in the queue has its turn and learns of
 * it; a client learns of the end of its session before another's turn, and of its node's deletion by others some time
 * after; a delete is repeated until it is answered. mutex.pml shows it for contenders with a node each.
 *
 * One client has K contenders with one node at a time, the other has one contender. A place is a number, a later one
 * higher, and the czxid of its node. The token is the place, and how often it has been handed on.
 *
 * switch: K=n contenders of the client that hands on
 * switch: LIMIT=n how often a place is handed on
 * switch: CANCELS=n how often a contender gives up
 * switch: SILENCES=n how often the client's session is expired
 * switch: ADMINS=n how often the client's node is deleted by others
 * switch: ENTRIES=n how often a holder acquires the lock again, and releases that inner hold first
 * switch: WRITES a holder's guarded write may be under way when it gives up the answer
 * switch: BUG_FOR_EVER a place is handed on as long as the client has contenders
 * switch: BUG_AFTER_LOSS a place is handed on after its loss
 * switch: BUG_SAME_TOKEN the token is that of the node
 * switch: BUG_WRITES_LATE a place is handed on before the last write has ended
 * switch: BUG_TURN_DROPPED a contender that gives up as its turn comes does not hand it on
 * switch: BUG_GIVEN_UP_KEPT a contender that gives up its turn leaves the node
 * switch: BUG_INNER_RELEASE the release of an inner hold deletes the node
 * switch: BUG_REENTERS_LOST a holder acquires the lock again although it was told of the loss
 * switch: BUG_RESIGNS_ALONE the last holder of a place does not wake the next contender
 *
 * search: "three contenders" quick => holds
 * search: "two cancels" -DCANCELS=2 => holds
 * search: "an expiry, a cancel" -DSILENCES=1 -DCANCELS=1 => holds
 * search: "a node deleted by others, a cancel" -DADMINS=1 -DCANCELS=1 => holds
 * search: "writes, a node deleted by others" -DWRITES -DADMINS=1 => holds
 * search: "four contenders, a limit of two" -DK=4 -DLIMIT=2 => holds
 * search: "an inner hold, an expiry, a node deleted by others" -DENTRIES=1 -DSILENCES=1 -DADMINS=1 => holds
 * search: "no bound" -DBUG_FOR_EVER => violated fair
 * search: "after a loss" -DBUG_AFTER_LOSS -DADMINS=1 => violated kept
 * search: "one token" -DBUG_SAME_TOKEN => violated grows
 * search: "a late write" -DBUG_WRITES_LATE -DWRITES => violated inOrder
 * search: "a turn that is dropped" -DBUG_TURN_DROPPED -DCANCELS=1 => stuck
 * search: "a place that is kept" -DBUG_GIVEN_UP_KEPT -DCANCELS=2 => stuck
 * search: "an inner release" -DBUG_INNER_RELEASE -DENTRIES=1 => violated alone
 * search: "an inner hold after the loss" -DBUG_REENTERS_LOST -DENTRIES=1 -DSILENCES=1 => violated kept
 * search: "a resignation of which none hears" -DBUG_RESIGNS_ALONE => stuck
 */
#ifndef K
#define K 3
#endif
#ifndef LIMIT
#define LIMIT 1
#endif
#ifndef CANCELS
#define CANCELS 0
#endif
#ifndef ENTRIES
#define ENTRIES 0
#endif
#ifndef SILENCES
#define SILENCES 0
#endif
#ifndef ADMINS
#define ADMINS 0
#endif
/* on(X) is 1 with -DX, and 0 otherwise. */
#define PASTED_1 0,
#define SECOND(a, b, ...) b
#define PICK(x) SECOND(x 1, 0)
#define PASTE(x) PICK(PASTED_##x)
#define on(x) PASTE(x)

#define STEPS 8                                 /* a token is place * STEPS, and how often the place has been handed on */
short queue, lost;                              /* the places that stand; those whose loss is told */
byte next, token, written, write, since, holds; /* of the latest grant, write, and write under way; who holds */
bool led, turn[K + 1];                          /* the cohort has a leader; who has got the baton */
byte place[K + 1], passed[K + 1];               /* the baton: its place, if any, and how often that has been handed on */
chan followers = [K] of { byte };
bool alone = true, grows = true, kept = true, inOrder = true, fair = true, clean = true;
byte cancels, entries, silences, admins, finished;

#define bit(p) (1 << (p))
#define foreign (place[K] -> bit(place[K]) : 0)
#define first(p) ((queue & bit(p)) && !(queue & (bit(p) - 1)))
#define now(k) (place[k] * STEPS + passed[k] * !on(BUG_SAME_TOKEN))
inline create() { next++; place[k] = next; passed[k] = 0; queue = queue | bit(next) }
inline leave() { queue = queue & ~bit(place[k]); place[k] = 0 }
inline grant() { /* recipes: recipes.Client.startHold, recipes.newHold */
	kept = !(lost & bit(place[k])); assert(kept);
	if
	:: queue & bit(place[k]) -> alone = !holds; assert(alone); grows = (now(k) > token); assert(grows);
		holds = k + 1; token = now(k); since = since + ((queue & foreign) && k != K)
	:: else                                 /* deleted by others, and not told yet: an older token */
	fi
}
inline pass() { /* recipes: recipes.cohort.pass, recipes.cohort.next */
	ok = (passed[k] < LIMIT || on(BUG_FOR_EVER)) && len(followers);
	if :: ok -> followers?n; turn[n] = true; place[n] = place[k]; passed[n] = passed[k] + 1; place[k] = 0; n = 0 :: else fi
}
inline resign() { /* recipes: recipes.cohort.resign */
	if :: len(followers) && !on(BUG_RESIGNS_ALONE) -> followers?n; turn[n] = true; place[n] = 0; passed[n] = 0; n = 0 :: else -> led = false fi
}

proctype contender(byte k) {
	byte n; bool ok;

	atomic { if :: !led -> led = true; goto enqueue :: led -> followers!k fi }; /* recipes: recipes.cohorts.enter, recipes.cohort.lead */
	if
	:: atomic { turn[k] -> turn[k] = false; if :: place[k] :: else -> goto enqueue fi }
	:: atomic { cancels < CANCELS -> cancels++;
		if :: !turn[k] -> followers??eval(k); goto end :: turn[k] -> turn[k] = false; if :: on(BUG_TURN_DROPPED) -> goto end :: else -> goto giveUp fi fi }
	fi;
	if /* recipes: recipes.Mutex.handoff, session.Session.AwaitEvidence */
	:: atomic { !(lost & bit(place[k])) || on(BUG_AFTER_LOSS) ->
		n = 0; /* reached */
		grant(); goto hold }
	:: atomic { (lost & bit(place[k])) && !on(BUG_AFTER_LOSS) -> leave(); goto enqueue }
	:: atomic { cancels < CANCELS -> cancels++; goto giveUp }
	fi;
enqueue: atomic { create() }; /* recipes: recipes.Mutex.contend, queue.Contender.Enqueue, queue.Contender.Wait */
	if
	:: atomic { first(place[k]) -> grant() }
	:: atomic { !(queue & bit(place[k])) -> place[k] = 0; goto enqueue }
	:: atomic { cancels < CANCELS -> cancels++; leave(); resign(); goto end }
	fi;
hold:	atomic { if :: queue & bit(place[k]) -> inOrder = (written <= token); assert(inOrder); written = token :: else fi };
	if /* recipes: recipes.hold.reenter, recipes.Lease.release */
	:: atomic { entries < ENTRIES && (!(lost & bit(place[k])) || on(BUG_REENTERS_LOST)) -> entries++;
		kept = !(lost & bit(place[k])); assert(kept);
		if :: on(BUG_INNER_RELEASE) -> queue = queue & ~bit(place[k]) :: else fi }
	:: true
	fi;
	if :: on(WRITES) && !write -> write = now(k) :: true fi; /* recipes: recipes.writing */
	atomic { holds = (holds == k + 1 -> 0 : holds) };
	atomic { !write || on(BUG_WRITES_LATE) -> /* recipes: recipes.Mutex.handed, recipes.Lease.release */
		ok = false;
		if :: !(lost & bit(place[k])) || on(BUG_AFTER_LOSS) -> pass() :: else fi;
		if :: ok -> goto end :: else -> resign() fi };
	atomic { leave(); goto end };
giveUp:	atomic { /* recipes: recipes.cohort.retire, queue.Contender.LeaveInBackground */
		ok = false; if :: place[k] -> pass() :: else fi;
		if :: !ok -> resign() :: else -> goto end fi };
	atomic { if :: place[k] && !on(BUG_GIVEN_UP_KEPT) -> leave() :: else fi };
end:	finished++
}

proctype other(byte k) {
	atomic { create(); since = 0 };
	atomic { first(place[k]) -> grant(); fair = (since <= LIMIT + 1); assert(fair); inOrder = (written <= token); assert(inOrder); written = token };
	atomic { holds = 0; leave(); finished++ }
}

proctype servers() {
end:	do
	:: d_step { write -> if :: queue & bit(write / STEPS) -> inOrder = (written <= write); assert(inOrder); written = write :: else fi; write = 0 }
	:: d_step { silences < SILENCES && (queue & ~foreign) -> silences++; lost = lost | (queue & ~foreign); queue = queue & foreign; holds = (holds == K + 1 -> holds : 0) }
	:: d_step { admins < ADMINS && (queue & ~foreign) -> admins++; queue = queue & foreign; holds = (holds == K + 1 -> holds : 0) }
	:: d_step { admins && (((bit(next + 1) - 2) & ~queue & ~foreign) | lost) != lost -> lost = lost | ((bit(next + 1) - 2) & ~queue & ~foreign) } /* recipes: session.heartbeat.nodesGone */
	od
}

init {
	byte k;
	atomic { for (k : 0 .. K - 1) { run contender(k) }; run other(K); run servers(); k = 0 };
	atomic { finished == K + 1 -> clean = !queue; assert(clean) }
}
