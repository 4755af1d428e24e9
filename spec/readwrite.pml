/* Readers share a read/write lock, writers exclude all, a writer becomes a reader with no other writer in
 * between, no writer is passed, each waiter has its turn, tokens grow, and no node remains.
 *
 * mutex.pml and lease.pml show, and here it is assumed: a session that has evidence is not expired, and its
 * leases end before it is; a create, or a delete, whose answer is lost is settled and takes effect once; a
 * waiter looks again after a reconnect. A server may lag, and never goes back.
 *
 * A place is a bit, a later place a higher bit, and a byte is a set of places. A writer and the reader that
 * it becomes have one place, the writer first. Which of the nodes that it must wait for a contender watches is
 * left open.
 *
 * switch: N=n contenders, each with a session, that ask for one side or the other
 * switch: SILENCES=n how many sessions are expired
 * switch: ADMINS=n how many nodes are deleted by others
 * switch: CANCELS=n how often a waiter gives up
 * switch: BREAKS=n how often the answer to a downgrade is lost; it is carried out at once, later or never
 * switch: BUG_DOWNGRADE_AT_END a writer becomes a reader with a place at the end
 * switch: BUG_REMEMBERED_WRITER a writer becomes a reader by what its client remembers, not if its node exists
 * switch: BUG_OWN_TOKEN the reader that was a writer has the number of its own create for a token
 * switch: BUG_NO_LIST who waited for a node that has gone does not list again
 * switch: BUG_LATER_WRITER a reader waits for the last writer, wherever that stands
 * switch: BUG_READER_PASSES a reader waits for a writer only if that is the first in the queue
 * switch: BUG_NO_SECOND_LOOK a watch is set, and not whether its node is there
 * switch: BUG_DOWNGRADE_AGAIN a downgrade whose answer is lost is given up, and its node not looked for
 *
 * search: "two contenders" quick -DN=2 => holds
 * search: "an expiry" -DSILENCES=1 => holds
 * search: "a node deleted by others" -DADMINS=1 => holds
 * search: "two cancels" -DCANCELS=2 => holds
 * search: "a broken connection, a node deleted by others" -DBREAKS=1 -DADMINS=1 => holds
 * search: "the reader stands behind waiting writers" -DBUG_DOWNGRADE_AT_END -DN=2 => violated alone
 * search: "the lost writer reads" -DBUG_REMEMBERED_WRITER -DN=2 -DSILENCES=1 => violated inTurn
 * search: "the deleted writer reads" -DBUG_REMEMBERED_WRITER -DN=2 -DADMINS=1 => violated inTurn
 * search: "the reader's token" -DBUG_OWN_TOKEN -DN=2 => violated grows
 * search: "the reader is not seen" -DBUG_NO_LIST -DN=2 => violated alone
 * search: "the last writer" -DBUG_LATER_WRITER -DN=2 => stuck
 * search: "a reader joins readers" -DBUG_READER_PASSES => violated inTurn
 * search: "no second look" -DBUG_NO_SECOND_LOOK -DN=2 => stuck
 * search: "the reader is left behind" -DBUG_DOWNGRADE_AGAIN -DN=2 -DBREAKS=1 => stuck
 */
#ifndef N
#define N 3
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

/* The leader: the places that writers and readers have, and the next place. */
byte W, R, next = 1;
/* What its server shows to each contender, the places of its nodes, and what it believes. */
byte viewW[N], viewR[N], wnode[N], rnode[N];
bool writing[N], reading[N], ended[N];
byte newest, newestWriter;                      /* of the tokens granted */
bool alone = true, inTurn = true, grows = true, clean = true;
byte came, done, silences, admins, cancels, breaks, k;

#define holdsW(c) (writing[c] && (W & wnode[c]))
#define holdsR(c) (reading[c] && (R & rnode[c]))
#define stands(c) (write -> W & wnode[c] : R & rnode[c])
#define ahead (write -> (w | r) & (wnode[c] - 1) : \
	(on(BUG_LATER_WRITER) -> w & ~wnode[c] : \
	(on(BUG_READER_PASSES) && !(w & (w | r) & -(w | r)) -> 0 : w & (rnode[c] - 1))))

inline see() { viewW[c] = W; viewR[c] = R }
inline seeOrNot() { if :: see() :: true fi }
inline place() { x = next; assert(next < 128); next = next << 1 }

