/* At most one client believes that it holds the mutex, they hold it in the order of their places,
 * and a client waits only while another one is ahead.
 *
 * The leader orders all transactions. Each server tells its clients of them in that order, later or
 * sooner: a client reads an old state, but sees its own writes. A contender creates a node, lists the
 * queue, waits for the nodes ahead to go, is granted the mutex when its session has evidence, and deletes its
 * node. That a session with evidence is not expired is what lease.pml proves; here it is assumed.
 *
 * What a contender may choose is left open: which node ahead it watches, whether it watches the
 * others with the same request, whether it lists before its own node is there, and whether it lists again after a node has gone. All
 * choices of recipes are among these, so none of them but those below, each of which is a bug when it is missing, is needed for a promise.
 * A contender that waits looks again after 3/4 of the timeout; the model's does not, so
 * that a missed wake-up shows.
 *
 * A node is a bit, a later node a higher one, and a byte is a set of nodes.
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
 * switch: BUG_GRANT_WITHOUT_EVIDENCE who is first is granted without evidence
 * switch: BUG_NO_DEADLINE a lease goes on without evidence
 * switch: BUG_NO_OWN_NODE first in a list that lacks the own node
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
 * search: "two sessions, two rounds, an expiry" quick -DROUNDS=2 -DSILENCES=1 => holds
 * search: "a broken connection, an expiry, a cancel" -DBREAKS=1 -DSILENCES=1 -DCANCELS=1 -DWRITES => holds
 * search: "a broken connection, a crash, an end that is told early" -DBREAKS=1 -DCRASHES=1 -DDEPOSED=1 => holds
 * search: "a broken connection, numbers begin anew" -DROUNDS=2 -DBREAKS=1 -DREAPS=1 => holds
 * search: "three sessions, a broken connection" -DN=3 -DBREAKS=1 => holds
 * search: "three sessions, an expiry" -DN=3 -DSILENCES=1 => holds
 * search: "three sessions, a crash, a cancel" -DN=3 -DCRASHES=1 -DCANCELS=1 => holds
 * search: "three sessions, a node deleted by others" -DN=3 -DADMINS=1 => holds
 * search: "four sessions" -DN=4 => holds
 * search: "two contenders of a session and one of another, a cancel" -DN=3 -DSHARED -DCANCELS=1 => holds
 * search: "two contenders of a session, writes, two broken connections" -DSHARED -DWRITES -DBREAKS=2 -DROUNDS=2 => holds
 * search: "no evidence" quick -DBUG_GRANT_WITHOUT_EVIDENCE -DSILENCES=1 => violated alone
 * search: "no deadline" -DBUG_NO_DEADLINE -DSILENCES=1 => violated alone
 * search: "the list lacks the own node" quick -DBUG_NO_OWN_NODE => violated inTurn
 * search: "the event is taken for the turn" -DBUG_EVENT_IS_TURN -DN=3 -DCANCELS=1 => violated inTurn
 * search: "no second look" quick -DBUG_NO_SECOND_LOOK => stuck
 * search: "the watch is lost" -DBUG_WATCH_LOST_ON_RECONNECT -DBREAKS=1 => stuck
 * search: "the watch is taken for set" -DBUG_WATCH_KEPT_ON_RECONNECT -DBREAKS=1 => stuck
 * search: "the end of the session is not heard" -DBUG_WAITS_ON -DSILENCES=1 => stuck
 * search: "two nodes" -DBUG_CREATE_AGAIN -DBREAKS=1 => stuck
 * search: "the search asks a server that lags" -DBUG_STALE_FIND -DBREAKS=1 => stuck
 * search: "the search comes after a sync" -DBUG_SETTLE_BY_SYNC -DBREAKS=1 => stuck
 * search: "the node of a dying session" -DBUG_ADOPT_OLD_SESSION -DDEPOSED=1 => violated
 * search: "the request in the next session" -DBUG_REQUEST_IN_NEXT_SESSION -DSILENCES=1 => stuck
 * search: "the cancel leaves the node" quick -DBUG_CANCEL_LEAVES_NODE -DCANCELS=1 => stuck
 * search: "the release gives up" -DBUG_RELEASE_GIVES_UP -DBREAKS=1 => stuck
 * search: "the delete hits another node" -DBUG_DELETE_BY_NAME -DBREAKS=1 -DREAPS=1 -DROUNDS=2 => violated alone
 * search: "the token falls" quick -DBUG_SEQUENCE_TOKEN -DREAPS=1 => violated grows
 * search: "the next turn comes before the last write" quick -DBUG_HANDOVER_EARLY -DSHARED -DWRITES => violated inOrder
 */
