/* No member begins before two are there, nor returns from Leave before all of its round have left or are dead; none
 * belongs to a round twice; all that stay alive go on, and leave no node.
 *
 * A member has a node with a random name, a bit. A round is the node ready, with the number of its transaction: its
 * members are those with an older node, and those that ready lists. Every change of a round is one transaction that
 * checks what was read. A server that lags shows its clients a former state, until it catches up or they write.
 *
 * A request of a session that has expired is refused (mutex.pml). The search waits for no clock: who sees two members
 * begins the round at any time. A real member looks again after a session timeout; one of the model does not. Curator's
 * members, which delete ready while others are inside, are left out.
 *
 * switch: N=n members; two begin a round
 * switch: ROUNDS=n rounds of each
 * switch: CANCELS=n how often Enter or Leave is given up
 * switch: EXPIRIES=n how often a session is expired
 * switch: DEPOSED=n how often a client is told too early that its session has ended
 * switch: CRASHES=n how many members crash
 * switch: BREAKS=n how often an answer to a transaction is lost, or a member is woken for nothing
 * switch: LAGS=n how often servers begin to lag
 * switch: BUG_ANY_WAKEUP a wake-up is taken for the beginning
 * switch: BUG_ONCE_FULL a round begins with those that are left when two were there once
 * switch: BUG_UNCHECKED the transaction that begins a round does not check the others
 * switch: BUG_GHOST an Enter that is given up leaves its node
 * switch: BUG_COUNTS_TWICE the node of the last session is not deleted before the next one is created
 * switch: BUG_STALE_READY a member enters when there is a ready node
 * switch: BUG_ANY_WAKEUP_LEAVES a wake-up is taken for the end
 * switch: BUG_LEAVES_ALONE a member that has left does not wait for others
 * switch: BUG_LEAVE_STAYS a Leave that is given up leaves its node
 * switch: BUG_VERSION_LATE the last member reads the version of ready after the list
 * switch: BUG_ENTERS_AGAIN a member enters again before the round that it left is over
 * switch: BUG_DELETES_ONCE a member whose delete is not answered, and carried out, takes its membership for lost
 *
 * search: "two members, two rounds, a lost answer" -DROUNDS=2 -DBREAKS=1 => holds
 * search: "a cancel" -DCANCELS=1 => holds
 * search: "an end that is told early" -DDEPOSED=1 => holds
 * search: "a wake-up begins" -DBUG_ANY_WAKEUP -DBREAKS=1 => violated belongs
 * search: "two were there once" -DBUG_ONCE_FULL -DCANCELS=1 => violated together
 * search: "the others are not checked" -DBUG_UNCHECKED -DCANCELS=1 => violated together
 * search: "a ghost" -DBUG_GHOST -DROUNDS=2 -DCANCELS=1 => violated together
 * search: "one member counts twice" -DBUG_COUNTS_TWICE -DDEPOSED=1 => violated together
 * search: "a ready node of others" -DBUG_STALE_READY -DN=3 => violated belongs
 * search: "a wake-up ends" -DBUG_ANY_WAKEUP_LEAVES -DBREAKS=1 => violated over
 * search: "leaves alone" -DBUG_LEAVES_ALONE => violated over
 * search: "the leave stays" -DBUG_LEAVE_STAYS -DCANCELS=1 => stuck
 * search: "joined between list and version" -DBUG_VERSION_LATE -DDEPOSED=1 => violated
 * search: "the round that it left" -DBUG_ENTERS_AGAIN -DROUNDS=2 -DCANCELS=1 => violated again
 * search: "one delete" -DBUG_DELETES_ONCE -DBREAKS=1 => violated sure
 */
#ifndef N
#define N 2
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
/* on(X) is the value of the switch X, and 0 without it. */
#define PASTED_1 0, 1
#define PASTED_2 0, 2
#define SECOND(a, b, ...) b
#define PICK(x) SECOND(x, 0, 0)
#define PASTE(x) PICK(PASTED_##x)
#define on(x) PASTE(x)
#define may(count, FAULTS) (count < on(FAULTS))
#define lowest(set) ((set) & -(set))

/* What the leader knows: nodes; of ready: its number, the older nodes, those that it lists, its version; the directory's
 * version. old… is what a server that lags knows, l… what a member has read. */
