/* No permits are taken that the size of that moment has no room for, an acquire gets all its permits or
 * none, who waits takes them when there is room, and no permit and no place remains.
 *
 * mutex.pml shows, and here it is assumed: one contender at a time is first in the queue, and learns of it at a
 * server that has heard of it; a create or a delete whose answer is lost takes effect once. A lease ends before its
 * nodes are gone (lease.pml), so the nodes of permits are at least those that are believed in. A
 * server may lag, and never goes back.
 *
 * A place is a bit, a later place a higher bit. Two bits are the permits of a contender.
 *
 * switch: N=n contenders, each with a session, that want one permit or two
 * switch: CHANGES=n how often the size is set, to one or three; at last it is two or more
 * switch: BREAKS=n how often the answer to a take is lost; it is carried out at once, later or never
 * switch: CANCELS=n how often a contender gives up
 * switch: SILENCES=n how many sessions are expired
 * switch: ADMINS=n how many places are deleted by others
 * switch: BUG_SIZE_VERSION the transaction that takes permits does not check the version of the size
 * switch: BUG_OLD_SIZE after a change the version of the size is read anew, and the old size goes on
 * switch: BUG_OLD_COUNT who is woken reads the size, and not which permits are out
 * switch: BUG_RAISE_UNNOTICED who waits does not watch the size
 * switch: BUG_RETURN_UNNOTICED who waits watches the size alone
 * switch: BUG_WATCH_LATE the watch on the permits is set after they are listed
 * switch: BUG_NO_QUEUE permits are counted and taken without a turn
 * switch: BUG_NO_OWN_PLACE the transaction does not fail when the own place is gone
 * switch: BUG_COUNTS_HOLDERS who holds two permits counts for one
 * switch: BUG_ONE_BY_ONE two permits are taken one after the other, and each keeps its own
 * switch: BUG_RELEASES_ONE one permit of two is given back
 * switch: BUG_CANCELLED who gives up while it takes its permits leaves them
 * switch: BUG_UNANSWERED permits whose answer is lost are not looked for, and others are taken
 *
 * search: "a size of two" quick -DN=2 => holds
 * search: "two changes of the size" -DCHANGES=2 => holds
 * search: "a change, a broken connection, a cancel" -DN=2 -DCHANGES=1 -DBREAKS=1 -DCANCELS=1 => holds
 * search: "a change, an expiry" -DN=2 -DCHANGES=2 -DSILENCES=1 => holds
 * search: "a broken connection, a place deleted by others" -DBREAKS=1 -DADMINS=1 => holds
 * search: "the size falls before the take" -DBUG_SIZE_VERSION -DN=2 -DCHANGES=1 => violated room
 * search: "the size that was read goes on" -DBUG_OLD_SIZE -DN=2 -DCHANGES=1 => violated room
 * search: "the old count" -DBUG_OLD_COUNT -DN=2 => stuck
 * search: "the size is raised" -DBUG_RAISE_UNNOTICED -DN=2 -DCHANGES=1 => stuck
 * search: "a permit is given back" -DBUG_RETURN_UNNOTICED -DN=2 => stuck
 * search: "a permit goes before the watch" -DBUG_WATCH_LATE -DN=2 => stuck
 * search: "two count at a time" -DBUG_NO_QUEUE -DN=2 => violated room
 * search: "the own place is gone" -DBUG_NO_OWN_PLACE -DN=2 -DADMINS=1 => violated room
 * search: "holders are counted" -DBUG_COUNTS_HOLDERS -DN=2 => violated room
 * search: "one by one" -DBUG_ONE_BY_ONE -DN=2 => stuck
 * search: "one is given back" -DBUG_RELEASES_ONE -DN=2 => stuck
 * search: "the cancel leaves permits" -DBUG_CANCELLED -DN=2 -DCANCELS=1 => stuck
 * search: "the lost take" -DBUG_UNANSWERED -DN=2 -DBREAKS=1 => stuck
 */
#ifndef N
#define N 3
#endif
/* on(X) is 1 with -DX, and 0 otherwise. */
#define PASTED_1 0,
#define SECOND(a, b, ...) b
#define PICK(x) SECOND(x 1, 0)
#define PASTE(x) PICK(PASTED_##x)
#define on(x) PASTE(x)

/* The leader: places, permits, the size and its version; what its server shows to each contender. */
byte places, permits, size = 2, version, next = 1;
byte viewPermits[N], viewSize[N], viewVersion[N], place[N];
bool ended[N], room = true, clean = true;
byte came, done, changes, breaks, cancels, silences, admins;

#define two(x, i) (on(BUG_COUNTS_HOLDERS) -> (((x) >> (i)) & 3) != 0 : (((x) >> (i)) & 1) + (((x) >> ((i) + 1)) & 1))
#define counted(x) (two(x, 0) + two(x, 2) + two(x, 4))
#define bits(x) (((x) & 1) + (((x) >> 1) & 1) + (((x) >> 2) & 1) + (((x) >> 3) & 1) + (((x) >> 4) & 1) + (((x) >> 5) & 1))
#define need (on(BUG_ONE_BY_ONE) -> 1 : n)
#define wanted (((need == 2 -> 3 : 1) << got) << (2 * c))
#define stands (places & place[c])
#define mayTake (!ended[c] && (stands || on(BUG_NO_OWN_PLACE)) && (version == ver || on(BUG_SIZE_VERSION)))

