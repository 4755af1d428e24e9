/* A multi-lock holds all its locks or none, no two wait for each other, the loss of one lock is told as the loss
 * of all, a guarded write takes effect while all are held or not at all, and no node remains.
 *
 * mutex.pml and lease.pml show, and here it is assumed: of one lock, who is first in its queue has it alone, and
 * learns of it in time; a session that has evidence is not expired, and its leases end before it is; a delete takes
 * effect once. So no server lags here: that no node is ahead stays true.
 *
 * A set of locks is a byte, a bit for each. A place is a bit, a later place a higher one; nodes that one
 * transaction creates have the same place in all queues.
 *
 * switch: N=n contenders, each with a session and with two or three of three locks
 * switch: APART=set locks that are semaphores: acquired after the others, one by one
 * switch: BREAKS=n how often an answer is lost; the request is carried out at once, later or never
 * switch: CANCELS=n how often a contender gives up
 * switch: ADMINS=n how many nodes are deleted by others
 * switch: SILENCES=n how many sessions are expired
 * switch: WRITES a holder writes, guarded by the nodes of all its locks
 * switch: BUG_IN_ORDER the locks are acquired one by one, in the order in which they are named
 * switch: BUG_TWO_REQUESTS the nodes are created together, each by its own transaction
 * switch: BUG_GOES_ON a lock that was not acquired is passed over
 * switch: BUG_KEEPS_PART who gives up deletes the node for which it waits, and no others
 * switch: BUG_FINDS_PART after a lost answer the first of the nodes is looked for, and it stands for all
 * switch: BUG_LOST_LATE a loss is told when all locks are lost
 * switch: BUG_LOST_BEFORE a lock that is lost before the last one is granted is not told
 * switch: BUG_UNCHECKED=lock a guarded write does not check the node of this lock
 *
 * search: "two of three locks" quick -DN=2 => holds
 * search: "three contenders" -DN=3 => holds
 * search: "a broken connection, a node deleted by others" -DBREAKS=1 -DADMINS=1 => holds
 * search: "a cancel, a node deleted by others" -DCANCELS=1 -DADMINS=1 => holds
 * search: "a broken connection, an expiry" -DBREAKS=1 -DSILENCES=1 => holds
 * search: "writes, a broken connection, two nodes deleted by others" -DWRITES -DBREAKS=1 -DADMINS=2 => holds
 * search: "writes, an expiry" -DWRITES -DBREAKS=1 -DSILENCES=1 => holds
 * search: "a mutex and two semaphores, a cancel" -DAPART=6 -DCANCELS=1 => holds
 * search: "a mutex and two semaphores, an expiry" -DAPART=6 -DSILENCES=1 => holds
 * search: "in the order of their names" -DBUG_IN_ORDER => stuck
 * search: "two requests" -DBUG_TWO_REQUESTS => stuck
 * search: "goes on" -DBUG_GOES_ON -DADMINS=1 => violated alone
 * search: "keeps a part" -DBUG_KEEPS_PART -DCANCELS=1 => stuck
 * search: "finds a part" -DBUG_FINDS_PART -DBREAKS=1 -DADMINS=1 => stuck
 * search: "the loss of all" -DBUG_LOST_LATE -DADMINS=1 => violated alone
 * search: "the loss before the grant" -DBUG_LOST_BEFORE -DADMINS=1 => violated alone
 * search: "the first is not checked" -DBUG_UNCHECKED=0 -DWRITES -DADMINS=1 => violated inOrder
 * search: "the second is not checked" -DBUG_UNCHECKED=1 -DWRITES -DADMINS=1 => violated inOrder
 * search: "the third is not checked" -DBUG_UNCHECKED=2 -DWRITES -DADMINS=1 => violated inOrder
 */
