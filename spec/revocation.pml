/* A request to release is told to the lease of the node that it names, while that lease lasts, and to no other; no
 * lease is told without a request; the data of the node is put back, and a leader's data is never another's.
 *
 * mutex.pml and lease.pml show, and here it is assumed: leases of one lock come one after the other, and their
 * nodes are gone after them. A server may lag, and never goes back.
 *
 * One client has two nodes of a lock. The second waits for the first, and is granted when that is released, or
 * never. A write that names a version fails if that is not the node's. Until a leader knows that others have changed
 * its data, a request may pass for a part of that change, and Curator's request undoes the change.
 *
 * switch: LATCH the lock is an election: a request may also write a leader's data again as it is
 * switch: ASKS=n how often a client asks for the release of one of the nodes
 * switch: BREAKS=n how often an answer is lost, to those who ask or to the holder; the write is carried out at once, later or never
 * switch: ANNOUNCES=n how often others change the data of a leader
 * switch: BUG_WATCH_AFTER_READ the watch is set after the data is read
 * switch: BUG_TELLS_WAITERS a contender that waits is told
 * switch: BUG_TELLS_PREVIOUS the lease before is told
 * switch: BUG_DISARMED the release of a lease takes away the listener of the next one
 * switch: BUG_DATA_STAYS the request is left in the data
 * switch: BUG_FORCES the node is deleted
 * switch: BUG_RESTORES_ANY the data is put back over what was written meanwhile
 * switch: BUG_OWN_WRITE the holder takes its own write for a request
 * switch: BUG_NEXT_VERSION after a lost answer the next version counts as the holder's own, whatever it has
 * switch: BUG_WRITTEN_BY_OTHERS if the data is not the holder's to put back, the next version counts as another's
 * switch: BUG_REWRITES_ANY a request to a leader does not name the version that it has read
 * switch: BUG_ANY_WRITE after a lost answer any later version counts as the request
 * switch: BUG_STALE_READ who asks a leader may read at a server that lags
 *
 * search: "one request" quick -DASKS=1 => holds
 * search: "two requests, a lost answer" -DBREAKS=1 => holds
 * search: "a leader" -DLATCH -DASKS=1 => holds
 * search: "a leader, two requests, two lost answers" -DLATCH -DBREAKS=2 => holds
 * search: "a leader's data is changed" -DLATCH -DBREAKS=1 -DANNOUNCES=1 => holds
 * search: "the request before the watch" -DBUG_WATCH_AFTER_READ -DASKS=1 => violated heard
 * search: "who waits is told" -DBUG_TELLS_WAITERS -DASKS=1 => violated asked
 * search: "the lease before is told" -DBUG_TELLS_PREVIOUS -DASKS=1 => violated asked
 * search: "the next listener" -DBUG_DISARMED -DASKS=1 => violated heard
 * search: "the data stays" -DBUG_DATA_STAYS -DASKS=1 => violated restored
 * search: "the node is deleted" -DBUG_FORCES -DASKS=1 => violated kept
 * search: "a request is written over" -DBUG_RESTORES_ANY => violated heard
 * search: "the own write" -DBUG_OWN_WRITE -DLATCH -DASKS=1 => violated asked
 * search: "the next version" -DBUG_NEXT_VERSION -DBREAKS=1 => violated heard
 * search: "the own write is another's" -DBUG_WRITTEN_BY_OTHERS -DLATCH -DASKS=1 -DBREAKS=1 => violated asked
 * search: "old data is written again" -DBUG_REWRITES_ANY -DLATCH -DASKS=1 -DANNOUNCES=1 => violated restored
 * search: "another's write" -DBUG_ANY_WRITE -DLATCH -DASKS=1 -DBREAKS=1 -DANNOUNCES=1 => violated counted
 * search: "a request from before" -DBUG_STALE_READ -DLATCH -DBREAKS=1 => violated counted
 */
#ifndef ASKS
#define ASKS 2
#endif
#ifndef BREAKS
#define BREAKS 0
#endif
#ifndef ANNOUNCES
#define ANNOUNCES 0
#endif
/* on(X) is 1 with -DX, and 0 otherwise. */
#define PASTED_1 0,
#define SECOND(a, b, ...) b
#define PICK(x) SECOND(x 1, 0)
#define PASTE(x) PICK(PASTED_##x)
#define on(x) PASTE(x)

#define OWN 1
#define NEW 2
#define REVOKE 3
/* The leader's two nodes, and what the client's server shows of them. */
bool stands[2] = true, held[2], armed[2];
byte data[2] = OWN, version[2], viewData[2] = OWN, viewVersion[2];
/* Requests: how many, the versions of those that are not told, of those that must be; the data that is to be read. */
byte made[2], announced[2] = OWN;
short untold[2], owed[2];
bool asked = true, heard = true, restored = true, kept = true, counted = true, undone; /* undone: a change by others */
byte mine[2] = OWN, answered[2];                /* of a holder: its data, and the version up to which requests are answered */
byte asks, breaks, announces;

inline see() { viewData[k] = data[k]; viewVersion[k] = version[k] }
inline seeOrNot() { if :: see() :: true fi }
inline write(what) { data[k] = what; version[k]++ }
#define bit(n) (1 << (n))
inline request(what) {
	write(what); made[k]++; untold[k] = untold[k] | bit(version[k]);
	owed[k] = owed[k] | (mine[k] == announced[k] -> bit(version[k]) : 0);
	undone = undone || data[k] == REVOKE && mine[k] != announced[k]
}
inline tell(who) {
	asked = (held[who] && (untold[who] & (bit(v + 1) - 1))); assert(asked);
	untold[who] = untold[who] & ~(bit(v + 1) - 1); owed[who] = owed[who] & ~(bit(v + 1) - 1)
}

