/* At most one client believes that it holds the mutex; clients hold it in the order of their places,
 * each with a higher token; each waiter has its turn; when all have left no node remains.
 *
 * A contender creates a node, lists the queue, waits until the nodes ahead are gone, is granted the mutex
 * while its session has evidence, and deletes its node. The leader orders the transactions. The servers tell
 * their clients of them in that order, sooner or later, so a client may read an old state, but sees its
 * own writes. A session that has evidence is not expired: lease.pml shows this, and here it is assumed.
 *
 * The model leaves open which node ahead a contender watches, whether it watches others in the same
 * request, whether it lists before its node exists, and whether it lists after a node is gone. The choices of
 * the recipes are among these, so no promise depends on them. LEAN makes these choices. A real waiter looks
 * again after 3/4 of the timeout; a waiter of the model does not, so a missed wake-up leaves it waiting. All
 * faults have a limit, and so has every run.
 *
 * A node is a bit, a later node a higher bit, and a byte is a set of nodes.
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
 * switch: REAPS=n how often the empty directory is deleted, and the numbers of nodes begin anew
 * switch: WRITES a holder writes, guarded by its node
 * switch: LEAN a contender watches the two before it by one request, and lists again only when two or more are left
 * switch: FOLLOWS a session lists nothing when its last holder's create, that one's delete and the create come one after the other
 * switch: PROMPT servers do not lag
 * switch: EXPIRED_HOLDER an assertion that no session that was granted last is expired while another waits
 * switch: BUG_GRANT_WITHOUT_EVIDENCE who is first is granted without evidence
 * switch: BUG_NO_DEADLINE a lease goes on without evidence
 * switch: BUG_NO_OWN_NODE first in a list that lacks the own node
 * switch: BUG_FOLLOWS_LATER FOLLOWS, and one more transaction may lie between
 * switch: BUG_FOLLOWS_UNSEEN FOLLOWS, and the delete may be answered after the create was sent
 * switch: BUG_EVENT_IS_TURN the node before has gone, so it must be one's turn
 * switch: BUG_NO_SECOND_LOOK a watch is set, and not whether its node is there
 * switch: BUG_WATCH_LOST_ON_RECONNECT a waiter does not look again after a reconnect
 * switch: BUG_WATCH_KEPT_ON_RECONNECT a waiter looks again, and takes its watches for set
 * switch: BUG_WAITS_ON a waiter does not hear that its session has ended
 * switch: BUG_CREATE_AGAIN a create whose answer is lost is sent again, without a look
 * switch: BUG_STALE_FIND the search for its node asks a server that lags
 * switch: BUG_SETTLE_BY_SYNC the search comes after a sync, not after a write
 * switch: BUG_ADOPT_OLD_SESSION a node of the session before is adopted
 * switch: BUG_REQUEST_IN_NEXT_SESSION a request of a session is sent in the next one
 * switch: BUG_CANCEL_LEAVES_NODE who gives up before the create is answered leaves the node
 * switch: BUG_RELEASE_GIVES_UP a delete whose answer is lost is not repeated
 * switch: BUG_DELETE_BY_NAME names have a number and no guid
 * switch: BUG_SEQUENCE_TOKEN the token is the node's number
 * switch: BUG_HANDOVER_EARLY the next contender of the session has its turn before the last write has ended
 *
 * search: "two sessions, two rounds, a broken connection" quick -DROUNDS=2 -DBREAKS=1 => holds
 * search: "two sessions, two rounds, two broken connections" -DROUNDS=2 -DBREAKS=2 => holds
 * search: "two sessions, two rounds, an expiry" -DROUNDS=2 -DSILENCES=1 => holds
 * search: "a broken connection, an expiry, a cancel" -DBREAKS=1 -DSILENCES=1 -DCANCELS=1 -DWRITES => holds
 * search: "a broken connection, a crash, an end that is told early" -DBREAKS=1 -DCRASHES=1 -DDEPOSED=1 => holds
 * search: "a broken connection, numbers begin anew" -DROUNDS=2 -DBREAKS=1 -DREAPS=1 => holds
 * search: "three sessions, a broken connection" -DN=3 -DBREAKS=1 => holds
 * search: "three sessions, an expiry" -DN=3 -DSILENCES=1 => holds
 * search: "three sessions, a crash" -DN=3 -DCRASHES=1 => holds
 * search: "three sessions, a cancel" -DN=3 -DCANCELS=1 => holds
 * search: "three sessions, a node deleted by others" -DN=3 -DADMINS=1 => holds
 * search: "four sessions, the leanest hand-over" -DN=4 -DLEAN => holds
 * search: "four sessions, the leanest hand-over, a cancel" -DN=4 -DLEAN -DPROMPT -DCANCELS=1 => holds
 * search: "no list after the own delete" -DFOLLOWS -DROUNDS=2 => holds
 * search: "no list after the own delete, a broken connection" -DFOLLOWS -DROUNDS=2 -DBREAKS=1 => holds
 * search: "no list after the own delete, an expiry" -DFOLLOWS -DROUNDS=2 -DSILENCES=1 => holds
 * search: "no list after the own delete, numbers begin anew" -DFOLLOWS -DROUNDS=2 -DREAPS=1 => holds
 * search: "no list after the own delete, a session told too early" -DFOLLOWS -DROUNDS=2 -DDEPOSED=1 => holds
 * search: "no list after the own delete, a node deleted by others" -DFOLLOWS -DROUNDS=2 -DADMINS=1 => holds
 * search: "no list after the own delete, two contenders of a session" -DFOLLOWS -DSHARED -DN=3 => holds
 * search: "two contenders of a session and one of another, a cancel" -DN=3 -DSHARED -DCANCELS=1 => holds
 * search: "two contenders of a session, writes, two broken connections" -DSHARED -DWRITES -DBREAKS=2 -DROUNDS=2 => holds
 * search: "the one granted last is expired while another waits" -DEXPIRED_HOLDER -DSILENCES=1 => violated
 * search: "no evidence" -DBUG_GRANT_WITHOUT_EVIDENCE -DSILENCES=1 => violated alone
 * search: "no deadline" -DBUG_NO_DEADLINE -DSILENCES=1 => violated alone
 * search: "the list lacks the own node" -DBUG_NO_OWN_NODE => violated inTurn
 * search: "another create lies between" -DBUG_FOLLOWS_LATER -DROUNDS=2 => violated inTurn
 * search: "the delete is answered after the create" -DBUG_FOLLOWS_UNSEEN -DSHARED -DN=3 => violated inTurn
 * search: "the event is taken for the turn" -DBUG_EVENT_IS_TURN -DN=3 -DCANCELS=1 => violated inTurn
 * search: "no second look" -DBUG_NO_SECOND_LOOK => stuck
 * search: "the watch is lost" -DBUG_WATCH_LOST_ON_RECONNECT -DBREAKS=1 => stuck
 * search: "the watch is taken for set" -DBUG_WATCH_KEPT_ON_RECONNECT -DBREAKS=1 => stuck
 * search: "the end of the session is not heard" -DBUG_WAITS_ON -DSILENCES=1 => stuck
 * search: "two nodes" -DBUG_CREATE_AGAIN -DBREAKS=1 => stuck
 * search: "the search asks a server that lags" -DBUG_STALE_FIND -DBREAKS=1 => stuck
 * search: "the search comes after a sync" -DBUG_SETTLE_BY_SYNC -DBREAKS=1 => stuck
 * search: "the node of a dying session" -DBUG_ADOPT_OLD_SESSION -DDEPOSED=1 => violated
 * search: "the request in the next session" -DBUG_REQUEST_IN_NEXT_SESSION -DSILENCES=1 => stuck
 * search: "the cancel leaves the node" -DBUG_CANCEL_LEAVES_NODE -DCANCELS=1 => stuck
 * search: "the release gives up" -DBUG_RELEASE_GIVES_UP -DBREAKS=1 => stuck
 * search: "the delete hits another node" -DBUG_DELETE_BY_NAME -DBREAKS=1 -DREAPS=1 -DROUNDS=2 => violated alone
 * search: "the token falls" -DBUG_SEQUENCE_TOKEN -DREAPS=1 => violated grows
 * search: "the next turn comes before the last write" -DBUG_HANDOVER_EARLY -DSHARED -DWRITES => violated inOrder
 */