#ifndef N
#define N 2
#endif
#ifndef APART
#define APART 0
#endif
#ifndef BUG_UNCHECKED
#define BUG_UNCHECKED 7
#endif
#define LOCKS 3
/* on(X) is 1 with -DX, and 0 otherwise. */
#define PASTED_1 0,
#define SECOND(a, b, ...) b
#define PICK(x) SECOND(x 1, 0)
#define PASTE(x) PICK(PASTED_##x)
#define on(x) PASTE(x)

/* The leader: the queues, each contender's nodes in them, the place of the latest write guarded by each lock. */
short queue[LOCKS], at[N * LOCKS], next = 1, written[LOCKS];
byte holds[N], lost[N];                         /* locks: that a contender believes to hold, and that it knows to be lost */
bool believes[N], ended[N];                     /* it believes that it holds them all */
bool alone = true, inOrder = true, clean = true;
byte came, done, breaks, cancels, admins, silences;

#define has(s, l) (((s) >> (l)) & 1)
#define node(k, l) (queue[l] & at[(k) * LOCKS + (l)])
#define claims(k, l) ((has(holds[k], l) && node(k, l)) || (believes[k] && has(lost[k], l)))
#define each(l, s, code) for (l : 0 .. LOCKS - 1) { if :: has(s, l) -> code :: else fi }; l = 0
#define all(s) ((!has(s, 0) || node(c, 0)) && (!has(s, 1) || node(c, 1)) && (!has(s, 2) || node(c, 2)))
#define unchecked (BUG_UNCHECKED < 3 -> 1 << BUG_UNCHECKED : 0)
#define first(s) ((s) & -(s))
#define last(s) ((s) & 4 -> 4 : ((s) & 2 -> 2 : (s)))

inline create(s) { each(l, s, at[c * LOCKS + l] = next; queue[l] = queue[l] | next); assert(next < 8192); next = next << 1 }
inline delete(s) { each(l, s, queue[l] = queue[l] & ~at[c * LOCKS + l]) }
inline write() {
	each(l, set, inOrder = inOrder && written[l] <= at[c * LOCKS + l]; written[l] = at[c * LOCKS + l]);
	assert(inOrder)
}