#ifndef N
#define N 2
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef BREAKS
#define BREAKS 0
#endif
#ifndef SILENCES
#define SILENCES 0
#endif
#ifndef CANCELS
#define CANCELS 0
#endif
#ifndef CRASHES
#define CRASHES 0
#endif
#ifndef DEPOSED
#define DEPOSED 0
#endif
#ifndef ADMINS
#define ADMINS 0
#endif
#ifndef REAPS
#define REAPS 0
#endif
#ifdef SHARED
#define S(c) ((c) / 2)
#else
#define S(c) (c)
#endif
#define SESSIONS (S(N - 1) + 1)
#define s S(c) /* the session of contender c */
#define each(code) for (k : 0 .. N - 1) { if :: S(k) == s -> code :: else fi }; k = 0

mtype = { CREATE, DELETE, SETTLE, SYNC, WRITE, ASKED, OK, NONODE, LOST };

/* What the leader knows: of nodes, of each session, and of each contender's requests. */
byte stand, next = 1, first = 1, removed;       /* first: of this directory; removed: by others */
byte mine[SESSIONS], old[SESSIONS];             /* nodes; old: of a session that its client has left */
bool alive[SESSIONS], oldAlive[SESSIONS];
byte last[SESSIONS];                            /* what stood when it was expired: its client hears no more */
mtype request[N], late[N];                      /* late: of a connection that has broken */
byte about[N], lateAbout[N], number[N];
bool stray[N], came[N];                         /* stray: late is of a session that its client has left */

/* What servers tell each session's client: nodes that come or go, which contender that answers, and how. */
chan stream[SESSIONS] = [12] of { byte, byte, mtype };

/* What a client knows: of its session, */
byte view[SESSIONS], known[SESSIONS];           /* nodes it has been told of; nodes in the local queue */
byte leaving[SESSIONS];                         /* own nodes being deleted */
bool evidence[SESSIONS], ended[SESSIONS], dead[SESSIONS];
/* and of each contender. */
byte node[N], guid[N], made[N];                 /* guid: nodes with its guid; made: by the answer */
byte waits[N], watched[N], deaf[N];             /* deaf: watches that the servers do not have */
bool listed[N], woken[N], believes[N];
mtype answer[N];

byte token, written;                            /* of the latest grant, and of the latest write */
bool alone = true, inTurn = true, grows = true, inOrder = true, clean = true;
byte done, breaks, silences, cancels, crashes, deposed, admins, reaps;
byte x, k; mtype a;                             /* 0 between two steps */

/* All servers are told of a transaction, and contender c is answered. */
inline commit(how) {
	for (k : 0 .. SESSIONS - 1) {
		if
		:: alive[k] && !ended[k] && how != 0 && k == s -> stream[k]!x,c + 1,how
		:: alive[k] && !ended[k] && x != 0 && !(how != 0 && k == s) -> stream[k]!x,0,0
		:: else
		fi
	};
	x = 0; k = 0; a = 0
}
inline remove(nodes) {
	x = nodes; stand = stand & ~x;
	for (k : 0 .. SESSIONS - 1) { mine[k] = mine[k] & ~x; old[k] = old[k] & ~x }
}
inline carryOut(op, on, isStray) {
	a = OK;
	if
	:: op == CREATE ->
		came[c] = true; x = next; assert(next < 128); next = next << 1; stand = stand | x; number[c] = x / first;
#ifdef BUG_REQUEST_IN_NEXT_SESSION
		mine[s] = mine[s] | x; if :: !isStray -> guid[c] = guid[c] | x :: else fi
#else
		if
		:: isStray -> old[s] = old[s] | x
		:: else -> mine[s] = mine[s] | x; guid[c] = guid[c] | x
		fi
#endif
	:: op == DELETE ->
#ifdef BUG_DELETE_BY_NAME
		remove((on * first) & stand);
#else
		remove(on & stand);
#endif
		if :: x == 0 -> a = NONODE :: else fi
	:: op == WRITE && (on & stand) -> inOrder = (on >= written); assert(inOrder); written = on
	:: op == WRITE && !(on & stand) -> a = NONODE
	:: else
	fi
}
inline forget() { late[k] = 0; lateAbout[k] = 0; stray[k] = false }

/* Contenders with sessions of their own are alike: it is enough that they come in the order of their numbers. */
#ifdef SHARED
#define mayCome(op) true
#else
#define mayCome(op) (op != CREATE || c == 0 || came[c - (c > 0)])
#endif

