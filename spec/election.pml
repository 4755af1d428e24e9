/* At most one candidate leads; tokens grow from term to term; work of a lost term does not count as done. An observer
 * is told of leaders in their order, with their own data, and of each that stays.
 *
 * A candidate creates a node, waits until it is first, leads while its session has evidence, and resigns. Its data may
 * be written again, and a request to resign may hide it for a while. An observer looks, and waits for a watch.
 * A session that has evidence is not expired (lease.pml). A candidate whose create is not answered finds its node, and
 * none misses its turn (mutex.pml). Servers tell each client of transactions in their order, sooner or later. A real
 * observer looks again after a session timeout; one of the model does not, so what it misses it misses for ever.
 *
 * stand[i] has the nodes after transaction i: bit 0 is the directory, a later candidate's node is a higher bit.
 *
 * switch: SILENCES=n how often a session is without evidence, and may be expired
 * switch: DEPOSED=n how often a candidate is told too early that its session has ended
 * switch: CANCELS=n how often a candidate withdraws
 * switch: BREAKS=n how often a connection breaks: the answer to a delete is lost, an observer's watch is gone
 * switch: MOVES=n how often the observer goes on in another session
 * switch: EDITS=n how often data is written, hidden by a request, or restored
 * switch: COMES=n an observer, and how many candidates come and go
 * switch: REAPS=n how often the empty directory is made or deleted
 * switch: BUG_SUSPENDED a leader without evidence leads until it hears that its session has ended
 * switch: BUG_OLD_NODE a candidate takes the node of its last session for its own
 * switch: BUG_REINSTATED a leader that campaigns is elected at once
 * switch: BUG_NAME_ORDER the order is that of whole names, and not of numbers
 * switch: BUG_SESSION_TOKEN all terms of a session have the token of its first
 * switch: BUG_LEFT_BEHIND a candidate that withdraws leaves its node
 * switch: BUG_RESIGNS_ONCE a resignation whose answer is lost is not repeated
 * switch: BUG_LOST_WORK_COUNTS work that ends after its term counts as done
 * switch: BUG_UNCONFIRMED_IS_LOST a term counts as lost if its session ends before the resignation is answered
 * switch: BUG_FALLS_BACK an observer that sees no leader twice tells of the last one
 * switch: BUG_ANY_SERVER another session of the observer may know less than the one before
 * switch: BUG_OLD_DATA an observer takes a new leader's data from the last look
 * switch: BUG_REQUEST_IS_DATA an observer takes a request to resign for data
 * switch: BUG_WATCH_LATE an observer reads, and then sets its watch
 * switch: BUG_WATCH_LOST an observer whose connection breaks does not look again
 *
 * search: "a broken connection, an expiry" quick -DBREAKS=1 -DSILENCES=1 => holds
 * search: "an expiry, a withdrawal, an end that is told early" -DSILENCES=1 -DDEPOSED=1 -DCANCELS=1 => holds
 * search: "an observer, a broken connection, another session" -DCOMES=2 -DBREAKS=1 -DMOVES=1 => holds
 * search: "an observer, data that changes, a broken connection" -DCOMES=2 -DEDITS=2 -DBREAKS=1 => holds
 * search: "an observer, the directory comes and goes" -DCOMES=2 -DREAPS=2 -DBREAKS=1 => holds
 * search: "leads on without evidence" -DBUG_SUSPENDED -DSILENCES=1 => violated alone
 * search: "the node of the last session" -DBUG_OLD_NODE -DDEPOSED=1 => violated alone
 * search: "elected twice" -DBUG_REINSTATED => violated alone
 * search: "the order of names" -DBUG_NAME_ORDER => violated alone
 * search: "one token for all terms" -DBUG_SESSION_TOKEN -DSILENCES=1 => violated grows
 * search: "the withdrawal leaves the node" -DBUG_LEFT_BEHIND -DCANCELS=1 => stuck
 * search: "the resignation is not repeated" -DBUG_RESIGNS_ONCE -DBREAKS=1 => stuck
 * search: "work of a lost term" -DBUG_LOST_WORK_COUNTS -DSILENCES=1 => violated once
 * search: "a resignation that is not confirmed" -DBUG_UNCONFIRMED_IS_LOST -DDEPOSED=1 => violated once
 * search: "falls back" -DBUG_FALLS_BACK -DCOMES=1 -DBREAKS=1 => violated ordered
 * search: "a session that knows less" -DBUG_ANY_SERVER -DCOMES=2 -DMOVES=1 => violated ordered
 * search: "the data of another" -DBUG_OLD_DATA -DCOMES=2 -DEDITS=1 => violated own
 * search: "a request for data" -DBUG_REQUEST_IS_DATA -DCOMES=1 -DEDITS=1 => violated own
 * search: "the watch comes late" -DBUG_WATCH_LATE -DCOMES=1 => violated current
 * search: "the watch is lost" -DBUG_WATCH_LOST -DCOMES=1 -DBREAKS=1 => violated current
 */