inline see() { viewPermits[c] = permits; viewSize[c] = size; viewVersion[c] = version }
inline seeOrNot() { if :: see() :: true fi }
inline carryOut() { /* recipes: queue.batch.operations, queue.batch.try */
	permits = permits | wanted; places = places & ~place[c]; see();
	room = (bits(permits) <= size); assert(room)
}
inline mayCancel() { cancels < CANCELS -> cancels++ }

proctype contender(byte c) {
	byte n, got, mine, out, seen, sz, ver;  /* permits: wanted, had, their nodes, listed, when the watch was set; of the size */
	bool watch, over, resized;

	if :: n = 1 :: n = 2 fi;
again:	atomic { /* recipes: queue.Pool.Contend, queue.Contender.Enqueue */
		came >= c; came = came + (came == c);   /* contenders are alike, so they may come in their order */
		ended[c] = false; place[c] = next; assert(next < 128); next = next << 1; places = places | place[c];
		watch = false; see()
	};
	if
	:: atomic { !stands -> goto again }
	:: atomic { !(places & (place[c] - 1)) || on(BUG_NO_QUEUE) -> see() } /* recipes: queue.Contender.Wait */
#if CANCELS
	:: atomic { mayCancel(); goto leave }
#endif
	fi;
count:	atomic { /* recipes: queue.Pool.take, queue.Pool.count, queue.Pool.tally, queue.permits.used */
		seeOrNot(); out = viewPermits[c]; seen = viewPermits[c]
	};
	atomic { seeOrNot(); if :: on(BUG_WATCH_LATE) -> seen = viewPermits[c] :: else fi };
read:	atomic { /* recipes: recipes.SharedCount.read, queue.Pool.readSize, queue.batchOrWait */
		seeOrNot(); sz = (on(BUG_OLD_SIZE) && resized -> sz : viewSize[c]); ver = viewVersion[c];
		if
		:: counted(out) + need <= sz -> goto take
		:: counted(out) + need > sz && !watch -> watch = true; goto count
		:: counted(out) + need > sz && watch
		fi
	};
	if
	:: atomic { (permits != seen && !on(BUG_RETURN_UNNOTICED)) || (version != ver && !on(BUG_RAISE_UNNOTICED)) || !stands ->
		see(); /* recipes: queue.Contender.awaitAny */
		if :: !stands -> goto again :: stands && on(BUG_OLD_COUNT) -> seen = permits; goto read :: else -> goto count fi }
#if CANCELS
	:: atomic { mayCancel(); goto leave }
#endif
	fi;
take:	atomic { /* recipes: queue.batch.run, queue.batch.finish */
		if
		:: mayTake -> carryOut(); goto taken
		:: ended[c] || !stands && !on(BUG_NO_OWN_PLACE) -> goto again
		:: !mayTake && !ended[c] && (stands || on(BUG_NO_OWN_PLACE)) -> see(); watch = false; resized = true; goto read
#if BREAKS
		:: breaks < BREAKS -> breaks++
#endif
		fi };
	if :: d_step { mayTake -> carryOut() } :: true fi;
	if :: true
#if CANCELS
	:: mayCancel(); over = true; if :: on(BUG_CANCELLED) -> goto leave :: else fi
#endif
	fi;
	atomic { /* recipes: queue.batch.find, queue.request.undo */
		if
		:: ended[c] && !over -> goto again
		:: ended[c] && over -> goto leave
		:: !ended[c] && on(BUG_UNANSWERED) && n == 1 && got == 0 -> got = 1; places = places & ~place[c]; goto again
		:: !ended[c] && (permits & wanted) -> goto taken
		:: !ended[c] && !(permits & wanted) && over -> goto leave
		:: !ended[c] && !(permits & wanted) && !over -> goto take
		fi };
taken:	atomic {
		mine = mine | wanted; got = got + need; /* reached */
		if :: on(BUG_ONE_BY_ONE) && got < n -> goto again :: else fi
#if CANCELS
		;
		if :: on(BUG_CANCELLED) && cancels < CANCELS -> cancels++; mine = 0; goto leave :: true fi
#endif
	};
	atomic { /* recipes: queue.batch.grant, recipes.Lease.release */
		permits = permits & ~(on(BUG_RELEASES_ONE) -> mine & -mine : mine)
	};
leave:	atomic { /* recipes: queue.Contender.Leave */
		places = places & ~place[c]; place[c] = 0; done++;
		viewPermits[c] = 0; viewSize[c] = 0; viewVersion[c] = 0; ended[c] = false
	}
}

#if SILENCES || ADMINS
proctype session(byte c) {
end:	do
#if SILENCES
	:: d_step { silences < SILENCES && (stands || (permits & (3 << (2 * c)))) -> /* recipes: recipes.hold.Lose */
		silences++; ended[c] = true; places = places & ~place[c]; permits = permits & ~(3 << (2 * c)) }
#endif
#if ADMINS
	:: d_step { admins < ADMINS && stands -> admins++; places = places & ~place[c] }
#endif
	od
}
#endif

#if CHANGES
proctype setter() { /* recipes: recipes.SharedCount.Set */
end:	do
	:: atomic { changes < CHANGES -> changes++; version++; if :: size = 1 :: size = 3 fi }
	:: d_step { changes == CHANGES && size < 2 -> size = 2; version++ }
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
#if CHANGES
		run setter();
#endif
		c = 0
	};
end:	atomic { done == N -> clean = !(places | permits); assert(clean) }
}