byte nodes, ready, older, lists, version, dir;
byte oldNodes, oldReady, oldOlder, oldLists, oldVersion, oldDir;
byte last, all[8], owns[N], used;            /* all: nodes that were members of a round; owns: nodes of a member */
byte node[N], left[N], told[N];              /* left: nodes of a session that the client has left; told: of its end, or CRASHED */
bool dead[N], lags[N];                       /* the leader has expired the session; its server lags */
byte done, cancels, expiries, deposed, crashes, breaks, lagged;
bool together = true, belongs = true, over = true, there = true, again = true, sure = true;
mtype = { IDLE, ENTERS, LEAVES, WAITS };
#define CRASHED 2
#define stands(k) ((nodes & owns[k]) != 0)
#define at(now, old) (lags[c] -> old : now)
#define list() atomic { lNodes = at(nodes, oldNodes); lListed = at(ready, oldReady) }
#define round() atomic { lReady = at(ready, oldReady); lOlder = at(older, oldOlder); lLists = at(lists, oldLists); lVersion = at(version, oldVersion) }
#define members (lNodes & (lLists | lOlder & at(nodes, oldNodes))) /* recipes: barrier.Directory.member */
#define noRound() ready = 0; older = 0; lists = 0; version = 0; lags[c] = false
inline clear() { /* recipes: barrier.Directory.clear */
	d_step { lDir = at(dir, oldDir) }; round(); list();
	d_step { empties = lReady && !members && (!(lNodes & ~at(nodes, oldNodes))) };
	d_step { empties = empties && (at(ready, oldReady) == lReady && at(version, oldVersion) == lVersion) };
	d_step { if
		:: empties && !dead[c] && ready && version == lVersion && dir == lDir -> noRound(); dir++
		:: else
		fi; empties = false }
}