/* on(X) is the value of the switch X, and 0 without it. */
#define PASTED_1 0, 1
#define PASTED_2 0, 2
#define SECOND(a, b, ...) b
#define PICK(x) SECOND(x, 0, 0)
#define PASTE(x) PICK(PASTED_##x)
#define on(x) PASTE(x)
#define may(count, FAULTS) (count < on(FAULTS))
#define lowest(set) ((set) & -(set))
#define CHILDREN 3 /* a watch, as are 1, for the directory, and a node */
#define REQUEST 9

byte stand[20], veiled[20], written[20]; /* veiled: nodes whose data is a request; written: those with new data */
byte now, next = 2;                      /* the last transaction; the next candidate's node */
byte mine[2], old[2];                    /* nodes; old: of a session that its client has left */
byte heard[2], token[2];                 /* heard: the last transaction heard of; token: the session's first, for a bug */
bool evidence[2], expired[2], ended[2];  /* the leader has expired the session; its client has been told */
byte leads[2], works[2], made[2];        /* terms at a time; works done in a term; nodes made */
byte newest, seen, watch, latest, data, highest; /* the token of the last term; of the observer: what it has heard of, … told last */
byte silences, deposed, cancels, breaks, moves, comes, edits, reaps;
bool woken, alone = true, grows = true, once = true, ordered = true, own = true, current = true;