#ifndef N
#define N 2
#endif
#ifndef TRACE
#define TRACE 0
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#if TRACE
#define S(c) slot[c]
#define SESSIONS N
#elif defined(SHARED)
#define S(c) ((c) / 2)
#define SESSIONS (S(N - 1) + 1)
#else
#define S(c) (c)
#define SESSIONS N
#endif
/* on(X) is 1 with -DX, and 0 otherwise. */
#define PASTED_1 0,
#define SECOND(a, b, ...) b
#define PICK(x) SECOND(x 1, 0)
#define PASTE(x) PICK(PASTED_##x)
#define on(x) PASTE(x)

#define several(nodes) ((nodes) & ((nodes) - 1))
#define s S(c) /* the session of contender c */
#define each(code) for (k : 0 .. N - 1) { if :: S(k) == s -> code :: else fi }; k = 0

mtype = { CREATE, DELETE, SETTLE, SYNC, WRITE, ASKED, OK, NONODE, LOST };

#if TRACE
#define set int
#define ROOM 80
#define MOST (1 << 30)
#else
#define set byte
#define ROOM 12
#define MOST 128
#endif

/* The state of the leader: nodes, sessions, and each contender's requests. */
set stand, next = 1, first = 1, removed;        /* first: the first node of this directory; removed: by others */
set mine[SESSIONS], old[SESSIONS];              /* nodes; old: of a session that its client has left */
bool alive[SESSIONS], oldAlive[SESSIONS];
set last[SESSIONS];                             /* the nodes when the session was expired: its client hears no more */
mtype request[N], late[N];                      /* late: of a connection that has broken */
set about[N], lateAbout[N], number[N];
byte age[N];                                    /* the number of that connection */
bool stray[N], came[N];                         /* stray: late is of a session that its client has left */

