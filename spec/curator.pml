/* Curator 5.4: InterProcessMutex, and the leases of InterProcessSemaphoreV2, as they are. Violations that docs/field.md
 * explains are searches here; without their causes the locks hold. Not modelled are an acquire that is interrupted, permits
 * of an older session, and the watch of a SharedCount.
 *
 * mutex.pml shows, and here it is assumed: a create whose answer is lost is found by its guid, a delete is repeated,
 * a waiter lists again when the node before its own goes or its connection comes back. So a step here is one of the
 * leader, and no server lags. A user who is told SUSPENDED or LOST stops at once, unless it is careless.
 *
 * switch: CARELESS users do not listen to the state of the connection
 * switch: SILENCES=n how often a session is expired after its client is told SUSPENDED
 * switch: CUTS=n how often a session is expired while its client is connected, to a server that is cut off
 * switch: ADMINS=n how often others delete a node
 * switch: OLDS=n how often a client takes its session for lost, opens another, and its node stays for a time
 * switch: PERMITS=n a semaphore of n leases in place of the mutex
 * switch: WANTS=n how many leases an acquire asks for
 *
 * search: "a mutex" quick => holds
 * search: "a mutex, an expiry that is told before" -DSILENCES=2 => holds
 * search: "a careless user" -DCARELESS -DSILENCES=1 => violated alone
 * search: "the connection is up, and the session has ended" -DCUTS=1 => violated alone
 * search: "the holder's node is deleted" -DADMINS=1 => violated alone
 * search: "the node of an older session" -DOLDS=1 => violated alone
 * search: "two leases of two" -DPERMITS=2 => holds
 * search: "one lease, a node deleted by others" -DPERMITS=1 -DADMINS=1 => violated enough
 * search: "several leases, one after the other" -DPERMITS=2 -DWANTS=2 => stuck
 * search: "two acquires that wait for each other" -DPERMITS=1 -DSILENCES=1 => stuck
 */
#ifndef SILENCES
#define SILENCES 0
#endif
#ifndef CUTS
#define CUTS 0
#endif
#ifndef ADMINS
#define ADMINS 0
#endif
#ifndef OLDS
#define OLDS 0
#endif
#ifndef WANTS
#define WANTS 1
#endif
/* on(X) is 1 with -DX, and 0 otherwise. */
#define PASTED_1 0,
#define SECOND(a, b, ...) b
#define PICK(x) SECOND(x 1, 0)
#define PASTE(x) PICK(PASTED_##x)
#define on(x) PASTE(x)

#define N 2
short queue;                                    /* the places that stand */
byte next, place[N], nodes, inner;   /* nodes of leases; who has the semaphore's inner mutex, plus one */
bool believes[N], suspended[N], old[N];         /* old: the node is that of a session that its client has given up */
byte leases[N], silences, cuts, admins, olds;   /* leases that a user believes to hold */
bool alone = true, enough = true;

#define bit(p) (1 << (p))
#define stands(c) (place[c] && (queue & bit(place[c])))
#define first(c) (stands(c) && !(queue & (bit(place[c]) - 1)))

#ifndef PERMITS
proctype contender(byte c) {
	/* StandardLockInternalsDriver.createsTheLock */
again:	atomic { !suspended[c] -> next++; place[c] = next; queue = queue | bit(next); old[c] = false };
	if
	:: atomic { !suspended[c] && first(c) -> /* LockInternals.internalLockLoop, StandardLockInternalsDriver.getsTheLock */
		alone = !believes[1 - c]; assert(alone); believes[c] = true } /* reached */
	:: atomic { !suspended[c] && !stands(c) -> goto again } /* NoNodeException, LockInternals.attemptLock */
	fi;
	/* InterProcessMutex.release, LockInternals.deleteOurPath */
	atomic { believes[c] = false; queue = queue & ~bit(place[c]); place[c] = 0 }
}

proctype session(byte c) {
end:	do
	:: d_step { silences < SILENCES && !suspended[c] -> silences++; suspended[c] = true; believes[c] = believes[c] && on(CARELESS) } /* SUSPENDED */
	:: d_step { suspended[c] -> suspended[c] = false } /* RECONNECTED */
	:: d_step { suspended[c] && stands(c) -> queue = queue & ~bit(place[c]) } /* expired */
	:: d_step { cuts < CUTS && stands(c) -> cuts++; queue = queue & ~bit(place[c]) }
	:: d_step { admins < ADMINS && stands(c) -> admins++; queue = queue & ~bit(place[c]) }
	:: d_step { olds < OLDS && stands(c) -> olds++; old[c] = true; believes[c] = believes[c] && on(CARELESS) } /* SUSPENDED, LOST, RECONNECTED */
	:: d_step { old[c] && stands(c) -> queue = queue & ~bit(place[c]) } /* the servers end the old session */
	od
}
#else
proctype contender(byte c) {
	byte n;                                 /* leases that it has got */

	do
	:: n < WANTS ->                         /* InterProcessSemaphoreV2.acquire, internalAcquire1Lease */
		atomic { !inner -> inner = c + 1 };
		if :: atomic { silences < SILENCES && inner == c + 1 -> silences++; inner = 0 } :: true fi; /* its session ends; the create is repeated in the next */
		atomic { nodes++ };
		atomic { nodes <= PERMITS -> leases[c]++; n++; /* reached */
			enough = (leases[0] + leases[1] <= PERMITS); assert(enough) };
		atomic { inner = (inner == c + 1 -> 0 : inner) }
	:: n == WANTS -> break
	od;
	atomic { nodes = nodes - (nodes < n -> nodes : n); leases[c] = 0 } /* InterProcessSemaphoreV2.returnAll */
}

proctype session(byte c) {
end:	do
	:: d_step { admins < ADMINS && leases[c] -> admins++; nodes-- }
	od
}
#endif

init { atomic { run contender(0); run contender(1); run session(0); run session(1) } }
