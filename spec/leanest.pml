/* A waiter that asks the servers for as little as it can has its turn, once those before it have left, and no sooner.
 *
 * It watches the two nodes before its own by one request, waits for the further one to go, and lists the queue again
 * only when two or more are left. These are the choices of the recipes among those that mutex.pml leaves open: that
 * model has faults, and fewer sessions. Here each session has one contender, and no request is lost. A servers' message
 * may come late, but with PROMPT; a read may be old, but has the client's own writes.
 *
 * A node is a bit, a later node a higher bit, and a byte is a set of nodes.
 *
 * switch: N=n contenders, each with a session
 * switch: CANCELS=n how often a contender gives up
 * switch: PROMPT servers do not lag
 * switch: BUG_NO_SECOND_LOOK a watch is set, and not whether its node is there
 * switch: BUG_LISTS_NEVER a waiter takes the nodes that it knew at first for all that are ahead
 *
 * search: "three sessions, the leanest hand-over" quick -DN=3 -DCANCELS=1 => holds
 * search: "four sessions, the leanest hand-over" -DN=4 => holds
 * search: "four sessions, the leanest hand-over, a cancel" -DN=4 -DPROMPT -DCANCELS=1 => holds
 * search: "no second look" -DBUG_NO_SECOND_LOOK => stuck
 * search: "a list is older than the own node" -DBUG_LISTS_NEVER => violated inTurn
 */
#ifndef N
#define N 3
#endif
#ifdef PROMPT
#define lag false
#else
#define lag true
#endif
#ifdef BUG_NO_SECOND_LOOK
#define looks false
#else
#define looks true
#endif
#ifdef BUG_LISTS_NEVER
#define listed true
#endif

#define set byte
#define several(nodes) ((nodes) & ((nodes) - 1))

mtype = { NONE, CREATE, DELETE };

/* The leader: the nodes, and each contender's request. */
set stand, next = 1;
mtype request[N] = NONE;
bool came[N];
/* The messages to each client: a node that comes or goes, and whether its own request is answered by that. */
chan stream[N] = [8] of { set, bool };

/* The client of each contender. */
set view[N], known[N], node[N];                 /* of which it has been told; in its queue; its own */
set waits[N], watched[N];
bool asked[N], woken[N], believes[N], gone[N];

set token;                                      /* of the latest grant */
bool inTurn = true;
byte done, cancels;
set x; byte k; bool y;                          /* 0 between two steps */

/* Contenders are alike: it is enough that they create in the order of their numbers.
 * FollowerRequestProcessor, CommitProcessor, FinalRequestProcessor */
proctype leader(byte c) {
end:	do
	:: d_step { request[c] == CREATE && (c == 0 || came[c - (c > 0)]) || request[c] == DELETE ->
		if
		:: request[c] == CREATE -> came[c] = true; x = next; next = next << 1
		:: else -> x = node[c]
		fi;
		stand = stand ^ x;
		for (k : 0 .. N - 1) { if :: !gone[k] -> stream[k]!x,(k == c) :: else fi };
		request[c] = NONE; x = 0; k = 0 }
	od
}

inline hear() {
	stream[c]?x,y; view[c] = view[c] ^ x;
	if :: y -> asked[c] = false; node[c] = x :: else fi;
	woken[c] = woken[c] || (waits[c] & x & ~view[c]);
	x = 0; y = false
}
inline hearSome() { do :: nempty(stream[c]) -> d_step { hear() } :: empty(stream[c]) || lag -> break od }
#define answered (!asked[c] || stream[c]??[_,1])
inline hearAnswer() { d_step { answered -> do :: asked[c] -> hear() :: else -> break od } }
inline ask(what) { d_step { asked[c] = true; request[c] = what } }

#define mayCancel (!over && cancels < CANCELS)
#define ahead (known[c] & (node[c] - 1))
#define after(b) (ahead & ~(b | (b - 1)))
#define furtherOfTwo(b) ((b & ahead) && !several(after(b)) && (after(b) || !several(ahead)))
#define mustList (stale && several(ahead))

proctype contender(byte c) {
	set b;
	bool over, stale; /* over: it has held, or given up; stale: known may be shorter than that */
#ifndef BUG_LISTS_NEVER
	bool listed; /* in a list with its own node */
#endif

	ask(CREATE); /* recipes: queue.NewContender, queue.Contender.Enqueue */
	do
#ifdef CANCELS
	:: d_step { mayCancel -> cancels++; over = true }
#endif
	:: atomic { answered ->
		if
		:: hearSome(); known[c] = view[c] /* a list requested with the create, or before */
		:: true
		fi;
		hearAnswer(); known[c] = known[c] | node[c]; stale = true; /* recipes: queue.localQueue.join */
		if :: over -> goto leave :: else fi;
judge:		if /* recipes: queue.Contender.Wait, queue.localQueue.judge */
		:: ahead == 0 && listed -> goto turn
		:: ahead == 0 && !listed || mustList -> goto list
		:: ahead && !mustList -> b = 1
		fi;
		do
		:: furtherOfTwo(b) -> break
		:: else -> b = b << 1
		od;
		if /* recipes: queue.localQueue.waitFor, queue.Contender.awaitOther, session.Watch */
		:: b & watched[c]
		:: else -> hearSome(); watched[c] = watched[c] | b | after(b)
		fi;
		if
		:: !(b & view[c]) && looks -> d_step { known[c] = known[c] & ~b; b = 0; stale = true }; goto judge
		:: else -> d_step { waits[c] = b; b = 0 }; goto wait
		fi;
list:		hearSome(); stale = false; known[c] = view[c]; /* recipes: queue.localQueue.list, queue.localQueue.apply */
#ifndef BUG_LISTS_NEVER
		listed = true;
#endif
		goto judge }
	od;
wait:	if
	:: atomic { /* recipes: queue.localQueue.gone */
		d_step { woken[c] || waits[c] & view[c] & ~stand ->
			do :: !woken[c] -> hear() :: else -> break od;
			woken[c] = false; known[c] = known[c] & (view[c] | ~waits[c]); waits[c] = 0; stale = true; /* reached */
		};
		goto judge }
#ifdef CANCELS
	:: atomic { mayCancel -> d_step { cancels++; over = true; woken[c] = false; waits[c] = 0 }; goto leave }
#endif
	fi;
turn:	if
	:: d_step { !over -> /* recipes: recipes.newHold */
		for (k : 0 .. N - 1) { assert(!believes[k]) };
		k = 0; inTurn = !(stand & (node[c] - 1));
		assert(inTurn);
		assert(node[c] > token);
		token = node[c]; believes[c] = true; over = true }
#ifdef CANCELS
	:: atomic { mayCancel -> cancels++; over = true; goto leave }
#endif
	fi;
leave:	atomic { /* recipes: queue.Contender.Leave, session.DeleteByGUID */
		believes[c] = false; ask(DELETE); hearAnswer();
		d_step { done++; came[c] = true; gone[c] = true; view[c] = 0; known[c] = 0; node[c] = 0; watched[c] = 0;
			do :: nempty(stream[c]) -> stream[c]?_,_ :: empty(stream[c]) -> break od }
	}
}

init {
	byte c;
	atomic { for (c : 0 .. N - 1) { run leader(c); run contender(c) }; c = 0 };
end:	atomic { done == N -> assert(stand == 0) }
}