/* The messages of the servers to each session's client: nodes that come or go, the contender that is answered, and the answer. */
chan stream[SESSIONS] = [ROOM] of { set, byte, mtype };

/* The state of a client: of its session, */
set view[SESSIONS], known[SESSIONS];            /* nodes of which it has been told; nodes in the local queue */
set leaving[SESSIONS];                          /* own nodes being deleted */
bool evidence[SESSIONS], ended[SESSIONS], dead[SESSIONS];
/* and of each contender. */
set node[N], guid[N], made[N];                  /* guid: nodes with its guid; made: by the answer */
set waits[N], watched[N], deaf[N];              /* deaf: watches that the servers do not have */
bool listed[N], woken[N], believes[N];
mtype answer[N];

#if on(FOLLOWS) || on(BUG_FOLLOWS_LATER) || on(BUG_FOLLOWS_UNSEEN)
/* Transactions that changed nodes; those before the create of each contender's node, and of each session's last holder's. */
byte changes = 1, created[N], held[SESSIONS];
#define before (on(BUG_FOLLOWS_UNSEEN) -> held[s] : seen)
#define follows (before != 0 && created[c] - before <= 2 + on(BUG_FOLLOWS_LATER))
#define look() seen = held[s]
#define changed() if :: x != 0 -> changes++ :: else fi
#define createdNow() created[c] = changes
#define hasLeft() held[s] = (hadTurn -> created[c] : 0); hadTurn = false
#define heldNothing() held[s] = 0; hadTurn = false; seen = 0
#else
#define follows false
#define changed() skip
#define createdNow() skip
#define look() skip
#define hasLeft() skip
#define heldNothing() skip
#endif
set token, written;                             /* of the latest grant, and of the latest write */
bool alone = true, inTurn = true, grows = true, inOrder = true, clean = true;
byte done, breaks, silences, cancels, crashes, deposed, admins, reaps;
set x; byte k; mtype a;                         /* 0 between two steps */