proctype contender(byte c) {
	byte set, left, part, l, k;             /* the locks; those to come; those that are asked for together */

	if :: set = 3 :: set = 5 :: set = 6 :: set = 7 fi;
again:	atomic { /* recipes: recipes.MultiLock.acquire, recipes.MultiLock.sortOut */
		delete(set); holds[c] = 0; lost[c] = 0; ended[c] = false; left = set
	};
more:	atomic {
		came >= c; came = came + (came == c);   /* contenders are alike, so they may come in their order */
		part = (left & ~APART -> left & ~APART : first(left));
		if :: on(BUG_IN_ORDER) || on(BUG_TWO_REQUESTS) -> part = (c % 2 -> last(left) : first(left)) :: else fi;
		goto enqueue
	};
enqueue: atomic { /* recipes: queue.EnqueueTogether, queue.enqueueAll */
		if
		:: !ended[c] -> create(part); goto placed
		:: ended[c] -> goto again
#if BREAKS
		:: breaks < BREAKS -> breaks++; each(l, part, at[c * LOCKS + l] = 0)
#endif
		fi };
#if BREAKS
	if
	:: d_step { !ended[c] -> create(part) }
	:: true
	fi;
	atomic { /* recipes: queue.findContenders */
		if
		:: ended[c] || !all(part) && !on(BUG_FINDS_PART) && (node(c, 0) || node(c, 1) || node(c, 2)) -> goto again
		:: !ended[c] && (on(BUG_FINDS_PART) -> all(first(part)) : all(part)) -> goto placed
		:: else -> goto enqueue
		fi };
#endif
placed:	atomic { left = left & ~part; if :: on(BUG_TWO_REQUESTS) && left -> goto more :: on(BUG_TWO_REQUESTS) && !left -> part = set :: else fi };
	do /* recipes: recipes.MultiLock.contend, queue.Contender.Wait */
	:: atomic { l == LOCKS -> l = 0; break }
	:: atomic { l < LOCKS && !has(part, l) -> l++ }
	:: atomic { l < LOCKS && has(part, l) && node(c, l) && !(queue[l] & (at[c * LOCKS + l] - 1)) -> l++ }
	:: atomic { l < LOCKS && has(part, l) && !node(c, l) -> if :: on(BUG_GOES_ON) && !ended[c] -> l++ :: else -> l = 0; goto again fi }
#if CANCELS
	:: atomic { l < LOCKS && has(part, l) && cancels < CANCELS -> cancels++; /* recipes: recipes.giveBack, queue.Contender.LeaveInBackground */
		if :: on(BUG_KEEPS_PART) -> queue[l] = queue[l] & ~at[c * LOCKS + l]; set = 0 :: else fi;
		l = 0; goto leave }
#endif
	od;
	do
	:: atomic { l == LOCKS -> l = 0; break }
	:: atomic { l < LOCKS && !has(part, l) -> l++ }
	:: atomic { l < LOCKS && has(part, l) -> /* recipes: recipes.Client.startHold, recipes.newHold */
		if
		:: ended[c] || !node(c, l) && !on(BUG_GOES_ON) -> l = 0; goto again
		:: else -> alone = !(c != 0 && claims(0, l) || c != 1 && claims(1, l) || c != N - 1 && claims(N - 1, l)); assert(alone);
			holds[c] = holds[c] | (1 << l); l++
		fi }
	od;
	if :: left -> goto more :: else fi;
	atomic { /* recipes: recipes.newMultiLease, recipes.MultiLease.lose */
		if :: lost[c] && !on(BUG_LOST_BEFORE) || ended[c] -> goto leave :: else -> believes[c] = true fi /* reached */
	};
#if WRITES
	atomic { /* recipes: recipes.MultiLease.Multi, recipes.guarded, recipes.writing */
		if
		:: believes[c] && all(set & ~unchecked) -> write(); goto leave
		:: !believes[c] || !all(set & ~unchecked) -> goto leave
#if BREAKS
		:: breaks < BREAKS -> breaks++
#endif
		fi };
	if
	:: d_step { !ended[c] && all(set & ~unchecked) -> write() }
	:: true
	fi;
#endif
leave:	atomic { /* recipes: recipes.MultiLease.Release, recipes.Lease.release */
		believes[c] = false; holds[c] = 0; lost[c] = 0; delete(set); each(l, 7, at[c * LOCKS + l] = 0); set = 0; done++; ended[c] = false
	}
}

#if ADMINS || SILENCES
#define removed(l) :: d_step { admins < ADMINS && node(c, l) -> admins++; queue[l] = queue[l] & ~at[c * LOCKS + l] }
proctype session(byte c) {
	byte l;
end:	do
#if ADMINS
	removed(0) removed(1) removed(2)
#endif
	:: d_step { (has(holds[c], 0) && !node(c, 0)) || (has(holds[c], 1) && !node(c, 1)) || (has(holds[c], 2) && !node(c, 2)) ->
		/* recipes: session.heartbeat.nodesGone, recipes.hold.Lose, recipes.MultiLease.lose */
		each(l, holds[c], if :: !node(c, l) -> lost[c] = lost[c] | (1 << l) :: else fi);
		holds[c] = holds[c] & ~lost[c]; believes[c] = believes[c] && (on(BUG_LOST_BEFORE) || on(BUG_LOST_LATE) && holds[c]) }
#if SILENCES
	:: d_step { silences < SILENCES && (node(c, 0) || node(c, 1) || node(c, 2)) -> /* recipes: recipes.hold.Lose */
		silences++; ended[c] = true; believes[c] = false; holds[c] = 0; delete(7) }
#endif
	od
}
#endif

init {
	byte c;
	atomic {
		for (c : 0 .. N - 1) {
			run contender(c);
#if ADMINS || SILENCES
			run session(c)
#endif
		};
		c = 0
	};
end:	atomic { done == N -> clean = !(queue[0] | queue[1] | queue[2]); assert(clean) }
}