proctype member(byte c) {
	byte n, entered, was, others, wait, eOlder, lNodes, lListed, lReady, lOlder, lLists, lVersion, lDir; bool filled, unsure, entering, empties; mtype phase = IDLE;
	{ skip;
next:	if
	:: n == ROUNDS || N - done < 2 -> goto finished
	:: else -> atomic { n++; entering = true; filled = false; unsure = false; phase = WAITS }
	fi;
	if :: was && !on(BUG_ENTERS_AGAIN) -> goto catch :: else fi; /* recipes: recipes.DoubleBarrier.enter */
arrive:	atomic { !dead[c] -> /* recipes: recipes.DoubleBarrier.forget, barrier.Directory.Forget, barrier.Member.Arrive */
		phase = ENTERS; filled = false; wait = 1;
		if :: !on(BUG_COUNTS_TWICE) -> nodes = nodes & ~left[c]; left[c] = 0 :: else fi;
		do :: wait & used -> wait = wait << 1 :: else -> break od;
		if :: !(used & (wait << 1)) && wait < 128 -> wait = wait << 1 :: true fi; /* names are random */
		assert(wait); node[c] = wait; used = used | wait; owns[c] = owns[c] | wait; nodes = nodes | wait; wait = 0; lags[c] = false };
look:	if /* recipes: barrier.Member.Enter */
	:: d_step { may(cancels, CANCELS) -> cancels++ }; goto withdraw
	:: list()
	fi;
	if
	:: !(lNodes & node[c]) -> dead[c]; goto arrive
	:: (lNodes & node[c]) && lListed -> round(); /* recipes: barrier.Member.join */
		if
		:: lReady && ((node[c] & (lOlder | lLists)) || on(BUG_STALE_READY)) -> entered = lReady; eOlder = lOlder; goto inside
		:: lReady && !(node[c] & (lOlder | lLists)) && !on(BUG_STALE_READY) && !members -> clear()
		:: lReady && !(node[c] & (lOlder | lLists)) && !on(BUG_STALE_READY) && (members) ->
			d_step { wait = lowest(members); if
			:: ready && version == lVersion && !dead[c] && ((nodes & wait)) ->
				lists = lists | node[c]; version++; all[ready] = all[ready] | node[c]; lags[c] = false
			:: else
			fi; wait = 0 }
		:: !lReady
		fi; goto look
	:: (lNodes & node[c]) && !lListed && ((lNodes & ~node[c]) || filled && on(BUG_ONCE_FULL)) -> /* recipes: barrier.Member.begin */
		d_step { filled = true; wait = lowest(lNodes & ~node[c]); if
			:: !ready && !dead[c] && ((wait & nodes) || !wait || on(BUG_UNCHECKED)) ->
				last++; ready = last; older = nodes; all[ready] = nodes; lags[c] = false;
				together = (stands(0) + stands(1) + stands(N - 1) * (N > 2) >= 2); assert(together)
			:: else
			fi; wait = 0 }; goto look
	:: (lNodes & node[c]) && !lListed && !(lNodes & ~node[c]) && !(filled && on(BUG_ONCE_FULL)) -> /* recipes: session.AwaitEvent */
		if
		:: at(nodes, oldNodes) != lNodes || at(ready, oldReady)
		:: d_step { may(breaks, BREAKS) -> breaks++ }
		:: d_step { may(cancels, CANCELS) -> cancels++ }; goto withdraw
		:: N - done < 2 -> goto withdraw
		fi;
		if :: on(BUG_ANY_WAKEUP) -> goto inside :: else -> goto look fi
	fi;
inside:	atomic { phase = LEAVES; entering = false;
		belongs = dead[c] || (all[entered] & node[c]); assert(belongs);
		again = (entered != was); assert(again) }; /* reached */
	if :: d_step { may(cancels, CANCELS) -> cancels++ }; was = entered; goto withdraw :: true fi;
leave:	round(); list(); if :: on(BUG_VERSION_LATE) -> round() :: else fi; others = lNodes & ~node[c]; /* recipes: barrier.Member.Leave */
	if
	:: !(lNodes & node[c]) && unsure -> others = 0; goto gone
	:: !(lNodes & node[c]) && !unsure -> d_step { sure = dead[c]; assert(sure) }; told[c]
	:: (lNodes & node[c]) -> d_step { there = (lReady == entered || dead[c]); assert(there) }
	fi;
	if
	:: others && node[c] < lowest(others) -> wait = others; do :: wait & (wait - 1) -> wait = wait & (wait - 1) :: else -> break od;
		if :: !(at(nodes, oldNodes) & wait) :: d_step { may(breaks, BREAKS) -> breaks++ } fi; wait = 0; goto leave
	:: d_step { others && node[c] > lowest(others) && !dead[c] -> nodes = nodes & ~node[c]; lags[c] = false }
	:: d_step { !others && !dead[c] && (version == lVersion) -> nodes = nodes & ~node[c]; noRound() }
	:: !others && version != lVersion -> goto leave
	fi;
	if :: d_step { may(breaks, BREAKS) -> breaks++; unsure = !on(BUG_DELETES_ONCE) }; goto leave :: true fi;
gone:	atomic { was = entered; phase = WAITS; if :: on(BUG_LEAVES_ALONE) -> goto passed :: else fi };
catch:	atomic { !dead[c] -> if :: !others -> nodes = nodes & ~left[c]; left[c] = 0; lags[c] = false :: else fi }; /* recipes: recipes.DoubleBarrier.catchUp, session.Stands */
	if /* recipes: barrier.Directory.AwaitEmpty, session.AwaitNode */
	:: others ->
		if :: !(at(nodes, oldNodes) & lowest(others)) :: d_step { may(breaks, BREAKS) -> breaks++ }; if :: on(BUG_ANY_WAKEUP_LEAVES) -> goto passed :: else fi
		:: true /* a later member has the name, and waits: it looks again after a session timeout */
		fi;
	:: else
	fi;
	do
	:: list(); round();
		if
		:: lReady == was -> wait = lowest(members); if :: !wait -> clear() :: else fi
		:: else -> wait = lNodes & eOlder & at(nodes, oldNodes) & (others -> others : 255); if :: !wait -> goto passed :: else -> wait = lowest(wait) fi
		fi;
		if
		:: !(at(nodes, oldNodes) & wait)
		:: d_step { may(breaks, BREAKS) -> breaks++ }
		:: d_step { may(cancels, CANCELS) -> cancels++ }; wait = 0; goto next
		fi; wait = 0
	od;
passed:	atomic { over = !(nodes & all[was]); assert(over); others = 0 };
	if :: entering -> was = 0; goto arrive :: else -> was = 0; goto next fi;
withdraw: /* recipes: barrier.Member.Withdraw, recipes.DoubleBarrier.withdraw */
	if
	:: (entering && on(BUG_GHOST)) || (!entering && on(BUG_LEAVE_STAYS)) -> phase = IDLE
	:: else -> d_step { !dead[c] -> nodes = nodes & ~node[c]; lags[c] = false; phase = IDLE }; clear()
	fi; goto next
	} unless { atomic { told[c] -> /* recipes: recipes.DoubleBarrier.leave, session.Keeper.run */
		if :: told[c] == CRASHED -> goto finished :: else -> told[c] = 0; dead[c] = false; wait = 0; others = 0 fi;
		if
		:: phase == IDLE -> goto next
		:: phase == ENTERS -> goto arrive
		:: phase == LEAVES -> was = entered; goto next
		:: phase == WAITS -> goto catch
		fi } };
finished: done++
}

proctype session(byte c) {
end:	do
	:: d_step { !dead[c] && !told[c] && may(expiries, EXPIRIES) -> expiries++; dead[c] = true; nodes = nodes & ~node[c] }
	:: d_step { dead[c] && !told[c] -> told[c] = 1 }
	:: d_step { !dead[c] && !told[c] && may(deposed, DEPOSED) -> deposed++; told[c] = 1; left[c] = left[c] | node[c] & nodes }
	:: d_step { !dead[c] && !told[c] && may(crashes, CRASHES) -> crashes++; told[c] = CRASHED; left[c] = left[c] | node[c] & nodes }
	:: d_step { left[c] -> nodes = nodes & ~left[c]; left[c] = 0 }
	:: d_step { lags[c] -> lags[c] = false }
	:: d_step { may(lagged, LAGS) -> lagged++; lags[0] = true; lags[1] = true; lags[N - 1] = true;
		oldNodes = nodes; oldReady = ready; oldOlder = older; oldLists = lists; oldVersion = version; oldDir = dir }
	od
}

init {
	atomic { run member(0); run member(1); run session(0); run session(1); if :: N > 2 -> run member(N - 1); run session(N - 1) :: else fi };
end:	done == N
}
