/* A barrier: a waiter passes only if the barrier has been down at some instant since it came, and does pass when the
 * node that it waited for is gone, also when another one is up. Set and Remove do what they say at some instant of
 * the call. A Remove takes down one node at most, however often its answer is lost.
 *
 * mutex.pml and lease.pml show, and here it is assumed: a request of a broken connection is not carried out once the
 * next connection has an answer; a server never goes back for one session; an event comes before later answers.
 *
 * The leader's transactions are counted: an odd one creates the barrier's node, and is its czxid; an even one deletes
 * it. A server knows the first few of them.
 *
 * switch: SETS=n how often the barrier is put up, once after the other
 * switch: REMOVES=n how often it is taken down, also at the same time
 * switch: BREAKS=n how often a connection breaks; a request without an answer is carried out at once, later or never
 * switch: MOVES=n how often the waiter's session ends; the next one's server may know less
 * switch: BUG_SET_ONCE a Set whose answer is lost counts as done
 * switch: BUG_REMOVES_AGAIN a Remove whose answer is lost deletes the node that is there
 * switch: BUG_LOCAL_REMOVE a Remove believes a server that lags
 * switch: BUG_LOCAL_READ a waiter believes a server that lags
 * switch: BUG_ANY_WAKEUP a wake-up is taken for the removal
 * switch: BUG_SLEEPS a waiter whose node goes between look and watch sleeps
 * switch: BUG_ANY_NODE a waiter takes a newer node for the one for which it waits
 * switch: BUG_WATCH_ALONE a waiter does not notice that its watch is on a newer node than the one it has seen
 *
 * search: "two sets, a remove, a broken connection" quick -DBREAKS=1 => holds
 * search: "two removes, another session" -DREMOVES=2 -DMOVES=1 => holds
 * search: "an unanswered set" -DBUG_SET_ONCE -DBREAKS=1 => violated set
 * search: "a repeated remove" -DBUG_REMOVES_AGAIN -DBREAKS=1 => violated once
 * search: "a remove of what its server does not know" -DBUG_LOCAL_REMOVE => violated removed
 * search: "a barrier that the waiter's server does not know" -DBUG_LOCAL_READ => violated passed
 * search: "any wake-up" -DBUG_ANY_WAKEUP -DBREAKS=1 => violated passed
 * search: "gone between look and watch" -DBUG_SLEEPS => violated awake
 * search: "a newer node" -DBUG_ANY_NODE => violated awake
 * search: "another node between look and watch" -DBUG_WATCH_ALONE => violated awake
 */
#ifndef SETS
#define SETS 2
#endif
#ifndef REMOVES
#define REMOVES 1
#endif
#ifndef BREAKS
#define BREAKS 0
#endif
#ifndef MOVES
#define MOVES 0
#endif
/* on(X) is 1 with -DX, and 0 otherwise. */
#define PASTED_1 0,
#define SECOND(a, b, ...) b
#define PICK(x) SECOND(x 1, 0)
#define PASTE(x) PICK(PASTED_##x)
#define on(x) PASTE(x)

byte z, breaks, moves;                          /* the leader's last transaction */
bool set = true, removed = true, once = true, passed = true, awake = true;

#define up(n) ((n) & 1)
inline catchUp() { do :: v < z -> v++ :: break od }

proctype setter() {
	byte from, k;                           /* the last transaction at the call */

call:	from = z;
again:	atomic { /* recipes: recipes.Barrier.set, session.Retry */
		if
		:: z = z + !up(z); goto done
		:: breaks < BREAKS -> breaks++
		fi };
	if :: d_step { !up(z) -> z++ } :: true fi;
	if :: !on(BUG_SET_ONCE) -> goto again :: else fi;
done:	atomic { set = (up(z) || z > from); assert(set); k++; from = 0; if :: k < SETS -> goto call :: else fi }
}

proctype remover() {
	byte from, v, first, deleted;           /* what its server knows; the node that it deletes */

	from = z;
look:	atomic { /* recipes: recipes.Barrier.standing, session.Stands */
		if :: up(z) && !on(BUG_LOCAL_REMOVE) -> v = z :: !up(z) && !on(BUG_LOCAL_REMOVE) -> goto done :: on(BUG_LOCAL_REMOVE) fi
	};
	atomic { /* recipes: recipes.statOf, recipes.Barrier.remove */
		catchUp();
		if
		:: !up(v) -> if :: on(BUG_LOCAL_REMOVE) -> goto done :: else -> goto look fi
		:: up(v) && first && v != first -> goto done
		:: else -> first = v
		fi };
delete:	atomic { /* recipes: session.Call */
		if
		:: deleted = deleted + up(z); z = z + up(z); once = (deleted <= 1); assert(once); goto done /* reached */
		:: breaks < BREAKS -> breaks++
		fi };
	if :: d_step { up(z) -> z++; deleted++ } :: true fi;
	if :: on(BUG_REMOVES_AGAIN) -> goto delete :: else -> goto look fi;
done:	atomic { removed = (!up(z) || z > from); assert(removed) }
}

proctype waiter() {
	byte from, v, first, met, watched;      /* the node for which it waits, the first one that it has met */

	from = z;
look:	atomic { /* recipes: recipes.Barrier.wait, recipes.statOf */
		if :: first || on(BUG_LOCAL_READ) -> catchUp(); if :: up(v) -> goto seen :: !up(v) && on(BUG_LOCAL_READ) -> goto pass :: else fi :: else fi };
ask:	atomic { /* recipes: recipes.Barrier.standing, session.Stands */
		if :: up(z) -> v = z :: !up(z) -> goto pass fi };
	atomic { catchUp(); if :: up(v) :: else -> goto ask fi };
seen:	atomic {
		if :: first && v > first && !on(BUG_ANY_NODE) -> goto pass :: else fi;
		first = (first && !on(BUG_ANY_NODE) -> first : v); met = (met -> met : first) };
	atomic { /* recipes: session.AwaitNode, session.Watch */
		catchUp(); watched = v;
		if
		:: !up(v) && !on(BUG_SLEEPS) -> goto look
		:: up(v) && v > first && !on(BUG_WATCH_ALONE) && !on(BUG_ANY_NODE) -> goto look
		:: else
		fi };
	if /* recipes: session.AwaitEvent */
	:: atomic { up(watched) && z > watched -> v = watched + 1; catchUp(); if :: on(BUG_ANY_WAKEUP) -> goto pass :: else -> goto look fi }
	:: atomic { breaks < BREAKS && up(watched) -> breaks++; if :: on(BUG_ANY_WAKEUP) -> goto pass :: else -> goto look fi }
	:: atomic { moves < MOVES -> moves++; v = 0; goto look } /* recipes: session.Keeper.Through */
	:: atomic { timeout -> awake = (z == met); assert(awake); goto finished }
	fi;
pass:	atomic { passed = (!up(z) || z > from); assert(passed) }; /* reached */
finished: skip
}

init {
	byte k;
	atomic { for (k : 1 .. REMOVES) { run remover() }; run setter(); run waiter(); k = 0 }
}