inline commit(nodes) {
	stand[now + 1] = nodes; veiled[now + 1] = veiled[now] & nodes; written[now + 1] = written[now] & nodes;
	now++; assert(now < 19)
}
#define first(nodes) (on(BUG_NAME_ORDER) && (nodes & mine[0]) -> mine[0] : lowest((nodes) & ~1))
#define owner(node) (made[1] & node -> 1 : 0)
inline elected() { leads[c]++; alone = (leads[0] + leads[1] == 1); assert(alone) }
#if !COMES
proctype candidate(byte c) {
	byte node; bool over;
campaign: /* recipes: recipes.Election.Run, recipes.Election.Campaign, recipes.Client.inSession, queue.Contender.Enqueue */
	if
	:: d_step { ended[c] -> ended[c] = false; expired[c] = false; evidence[c] = true; mine[c] = 0; token[c] = 0; heard[c] = now }; goto campaign
	:: d_step { !ended[c] && !(stand[now] & 1) -> commit(1) }; goto campaign
	:: d_step { !ended[c] && !expired[c] && old[c] && on(BUG_OLD_NODE) -> node = old[c]; heard[c] = now }
	:: d_step { !ended[c] && !expired[c] && (stand[now] & 1) && !(old[c] && on(BUG_OLD_NODE)) ->
		node = next; next = next << 1; assert(next); mine[c] = node; made[c] = made[c] | node;
		commit(stand[now] | node); heard[c] = now }
	fi;
	do /* recipes: queue.Contender.Wait */
	:: d_step { heard[c] < now -> heard[c]++ }
	:: ended[c] -> goto campaign
	:: d_step { !ended[c] && may(cancels, CANCELS) -> cancels++; over = true }; goto leave
	:: d_step { first(stand[heard[c]]) == node && !ended[c] && evidence[c] -> /* recipes: recipes.Client.startHold */
		elected();
		if :: !token[c] || !on(BUG_SESSION_TOKEN) -> token[c] = node :: else fi;
		grows = (token[c] > newest); assert(grows); newest = token[c] }; /* reached */
		break
	od;
	if :: d_step { leads[c] && on(BUG_REINSTATED) -> elected() } :: !on(BUG_REINSTATED) fi; /* recipes: recipes.Election.campaign */
	d_step { works[c] = works[c] + leads[c]; over = leads[c] || on(BUG_LOST_WORK_COUNTS); leads[c] = 0 }; /* the work has ended */
leave:	do /* recipes: recipes.Lease.release, queue.Contender.Leave, session.DeleteInBackground */
	:: on(BUG_LEFT_BEHIND) && !works[c] -> break
	:: ended[c] -> if :: on(BUG_UNCONFIRMED_IS_LOST) -> over = false :: else fi; break
	:: d_step { !ended[c] && !expired[c] ->
		if :: stand[now] & node -> mine[c] = 0; old[c] = old[c] & ~node; commit(stand[now] & ~node) :: else fi };
		if :: break :: d_step { may(breaks, BREAKS) -> breaks++ } fi /* the answer is lost */
	:: d_step { may(breaks, BREAKS) -> breaks++ }; if :: on(BUG_RESIGNS_ONCE) -> break :: else fi /* the request is lost */
	od;
	if :: !over -> goto campaign :: else fi;
	once = (works[c] == 1 || works[c] == 0 && cancels); assert(once)
}
/* What happens to the session of a candidate. */
proctype session(byte c) {
end:	do
	:: d_step { evidence[c] && !ended[c] && may(silences, SILENCES) -> /* recipes: recipes.hold.atDeadline, recipes.hold.Lose */
		silences++; evidence[c] = false; if :: !on(BUG_SUSPENDED) -> leads[c] = 0 :: else fi }
	:: d_step { !evidence[c] && !expired[c] -> evidence[c] = true }
	:: d_step { !evidence[c] && !expired[c] -> expired[c] = true; if :: mine[c] -> commit(stand[now] & ~mine[c]) :: else fi }
	:: d_step { expired[c] && !ended[c] -> ended[c] = true; leads[c] = 0 } /* recipes: session.Keeper.run */
	:: d_step { evidence[c] && !ended[c] && may(deposed, DEPOSED) -> deposed++; leads[c] = 0; ended[c] = true; old[c] = mine[c] }
	:: d_step { old[c] -> commit(stand[now] & ~old[c]); old[c] = 0 }
	od
}
#else
/* For an observer: candidates come and go, each at any time, and so does the directory, while it is empty. */
proctype world() {
	byte b = 2;
end:	do
	:: d_step { may(comes, COMES) && (stand[now] & 1) -> comes++; commit(stand[now] | next);
		if :: comes == 2 -> made[1] = next :: else fi; next = next << 1 }
	:: d_step { b < next -> b = b << 1 }
	:: d_step { b > 2 -> b = 2 }
	:: d_step { stand[now] & b -> commit(stand[now] & ~b) }
	:: d_step { may(reaps, REAPS) && stand[now] <= 1 -> reaps++; commit(1 - stand[now]) }
	:: d_step { may(edits, EDITS) && stand[now] > 1 -> edits++; commit(stand[now]); veiled[now] = veiled[now] ^ first(stand[now]) }
	:: d_step { may(edits, EDITS) && stand[now] > 1 -> edits++; commit(stand[now]); written[now] = written[now] | first(stand[now]) }
	:: d_step { may(breaks, BREAKS) -> breaks++; watch = 0; woken = !on(BUG_WATCH_LOST) } /* recipes: session.AwaitEvent */
	:: d_step { may(moves, MOVES) -> moves++; seen = (on(BUG_ANY_SERVER) -> seen / 2 : now); watch = 0; woken = true }
	od
}
#define nodes stand[seen]
#define changed(i) ((watch & stand[i - 1] & ~stand[i]) || (watch & ((veiled[i] ^ veiled[i - 1]) | (written[i] ^ written[i - 1]))))
#define fires(i) (watch == 1 -> (stand[i] & 1) : (watch == CHILDREN -> stand[i] != stand[i - 1] : changed(i)))
inline hearOne() { d_step { seen < now -> seen++; if :: watch && fires(seen) -> watch = 0; woken = true :: else fi } }
inline hearSome() { do :: hearOne() :: break od }
#define dataOf(i, b) (veiled[i] & b -> REQUEST : 1 + owner(b) + (written[i] & b -> 2 : 0))