proctype contender(byte c) {
	byte w, r, b, x;                        /* the last list, the place that it waits for */
	bool write, owner, forWriter;           /* the side asked for; it holds the write lock; it waits for a writer */

	if :: write = true :: write = false fi;
again:	atomic { /* recipes: recipes.Client.inSession, recipes.Mutex.contend, queue.Contender.Enqueue */
		came >= c; came = came + (came == c);   /* contenders are alike, so they may come in their order */
		if
		:: owner && !writing[c] && !on(BUG_REMEMBERED_WRITER) -> owner = false; wnode[c] = 0
		:: else
		fi;
		ended[c] = false;
		if
		:: write -> place(); wnode[c] = x; W = W | x
		:: !write && !owner -> place(); rnode[c] = x; R = R | x
		:: !write && owner -> goto downgrade
		fi;
		x = 0; see()
	};
list:	atomic { /* recipes: queue.localQueue.list, queue.localQueue.apply, queue.localQueue.old */
		if :: ended[c] -> goto again :: else fi;
		seeOrNot(); w = viewW[c]; r = viewR[c];
		if :: (write -> w & wnode[c] : r & rnode[c]) :: else -> w = 0; r = 0; goto again fi;
judge:		/* recipes: queue.localQueue.judge, queue.localQueue.waitFor, queue.Shared, queue.Exclusive */
		if :: ahead == 0 -> w = 0; r = 0; goto turn :: else -> b = 1 fi;
		do
		:: ahead & b -> break
		:: ahead & ~(b | (b - 1)) -> b = b << 1
		od;
		if :: w & b -> forWriter = true :: write && (r & b) -> forWriter = false fi;
		seeOrNot(); /* recipes: queue.Contender.awaitOther */
		if
		:: !(b & (forWriter -> viewW[c] : viewR[c])) && !on(BUG_NO_SECOND_LOOK) -> b = 0; goto list
		:: else
		fi;
		if :: on(BUG_NO_LIST) :: else -> w = 0; r = 0 fi
	};
	if
	:: atomic { (b & (forWriter -> viewW[c] & ~W : viewR[c] & ~R)) || ended[c] || !stands(c) ->
		see(); /* recipes: queue.localQueue.gone */
		if
		:: on(BUG_NO_LIST) && !ended[c] && stands(c) ->
			if :: forWriter -> w = w & ~b :: else -> r = r & ~b fi;
			b = 0; goto judge
		:: else -> w = 0; r = 0; b = 0; goto list
		fi }
#if CANCELS
	:: atomic { cancels < CANCELS -> cancels++; w = 0; r = 0; b = 0; goto leave }
#endif
	fi;
turn:	atomic { /* recipes: recipes.Client.startHold, session.Session.AwaitEvidence */
		if
		:: ended[c] || !stands(c) -> goto again
		:: !ended[c] && stands(c) -> d_step {
			for (k : 0 .. N - 1) { if :: k != c && (holdsW(k) || write && holdsR(k)) -> alone = false :: else fi };
			k = 0; assert(alone);
			inTurn = (write -> !((W | R) & (wnode[c] - 1)) : !(W & (rnode[c] - 1) & ~wnode[c]));
			assert(inTurn || on(BUG_DOWNGRADE_AT_END));
			x = (write -> wnode[c] : (on(BUG_OWN_TOKEN) && owner -> next : rnode[c]));
			grows = (write -> x > newest : x >= newestWriter); assert(grows);
			newest = (x > newest -> x : newest); newestWriter = (write -> x : newestWriter); x = 0;
			if :: write -> writing[c] = true :: else -> reading[c] = true fi }
		:: !ended[c] && !stands(c) -> /* it is told within a heartbeat */
			if :: write -> writing[c] = true :: else -> reading[c] = true fi
		fi
	};
	if
	:: write -> write = false; owner = true;
		if :: goto again :: goto leave fi
	:: else -> goto leave
	fi;
downgrade: atomic { /* recipes: queue.Contender.Downgrade */
		if :: on(BUG_DOWNGRADE_AT_END) -> place(); R = R | x; rnode[c] = x; x = 0; goto turn :: else fi;
		rnode[c] = wnode[c];
		if
		:: (W & wnode[c]) || on(BUG_REMEMBERED_WRITER) -> R = R | rnode[c]; see(); /* reached */
			goto list
		:: !(W & wnode[c]) && !on(BUG_REMEMBERED_WRITER) -> rnode[c] = 0; goto leave
#if BREAKS
		:: breaks < BREAKS -> breaks++; if :: on(BUG_DOWNGRADE_AGAIN) -> rnode[c] = 0 :: else fi
#endif
		fi };
	if
	:: d_step { !ended[c] && (W & wnode[c]) -> R = R | wnode[c] }
	:: true
	fi;
	atomic { /* recipes: queue.findContenders */
		if
		:: ended[c] -> goto again
		:: !ended[c] && !(R & wnode[c]) -> goto downgrade
		:: !ended[c] && (R & wnode[c]) && !on(BUG_DOWNGRADE_AGAIN) -> see(); goto list
		:: !ended[c] && (R & wnode[c]) && on(BUG_DOWNGRADE_AGAIN) -> goto leave
		fi };
leave:	atomic { writing[c] = false; W = W & ~wnode[c]; wnode[c] = 0 }; /* recipes: recipes.Lease.release, queue.Contender.Leave */
	d_step { reading[c] = false; R = R & ~rnode[c]; rnode[c] = 0; done++; viewW[c] = 0; viewR[c] = 0; ended[c] = false }
}

#if SILENCES || ADMINS
proctype session(byte c) {
end:	do
	:: d_step { silences < SILENCES && ((W & wnode[c]) || (R & rnode[c])) -> /* recipes: recipes.hold.Lose */
		silences++; ended[c] = true; writing[c] = false; reading[c] = false; W = W & ~wnode[c]; R = R & ~rnode[c] }
	:: d_step { admins < ADMINS && (W & wnode[c]) -> admins++; W = W & ~wnode[c] }
	:: d_step { admins < ADMINS && (R & rnode[c]) -> admins++; R = R & ~rnode[c] }
	od
}
#endif

init {
	byte c;
	atomic {
		for (c : 0 .. N - 1) {
			run contender(c);
#if SILENCES || ADMINS
			run session(c)
#endif
		};
		c = 0
	};
end:	atomic { done == N -> clean = !(W | R); assert(clean) }
}