#if TRACE
/* A run on record. A step that a record speaks of is made only as its next line, and leads to the line after it. Until
 * then only the session of that line takes steps: what a client does unseen, it can do as late as that. */
byte slot[N + 1], due;                          /* slot: each contender's session; due: that of the next line */
byte kind, who, at; set what; int line, window;         /* the next line: its kind, contender, session of that, nodes */
byte epoch[N], epochs[N];                       /* sessions before the current one; those on record */
bool granted[N], noted;                         /* granted: the acquire succeeds, by the record */
byte holder[N];                                 /* by session: the contender that believes, plus 1 */
c_code { \#include "trace.inc" }
#define BEGUN 1
#define CREATED 2
#define DELETED 3
#define WRITTEN 4
#define GRANTED 5
#define LOSS 6
#define RELEASED 7
#define ANSWERED 8
#define ENDED 9
#define OTHERS 10
#define EMPTY 11
#define WINDOW 12
#define DUE provided (slot[(_pid - 1) / 3] == due)
#define may(count, limit) true
#define counted(count) skip
#define isNext(k) (alone && inTurn && grows && inOrder && kind == k)
#define is(k, nodes, e) (isNext(k) && who == c && what == (nodes) && at == (e))
#define step() breaks = 0; deposed = 0; c_code { zk_next(); }
#define visible(op, nodes) (op == CREATE || (op == DELETE || op == WRITE) && ((nodes) & stand))
#define onRecord(op, nodes, e) (!visible(op, nodes) || is((op == CREATE -> CREATED : (op == DELETE -> DELETED : WRITTEN)), (op == CREATE -> next : nodes), e))
#define note(op, nodes) noted = visible(op, nodes)
#define recorded() if :: noted -> noted = false; step() :: else fi
#define leaves (!believes[c] || is(RELEASED, 0, 0))
#define loses (holder[s] == 0 || holder[s] == c + 1 && is(LOSS, 0, 0))
#define noteBelief() noted = believes[c]; if :: noted -> holder[s] = 0 :: else fi
#define noteHolder() holder[s] = c + 1
#define endOnRecord(e) is(ENDED, 0, e)
#define grantOnRecord is(GRANTED, node[c], 0)
#define othersOnRecord isNext(OTHERS)
#define theirs(b) (what == (b))
#define stepped() step()
#define renewed() epoch[s]++
#define anotherOnRecord (epoch[s] < epochs[s])
#else
#define DUE
#define may(count, limit) (count < limit)
#define counted(count) count++
#define onRecord(op, nodes, e) true
#define note(op, nodes) skip
#define recorded() skip
#define leaves true
#define loses true
#define noteBelief() skip
#define noteHolder() skip
#define endOnRecord(e) true
#define grantOnRecord true
#define othersOnRecord true
#define theirs(b) true
#define stepped() skip
#define renewed() skip
#define anotherOnRecord true
#endif

/* Tells all servers of a transaction, and answers contender c. */
inline commit(how) {
	for (k : 0 .. SESSIONS - 1) {
		if
		:: alive[k] && !ended[k] && how != 0 && k == s -> stream[k]!x,c + 1,how
		:: alive[k] && !ended[k] && x != 0 && !(how != 0 && k == s) -> stream[k]!x,0,0
		:: else
		fi
	};
	changed(); x = 0; k = 0; a = 0
}
inline remove(nodes) {
	x = nodes; stand = stand & ~x;
	for (k : 0 .. SESSIONS - 1) { mine[k] = mine[k] & ~x; old[k] = old[k] & ~x }
}
inline carryOut(op, nodes, isStray) {
	a = OK;
	if
	:: op == CREATE ->
		came[c] = true; x = next; assert(next < MOST); next = next << 1; stand = stand | x; number[c] = x / first;
		if
		:: !isStray -> createdNow(); mine[s] = mine[s] | x; guid[c] = guid[c] | x
		:: isStray && !on(BUG_REQUEST_IN_NEXT_SESSION) -> old[s] = old[s] | x
		:: isStray && on(BUG_REQUEST_IN_NEXT_SESSION) -> mine[s] = mine[s] | x
		fi
	:: op == DELETE ->
		x = nodes; if :: on(BUG_DELETE_BY_NAME) -> x = x * first :: else fi; /* a name is a number and a guid */
		remove(x & stand);
		if :: x == 0 -> a = NONODE :: else fi
	:: op == WRITE && (nodes & stand) -> inOrder = (nodes >= written); assert(inOrder); written = nodes
	:: op == WRITE && !(nodes & stand) -> a = NONODE
	:: else
	fi
}
inline forget() { late[k] = 0; lateAbout[k] = 0; age[k] = 0; stray[k] = false }

/* Contenders with sessions of their own are alike: it is enough that they create in the order of their numbers. */
#if TRACE || defined(SHARED)
#define mayCome(op) true
#else
#define mayCome(op) (op != CREATE || c == 0 || came[c - (c > 0)])
#endif

proctype leader(byte c) DUE {
end:	do
	:: d_step { request[c] != 0 && alive[s] && mayCome(request[c]) && onRecord(request[c], about[c], epoch[s]) ->
		note(request[c], about[c]);
		if
		:: request[c] != SYNC -> each(if :: !stray[k] -> forget() :: else fi) /* the session has moved */
		:: else
		fi;
		carryOut(request[c], about[c], false); commit(a);
		request[c] = 0; about[c] = 0; recorded() }
	:: d_step { late[c] != 0 && (stray[c] && !on(BUG_REQUEST_IN_NEXT_SESSION) -> oldAlive[s] : alive[s]) && mayCome(late[c]) && onRecord(late[c], lateAbout[c], epoch[s] - stray[c]) ->
		note(late[c], lateAbout[c]);
		each(if :: !stray[k] && age[k] < age[c] -> forget() :: else fi);
		carryOut(late[c], lateAbout[c], stray[c]); commit(0);
		k = c; forget(); k = 0; recorded() }
	od
}

#if BREAKS || SILENCES || CANCELS || CRASHES || DEPOSED || ADMINS || REAPS
#define happened (breaks + silences + cancels + crashes + deposed + admins + reaps)
#else
#define happened true
#endif
#define FAULTS (BREAKS || SILENCES || CRASHES || DEPOSED)
#if FAULTS
/* The faults of the session of contender c. */
proctype session(byte c) DUE {
	byte j;
end:	do
#if BREAKS
	:: atomic { alive[s] && !ended[s] && breaks < BREAKS -> breaks++;
		d_step {
			k = len(stream[s]); /* messages after the break answer no request */
			do :: k > 0 -> stream[s]?x,_,_; k--; if :: x != 0 -> stream[s]!x,0,0 :: else fi :: else -> break od;
			x = 0
		};
		do
		:: j < N && S(j) != s -> j++
		:: j < N && S(j) == s ->
			if
			:: request[j] != 0 && !stray[j] -> late[j] = request[j]; lateAbout[j] = about[j]; age[j] = breaks
			:: true
			fi;
			request[j] = 0; about[j] = 0; if :: answer[j] == ASKED -> answer[j] = LOST :: else fi;
			deaf[j] = watched[j]; woken[j] = (waits[j] != 0 && !on(BUG_WATCH_LOST_ON_RECONNECT));
			if :: !on(BUG_WATCH_LOST_ON_RECONNECT) && !on(BUG_WATCH_KEPT_ON_RECONNECT) -> watched[j] = 0; deaf[j] = 0 :: else fi;
			j++
		:: else -> break
		od;
		j = 0 }
#endif
#if SILENCES
	/* recipes: recipes.hold.atDeadline, recipes.hold.Lose */
	:: d_step { evidence[s] && alive[s] && may(silences, SILENCES) && loses ->
		noteBelief(); counted(silences); evidence[s] = false; believes[c] = believes[c] && on(BUG_NO_DEADLINE); recorded() }
	/* recipes: session.heartbeat.beat */
	:: d_step { alive[s] && !ended[s] && !evidence[s] -> evidence[s] = true }
	:: d_step { alive[s] && !evidence[s] && endOnRecord(epoch[s]) ->
		assert(!(on(EXPIRED_HOLDER) && (token & mine[s]) && several(stand)));
		last[s] = stand; remove(mine[s]); alive[s] = false; commit(0);
		if :: !stray[c] -> k = c; forget(); k = 0 :: else fi;
		if :: !on(BUG_REQUEST_IN_NEXT_SESSION) -> request[c] = 0; about[c] = 0 :: else fi; stepped() }
	:: d_step { !alive[s] && !ended[s] && !dead[s] -> ended[s] = true; believes[c] = false }
#endif
#if DEPOSED
	:: d_step { alive[s] && !ended[s] && deposed < DEPOSED && anotherOnRecord && loses ->
		noteBelief(); deposed++; ended[s] = true; believes[c] = false; recorded() }
#endif
#if CRASHES
	:: d_step { !dead[s] && alive[s] && !ended[s] && crashes < CRASHES -> crashes++; dead[s] = true; believes[c] = false }
#endif
#if DEPOSED || CRASHES
	:: d_step { oldAlive[s] && endOnRecord(epoch[s] - 1) ->
		oldAlive[s] = false; remove(old[s]); commit(0); if :: stray[c] -> k = c; forget(); k = 0 :: else fi; stepped() }
#endif
	od
}
#endif

/* A client hears of transactions in their order. The time of the message matters only for the next read. So the
 * client hears late, and all actions of a contender between two waits are one step: its reads may still be old. */
inline hear() {
	stream[s]?x,k,a; view[s] = view[s] ^ x;
	if :: k > 0 -> answer[k - 1] = a; made[k - 1] = x :: else fi;
	each(if :: waits[k] & x & ~view[s] & ~deaf[k] -> woken[k] = true :: else fi);
	x = 0; a = 0
}
inline hearSome() { do :: nempty(stream[s]) -> d_step { hear() } :: empty(stream[s]) || !on(PROMPT) -> break od }
#define answered (answer[c] != ASKED || stream[s]??[_,eval(c + 1),_])
inline hearAnswer() { d_step { answered -> do :: answer[c] == ASKED -> hear() :: else -> break od } }
inline ask(op, nodes) { answer[c] = ASKED; d_step { request[c] = op; about[c] = nodes } }
inline heard() { answer[c] = 0; made[c] = 0 }
#if TRACE
#define mayCancel (!over && !granted[c])
#else
#define mayCancel (!over && cancels < CANCELS)
#endif
inline cancel() { counted(cancels); over = true }
#define ahead (known[s] & (node[c] - 1))
#define after(b) (ahead & ~(b | (b - 1)))
#define choice(b) ((b & ahead) && (!on(LEAN) || !several(after(b)) && (after(b) || !several(ahead))))
#define further(b) (after(b) && !(on(LEAN) && choice(b)))
#define mayList (ahead && stale && (!on(LEAN) || several(ahead)))
#define mayWatch (ahead && !(on(LEAN) && mayList))
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
	set b; byte rounds, seen;
	bool over, stale, hadTurn; /* over: it has held, or given up; stale: known may be shorter than that; hadTurn: with this node;
	                           * seen: of held, when the create was sent */

round:	if
#if TRACE
	:: d_step { isNext(BEGUN) && who == c -> granted[c] = what; over = false; step() }
	:: atomic { is(ANSWERED, 0, 0) -> d_step { step() }; goto round }
#else
	:: rounds == ROUNDS -> goto finished
	:: else -> rounds++; over = false
#endif
	fi;
	{ skip;
again:	atomic { /* recipes: queue.NewContender, queue.Contender.Enqueue, queue.enqueueAll */
		d_step { guid[c] = 0; node[c] = 0; listed[c] = false };
create:		look(); ask(CREATE, 0)
	};
	do
#if CANCELS
	:: d_step { mayCancel -> cancel() }
#endif
	:: atomic { answered ->
		if
		:: hearSome(); known[s] = view[s] & ~leaving[s] /* a list requested with the create, or before */
		:: true                                         /* or the nodes known from before */
		fi;
		hearAnswer();
		if
		:: answer[c] == OK -> d_step { node[c] = made[c]; heard() }; goto placed
		:: else -> heard()
		fi;
		if
		:: on(BUG_CREATE_AGAIN) -> goto create
		:: on(BUG_STALE_FIND) -> goto found
		:: else
		fi;
find:		if :: on(BUG_SETTLE_BY_SYNC) -> ask(SYNC, 0) :: else -> ask(SETTLE, 0) fi;
		hearAnswer();
		if
		:: answer[c] == LOST -> heard(); goto find
		:: else -> heard()
		fi;
found:		hearSome(); /* recipes: queue.findContenders, session.FindByGUID, session.SettledChildren, session.Identify */
		node[c] = view[s] & guid[c] & -(view[s] & guid[c]);
		if
		:: node[c] == 0 && over -> goto round
		:: node[c] == 0 && !over -> goto create
		:: else
		fi;
placed:		known[s] = known[s] | node[c]; stale = true; /* recipes: queue.localQueue.join, queue.Contender.follows */
		if :: follows -> listed[c] = true :: else fi;
		if
		:: over && !on(BUG_CANCEL_LEAVES_NODE) -> goto leave
		:: over && on(BUG_CANCEL_LEAVES_NODE) -> goto round
		:: else
		fi;
judge:		if /* recipes: queue.Contender.Wait, queue.localQueue.judge */
		:: ahead == 0 && (listed[c] || on(BUG_NO_OWN_NODE)) -> goto turn
		:: ahead == 0 && !(listed[c] || on(BUG_NO_OWN_NODE)) -> goto list
		:: mayList -> goto list
		:: mayWatch -> b = 1
		fi;
		do
		:: choice(b) -> break
		:: further(b) -> b = b << 1
		od;
		if /* recipes: queue.localQueue.waitFor, queue.Contender.awaitOther, queue.Contender.awaitOwn, session.Watch */
		:: (b & watched[c]) || own(b)
		:: else -> hearSome();
			if
			:: !on(LEAN) -> watched[c] = watched[c] | b; deaf[c] = deaf[c] & ~b
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
	:: d_step { (evidence[s] || on(BUG_GRANT_WITHOUT_EVIDENCE)) && grantOnRecord ->
		if
		:: removed & node[c] /* it is told within a heartbeat */
		:: else ->
			for (k : 0 .. N - 1) { if :: believes[k] && !(removed & node[k]) -> alone = false :: else fi };
			k = 0; assert(alone);
			inTurn = !(stand & (node[c] - 1) & ~leaving[s]);
			assert(inTurn);
			x = (on(BUG_SEQUENCE_TOKEN) -> number[c] : node[c]);
			grows = (x > token); token = x; x = 0;
			assert(grows)
		fi;
		believes[c] = true; over = true; hadTurn = true; noteHolder(); stepped() }
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
		atomic { hearAnswer(); heard() }
	:: skip
	fi;
#endif
leave:	/* recipes: recipes.Lease.release, queue.Contender.Grant, queue.Contender.Leave, session.RemoveHere,
	 * session.DeleteInBackground, session.DeleteByGUID */
	atomic {
		turnOver();
delete:		if :: on(BUG_DELETE_BY_NAME) -> ask(DELETE, number[c]) :: else -> ask(DELETE, node[c]) fi;
		hearAnswer();
		if
		:: answer[c] == LOST && !on(BUG_RELEASE_GIVES_UP) -> heard(); goto delete
		:: else -> d_step { leaving[s] = leaving[s] & ~node[c]; hasLeft(); node[c] = 0; watched[c] = 0; heard() }; goto round
		fi }
	} unless { atomic { /* recipes: session.Keeper.run, recipes.Client.inSession */
		dead[s] || ended[s] && !(on(BUG_WAITS_ON) && waits[c] != 0) ->
		d_step {
			if /* the leader keeps a session that its client has left until it expires it */
			:: alive[s] -> oldAlive[s] = true; old[s] = old[s] | mine[s]; mine[s] = 0; alive[s] = false;
				if :: request[c] != 0 -> late[c] = request[c]; lateAbout[c] = about[c] :: else fi;
				stray[c] = (late[c] != 0)
			:: !alive[s] && on(BUG_REQUEST_IN_NEXT_SESSION) -> late[c] = request[c]; lateAbout[c] = about[c]; stray[c] = true
			:: else
			fi;
			request[c] = 0; about[c] = 0; heard();
			heldNothing(); known[s] = 0; leaving[s] = 0; waits[c] = 0; watched[c] = 0; deaf[c] = 0; woken[c] = false; b = 0; stale = false;
			k = len(stream[s]); do :: k > 0 -> stream[s]?_,_,_; k-- :: else -> break od
		};
		if
		:: dead[s] -> node[c] = 0; goto finished
		:: else ->
			d_step { alive[s] = true; evidence[s] = true; ended[s] = false; view[s] = stand; last[s] = 0; renewed() };
			if
			:: over -> node[c] = 0; goto round
			:: !over && on(BUG_ADOPT_OLD_SESSION) -> node[c] = 0; goto find
			:: else -> goto again
			fi
		fi } };
finished:
	atomic { done++; came[c] = true;
#ifndef SHARED
		ended[s] = true; view[s] = 0; known[s] = 0; /* it hears no more */
		k = len(stream[s]); do :: k > 0 -> stream[s]?_,_,_; k-- :: else -> break od
#endif
	}
}

#if ADMINS || REAPS
proctype outsider() DUE {
	byte c; set b = 1;
end:	do
#if ADMINS
	:: atomic { stand != 0 && may(admins, ADMINS) && othersOnRecord -> counted(admins);
		do
		:: (b & stand) && theirs(b) -> break
		:: stand & ~(b | (b - 1)) -> b = b << 1
		od;
		d_step { removed = removed | b; remove(b); commit(0); b = 1; stepped() } }
#endif
#if REAPS
	:: d_step { stand == 0 && first < next && reaps < REAPS -> reaps++; first = next }
#endif
	od
}
#endif

#define settled (done == N && !late[0] && !late[1] && !late[N - 1] && !oldAlive[0] && !oldAlive[S(1)] && !oldAlive[S(N - 1)])
init {
	byte c;
	atomic {
#if TRACE
		c_code { zk_load(); };
		for (c : 0 .. N - 1) { slot[c] = c };
#endif
		for (c : 0 .. N - 1) {
			alive[s] = true; evidence[s] = true;
			run leader(c); run contender(c);
#if FAULTS
			if :: TRACE || c == 0 || S(c) != S(c - 1) -> run session(c) :: else fi
#endif
		};
#if ADMINS || REAPS
		run outsider();
#endif
		c = 0
	};
#if TRACE
	do
	:: d_step { isNext(EMPTY) && stand == 0 -> step() }
	:: d_step { isNext(WINDOW) -> c_code { zk_window(); } }
	od;
#endif
end:	atomic { settled -> clean = (stand == 0); assert(clean) }
}