proctype observer() {
	byte leader, d;
look:	atomic { watch = 0; woken = false; leader = 0; d = 0 }; /* recipes: recipes.observer.next, recipes.Election.look */
	hearSome();
	if /* recipes: recipes.Election.lookOnce, recipes.Election.firstName */
	:: d_step { !(nodes & 1) -> leader = 0 }; hearSome(); /* recipes: session.WatchForNode */
		if :: d_step { !(nodes & 1) -> watch = 1 }; goto learn :: (nodes & 1) -> goto look fi
	:: d_step { nodes == 1 -> leader = 0 }; hearSome(); /* recipes: session.WatchChildren */
		if :: d_step { nodes & 1 -> watch = CHILDREN } :: !(nodes & 1) -> goto look fi;
		if :: on(BUG_WATCH_LATE) -> goto learn :: else -> hearSome() fi;
		if :: nodes <= 1 -> goto learn :: nodes > 1 -> goto look fi
	:: d_step { nodes > 1 -> leader = lowest(nodes & ~1) }
	fi;
	if :: !on(BUG_WATCH_LATE) -> hearSome(); if :: d_step { nodes & leader -> watch = leader } :: else -> goto look fi :: else fi;
	hearSome(); /* recipes: session.Watch, recipes.participantAt */
	if :: d_step { nodes & leader -> d = dataOf(seen, leader) } :: else -> goto look fi;
	if :: on(BUG_WATCH_LATE) -> hearSome(); if :: d_step { nodes & leader -> watch = leader } :: else -> goto look fi :: else fi;
learn:	atomic { /* recipes: recipes.observer.learn, recipes.announced */
		if :: on(BUG_FALLS_BACK) && !leader && !latest && highest -> leader = highest; d = data :: else fi;
		if :: d == REQUEST && !on(BUG_REQUEST_IS_DATA) -> d = (leader == latest || on(BUG_OLD_DATA) -> data : 0) :: else fi;
		ordered = (!leader || leader == latest || leader > highest); assert(ordered);
		own = (!d || leader && (d == 1 + owner(leader) || d == 3 + owner(leader))); assert(own);
		latest = leader; data = d; if :: leader -> highest = leader; skip /* reached */
		:: else fi };
end:	do
	:: woken -> goto look
	:: hearOne()
	:: d_step { !woken && seen == now ->
		current = (latest == lowest(stand[now] & ~1) && (!latest || (veiled[now] & latest) || data == dataOf(now, latest)));
		assert(current) };
end1:		seen < now || woken
	od
}

#endif

init { atomic {
		stand[0] = !on(REAPS); evidence[0] = true; evidence[1] = true;
#if COMES
		run world(); run observer()
#else
		run candidate(0); run candidate(1); run session(0); run session(1)
#endif
} }