proctype holder(byte k) {
	byte d, v, seen, told;                  /* data and version that were read; the versions of the watch and of the last request told */

endTurn: atomic { k == 0 || !stands[0] || on(BUG_TELLS_WAITERS) -> /* recipes: recipes.newHold, recipes.hold.watchRevocation */
		held[k] = (k == 0 || !stands[0]); armed[k] = true
	};
watch:	atomic { seeOrNot(); seen = viewVersion[k] }; /* recipes: recipes.hold.readRevocation, session.Watch */
	atomic { /* recipes: recipes.readNode, recipes.hold.isRequest, recipes.Lease.OnRevoke */
		seeOrNot(); d = viewData[k]; v = viewVersion[k];
		if :: !held[k] && !on(BUG_TELLS_WAITERS) -> goto finished :: else fi;
		if
		:: d == REVOKE && v > (on(BUG_NEXT_VERSION) -> answered[k] : told) || d == mine[k] && on(LATCH) && v > answered[k] ->
			told = v; answered[k] = v; /* recipes: recipes.hold.tell */
			if
			:: armed[k] -> tell((on(BUG_TELLS_PREVIOUS) -> 0 : k)) /* reached */
			:: else
			fi
		:: d != REVOKE && d != mine[k] -> mine[k] = d; answered[k] = v
		:: else
		fi;
		if
		:: d != REVOKE || on(BUG_DATA_STAYS) -> goto wait
		:: d == REVOKE && !on(BUG_DATA_STAYS) -> answered[k] = v + 1 - on(BUG_OWN_WRITE)
		fi
	};
	atomic {
		if
		:: stands[k] && (version[k] == v || on(BUG_RESTORES_ANY)) -> write(mine[k]); see(); goto watch
		:: stands[k] && version[k] != v && !on(BUG_RESTORES_ANY) -> answered[k] = (on(BUG_WRITTEN_BY_OTHERS) -> v : answered[k]); see(); goto watch
		:: !stands[k] -> goto finished
		:: breaks < BREAKS -> breaks++
		fi };
	if :: d_step { stands[k] && version[k] == v -> write(mine[k]) } :: true fi;
	goto watch;
wait:	atomic { if :: on(BUG_WATCH_AFTER_READ) -> seen = version[k] :: else fi };
end:	atomic { version[k] != seen || !held[k] && !on(BUG_TELLS_WAITERS) -> see(); goto watch };
finished: skip
}

proctype releaser() { /* recipes: recipes.Lease.release */
	if
	:: d_step { held[0] -> held[0] = false; armed[0] = false; stands[0] = false }; if :: on(BUG_DISARMED) -> armed[1] = false :: else fi
	:: true
	fi
}

proctype asker() {
	byte k, d, v, before, sent = 255, wrote;  /* data and version that were read; of the write without an answer */

	if :: k = 0 :: k = 1 fi;
	d = OWN; before = made[k];
	if
	:: true
	:: on(LATCH) -> atomic { if :: on(BUG_STALE_READ) :: d = data[k]; v = version[k] fi; goto read } /* recipes: session.Stands, recipes.readNode */
	fi;
ask:	atomic { /* recipes: recipes.Client.Revoke */
		if
		:: !stands[k] -> goto finished
		:: stands[k] && on(BUG_FORCES) -> stands[k] = false; goto finished
		:: stands[k] && !on(BUG_FORCES) -> request(REVOKE); goto done
		:: breaks < BREAKS -> breaks++
		fi };
	if :: d_step { stands[k] -> request(REVOKE) } :: true fi;
	goto ask;
read:	atomic { /* recipes: recipes.rewrite */
		if :: sent != 255 && v > sent && (d == wrote || on(BUG_ANY_WRITE)) -> goto done :: else fi;
		if
		:: !stands[k] -> goto finished
		:: stands[k] && (version[k] == v || on(BUG_REWRITES_ANY)) -> request(d); goto done
		:: stands[k] && version[k] != v && !on(BUG_REWRITES_ANY) -> d = data[k]; v = version[k]; goto read
		:: breaks < BREAKS -> breaks++; sent = v; wrote = d
		fi };
	if :: d_step { stands[k] && version[k] == v -> request(d) } :: true fi;
	atomic { if :: d = data[k]; v = version[k] :: true fi; goto read };
done:	atomic { counted = (made[k] > before); assert(counted) };
finished: skip
}

#if ANNOUNCES
proctype other() {
	byte k;                                 /* the first leader's */
end:	do
	:: d_step { announces < ANNOUNCES -> announces++; write(NEW); announced[k] = NEW; owed[k] = 0 }
	od
}
#endif

init {
	byte k;
	atomic {
		run holder(0); run holder(1); run releaser();
		for (k : 1 .. ASKS) { run asker() };
#if ANNOUNCES
		run other();
#endif
		k = 0
	};
end:	atomic { timeout ->
		do
		:: k < 2 && held[k] -> kept = stands[k]; assert(kept); heard = !owed[k]; assert(heard); restored = (data[k] == announced[k] || undone && data[k] == OWN); assert(restored); k++
		:: k < 2 && !held[k] -> k++
		:: else -> break
		od }
}