proctype leader(byte c) {
end:	do
	:: d_step { request[c] != 0 && alive[s] && mayCome(request[c]) ->
		if
		:: request[c] != SYNC -> each(if :: !stray[k] -> forget() :: else fi) /* the session has moved */
		:: else
		fi;
		carryOut(request[c], about[c], false); commit(a);
		request[c] = 0; about[c] = 0 }
#ifdef BUG_REQUEST_IN_NEXT_SESSION
	:: d_step { late[c] != 0 && alive[s] && mayCome(late[c]) ->
#else
	:: d_step { late[c] != 0 && (stray[c] -> oldAlive[s] : alive[s]) && mayCome(late[c]) ->
#endif
		carryOut(late[c], lateAbout[c], stray[c]); commit(0);
		k = c; forget(); k = 0 }
	od
}

#define FAULTS (BREAKS || SILENCES || CRASHES || DEPOSED)
#if FAULTS
/* What happens to the session of contender c. */
proctype session(byte c) {
	byte j;
end:	do
#if BREAKS
	:: atomic { alive[s] && !ended[s] && breaks < BREAKS -> breaks++;
		d_step {
			k = len(stream[s]); /* what is told from now on answers nothing */
			do :: k > 0 -> stream[s]?x,_,_; k--; if :: x != 0 -> stream[s]!x,0,0 :: else fi :: else -> break od;
			x = 0
		};
		do
		:: j < N && S(j) != s -> j++
		:: j < N && S(j) == s ->
			if
			:: request[j] != 0 && late[j] == 0 -> late[j] = request[j]; lateAbout[j] = about[j]
			:: true
			fi;
			request[j] = 0; about[j] = 0; if :: answer[j] == ASKED -> answer[j] = LOST :: else fi;
#if defined(BUG_WATCH_LOST_ON_RECONNECT) || defined(BUG_WATCH_KEPT_ON_RECONNECT)
			deaf[j] = watched[j];
#else
			watched[j] = 0;
#endif
#ifndef BUG_WATCH_LOST_ON_RECONNECT
			woken[j] = (waits[j] != 0);
#endif
			j++
		:: else -> break
		od;
		j = 0 }
#endif
#if SILENCES
	/* recipes: recipes.hold.atDeadline, recipes.hold.Lose */
	:: d_step { evidence[s] && alive[s] && silences < SILENCES -> silences++; evidence[s] = false;
#ifndef BUG_NO_DEADLINE
		believes[c] = false
#endif
		}
	/* recipes: session.heartbeat.ask */
	:: d_step { alive[s] && !ended[s] && !evidence[s] -> evidence[s] = true }
	:: d_step { alive[s] && !evidence[s] ->
		last[s] = stand; remove(mine[s]); alive[s] = false; commit(0);
		if :: !stray[c] -> k = c; forget(); k = 0 :: else fi;
#ifndef BUG_REQUEST_IN_NEXT_SESSION
		request[c] = 0; about[c] = 0;
#endif
		if :: stand != 0 -> skip; /* reached */
		:: else
		fi }
	:: d_step { !alive[s] && !ended[s] && !dead[s] -> ended[s] = true; believes[c] = false }
#endif
#if DEPOSED
	:: d_step { alive[s] && !ended[s] && deposed < DEPOSED -> deposed++; ended[s] = true; believes[c] = false }
#endif
#if CRASHES
	:: d_step { !dead[s] && alive[s] && !ended[s] && crashes < CRASHES -> crashes++; dead[s] = true; believes[c] = false }
#endif
#if DEPOSED || CRASHES
	:: d_step { oldAlive[s] -> oldAlive[s] = false; remove(old[s]); commit(0); if :: stray[c] -> k = c; forget(); k = 0 :: else fi }
#endif
	od
}
#endif

/* A client hears of transactions in their order. When it hears of one matters only when it reads next. So it hears
 * late, and all that a contender does between two waits is one step: what it reads may be old all the same. */
inline hear() {
	stream[s]?x,k,a; view[s] = view[s] ^ x;
	if :: k > 0 -> answer[k - 1] = a; made[k - 1] = x :: else fi;
	each(if :: waits[k] & x & ~view[s] & ~deaf[k] -> woken[k] = true :: else fi);
	x = 0; a = 0
}
inline hearSome() { do :: nempty(stream[s]) -> d_step { hear() } :: break od }
#define answered (answer[c] != ASKED || stream[s]??[_,eval(c + 1),_])
inline hearAnswer() { d_step { answered -> do :: answer[c] == ASKED -> hear() :: else -> break od } }
inline ask(op, on) { answer[c] = ASKED; d_step { request[c] = op; about[c] = on } }
inline heard() { answer[c] = 0; made[c] = 0 }
#define mayCancel (!over && cancels < CANCELS)
inline cancel() { cancels++; over = true }
#define ahead (known[s] & (node[c] - 1))
#ifdef SHARED
#define own(b) (c < 2 && ((b) == node[0] || (b) == node[1]))
#else
#define own(b) false
#endif

/* The turn of the session's other contenders begins with the release.
 * recipes: queue.Contender.leaving, queue.localQueue.leaving */
inline turnOver() {
	d_step {
		believes[c] = false; leaving[s] = leaving[s] | node[c]; known[s] = known[s] & ~node[c];
		each(if :: waits[k] != 0 && waits[k] == node[c] -> woken[k] = true :: else fi)
	}
}

proctype contender(byte c) {
	byte b, rounds;
	bool over, stale; /* over: it has held, or given up; stale: known may be shorter than that */

round:	if
	:: rounds == ROUNDS -> goto finished
	:: else -> rounds++; over = false
	fi;
	{ skip;
again:	atomic { /* recipes: queue.NewContender, queue.Contender.Enqueue, queue.enqueueAll */
		d_step { guid[c] = 0; node[c] = 0; listed[c] = false };
create:		ask(CREATE, 0)
	};
	do
#if CANCELS
	:: d_step { mayCancel -> cancel() }
#endif
	:: atomic { answered ->
		if
		:: hearSome(); known[s] = view[s] & ~leaving[s] /* a list asked for with the create, or before */
		:: true                                         /* or what is known from before */
		fi;
		hearAnswer();
		if
		:: answer[c] == OK -> d_step { node[c] = made[c]; heard() }; goto placed
		:: else -> heard();
#ifdef BUG_CREATE_AGAIN
			goto create;
#endif
		fi;
find:		/* recipes: queue.findContenders, session.FindByGUID, session.SettledChildren, session.Identify */
#ifndef BUG_STALE_FIND
#ifdef BUG_SETTLE_BY_SYNC
		ask(SYNC, 0);
#else
		ask(SETTLE, 0);
#endif
		hearAnswer();
		if
		:: answer[c] == LOST -> heard(); goto find
		:: else -> heard()
		fi;
#endif
		hearSome();
		node[c] = view[s] & guid[c] & -(view[s] & guid[c]);
		if
		:: node[c] == 0 && over -> goto round
		:: node[c] == 0 && !over -> goto create
		:: else
		fi;
placed:		known[s] = known[s] | node[c]; stale = true; /* recipes: queue.localQueue.join */
		if
		:: over ->
#ifdef BUG_CANCEL_LEAVES_NODE
			goto round
#else
			goto leave
#endif
		:: else
		fi;
judge:		if /* recipes: queue.Contender.Wait, queue.localQueue.judge */
#ifdef BUG_NO_OWN_NODE
		:: ahead == 0 -> goto turn
#else
		:: ahead == 0 && listed[c] -> goto turn
		:: ahead == 0 && !listed[c] -> goto list
#endif
		:: ahead != 0 && stale -> goto list
		:: ahead != 0 -> b = 1
		fi;
		do
		:: b & ahead -> break
		:: ahead & ~(b | (b - 1)) -> b = b << 1
		od;
		if /* recipes: queue.localQueue.waitFor, queue.Contender.awaitOther, queue.Contender.awaitOwn, session.Watch */
		:: (b & watched[c]) || own(b)
		:: else -> hearSome();
			if
			:: watched[c] = watched[c] | b; deaf[c] = deaf[c] & ~b
			:: watched[c] = watched[c] | ahead; deaf[c] = deaf[c] & ~ahead
			fi
		fi;
		if
#ifndef BUG_NO_SECOND_LOOK
		:: !(b & view[s]) -> d_step { known[s] = known[s] & ~b; b = 0; stale = true }; goto judge
#endif
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
			woken[c] = false; known[s] = known[s] & (view[s] | ~waits[c]); waits[c] = 0; stale = true
		};
#ifdef BUG_EVENT_IS_TURN
		goto turn
#else
		goto judge
#endif
		}
#if CANCELS
	:: atomic { mayCancel -> d_step { cancel(); woken[c] = false; waits[c] = 0 }; goto leave }
#endif
	fi;
turn:	if /* recipes: recipes.Client.startHold, session.Session.AwaitEvidence, recipes.newHold, session.Locked.Left */
#ifdef BUG_GRANT_WITHOUT_EVIDENCE
	:: d_step { true ->
#else
	:: d_step { evidence[s] ->
#endif
		if
		:: removed & node[c] /* it is told within a heartbeat */
		:: else ->
			for (k : 0 .. N - 1) { if :: believes[k] && !(removed & node[k]) -> alone = false :: else fi };
			k = 0; assert(alone);
			inTurn = !(stand & (node[c] - 1) & ~leaving[s]);
			assert(inTurn);
			if :: token != 0 -> skip; /* reached */
			:: else
			fi;
#ifdef BUG_SEQUENCE_TOKEN
			x = number[c];
#else
			x = node[c];
#endif
			grows = x > token; token = x; x = 0;
			assert(grows)
		fi;
		believes[c] = true; over = true }
#if ADMINS
	:: atomic { !(stand & node[c]) -> goto again } /* recipes: session.heartbeat.nodesGone */
#endif
#if CANCELS
	:: atomic { mayCancel -> cancel(); goto leave }
#endif
	fi;
#ifdef WRITES
	if /* recipes: recipes.guarded, recipes.writing */
	:: atomic { believes[c] -> ask(WRITE, node[c]) };
#ifdef BUG_HANDOVER_EARLY
		turnOver();
#endif
		atomic { hearAnswer(); heard() }
	:: skip
	fi;
#endif
leave:	atomic { /* recipes: recipes.Lease.release, queue.Contender.Grant, queue.Contender.Leave, session.RemoveHere, session.DeleteInBackground, session.DeleteByGUID */
		turnOver();
delete:
#ifdef BUG_DELETE_BY_NAME
		ask(DELETE, number[c]);
#else
		ask(DELETE, node[c]);
#endif
		hearAnswer();
		if
#ifndef BUG_RELEASE_GIVES_UP
		:: answer[c] == LOST -> heard(); goto delete
#endif
		:: else -> d_step { leaving[s] = leaving[s] & ~node[c]; node[c] = 0; watched[c] = 0; heard() }; goto round
		fi }
	} unless { atomic { /* recipes: session.Keeper.run, recipes.Client.inSession */
#ifdef BUG_WAITS_ON
		dead[s] || ended[s] && waits[c] == 0 ->
#else
		dead[s] || ended[s] ->
#endif
		d_step {
			if /* the leader has a session that its client has left until it expires it */
			:: alive[s] -> oldAlive[s] = true; old[s] = old[s] | mine[s]; mine[s] = 0; alive[s] = false;
				if :: request[c] != 0 -> late[c] = request[c]; lateAbout[c] = about[c] :: else fi;
				stray[c] = (late[c] != 0)
			:: else
#ifdef BUG_REQUEST_IN_NEXT_SESSION
				-> late[c] = request[c]; lateAbout[c] = about[c]; stray[c] = true
#endif
			fi;
			request[c] = 0; about[c] = 0; heard();
			known[s] = 0; leaving[s] = 0; waits[c] = 0; watched[c] = 0; deaf[c] = 0; woken[c] = false; b = 0; stale = false;
			k = len(stream[s]); do :: k > 0 -> stream[s]?_,_,_; k-- :: else -> break od
		};
		if
		:: dead[s] -> node[c] = 0; goto finished
		:: else ->
			d_step { alive[s] = true; evidence[s] = true; ended[s] = false; view[s] = stand; last[s] = 0 };
			if
			:: over -> node[c] = 0; goto round
#ifdef BUG_ADOPT_OLD_SESSION
			:: else -> node[c] = 0; goto find
#else
			:: else -> goto again
#endif
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
proctype outsider() {
	byte c, b = 1;
end:	do
#if ADMINS
	:: atomic { stand != 0 && admins < ADMINS -> admins++;
		do
		:: b & stand -> break
		:: stand & ~(b | (b - 1)) -> b = b << 1
		od;
		d_step { removed = removed | b; remove(b); commit(0); b = 1 } }
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
		for (c : 0 .. N - 1) {
			alive[s] = true; evidence[s] = true;
			run leader(c); run contender(c);
#if FAULTS
			if :: c == 0 || S(c) != S(c - 1) -> run session(c) :: else fi
#endif
		};
#if ADMINS || REAPS
		run outsider();
#endif
		c = 0
	};
end:	atomic { settled -> clean = (stand == 0); assert(clean) }
}
