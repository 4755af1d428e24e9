/* No write of an old holder takes effect after one of a newer holder, in a store with a fence and by guarded writes;
 * the newest holder is not refused; a guarded write takes effect while its node stands, once or not at all, and the
 * caller is told which, or that it is not known.
 *
 * mutex.pml and lease.pml show, and here it is assumed: holders come one after the other, each when the node before is
 * gone and with a newer token; a client that runs knows of the end of its session before it comes; a request of a
 * broken connection is not carried out once the next connection has an answer, nor one of a session that has ended.
 * A client may pause after each step, so what it has found out may be old. A node has the name of its session.
 *
 * switch: N=n sessions, each a holder
 * switch: WRITES=n writes of each
 * switch: BREAKS=n how often an answer is lost; the request is carried out at once, later or never
 * switch: CANCELS=n how often a caller gives up while its request is under way
 * switch: FAILS=n how often an operation of a guarded write fails for want of its own node
 * switch: STORE the holders write to a store with a fence, and not to the servers
 * switch: BUG_UNFENCED the store admits every token
 * switch: BUG_NEWER_ONLY the store admits a token once
 * switch: BUG_ADMITTED_BEFORE the token is admitted, and the write comes later
 * switch: BUG_LAST_TOKEN the store keeps the token of the last write that it is asked for, also an old one
 * switch: BUG_UNCHECKED a guarded write does not check the node
 * switch: BUG_CHECKED_BEFORE the node is checked, and then the write is sent
 * switch: BUG_NEXT_SESSION a guarded write goes on in the next session, which has no node to check
 * switch: BUG_AGAIN a guarded write whose answer is lost is sent again
 * switch: BUG_LOST_IS_REFUSED a write whose answer is lost counts as not written
 * switch: BUG_GIVEN_UP_IS_REFUSED a write whose caller gives up counts as not written
 * switch: BUG_ENDED_IS_REFUSED a write during which the session ends counts as not written
 * switch: BUG_ANY_NODE a missing node of an operation counts as the loss of the lease
 *
 * search: "a store" -DSTORE -DN=3 => holds
 * search: "guarded writes, a lost answer" quick -DBREAKS=1 => holds
 * search: "three holders, a lost answer, a cancel, a failure" -DN=3 -DWRITES=1 -DBREAKS=1 -DCANCELS=1 -DFAILS=1 => holds
 * search: "no fence" -DSTORE -DBUG_UNFENCED => violated inOrder
 * search: "a token that is admitted once" -DSTORE -DBUG_NEWER_ONLY => violated admitted
 * search: "an admission before the write" -DSTORE -DBUG_ADMITTED_BEFORE => violated inOrder
 * search: "the last token" -DSTORE -DBUG_LAST_TOKEN => violated inOrder
 * search: "no check" -DBUG_UNCHECKED => violated held
 * search: "a check before the write" -DBUG_CHECKED_BEFORE => violated held
 * search: "the next session" -DBUG_NEXT_SESSION => violated held
 * search: "a write that is sent again" -DBUG_AGAIN -DBREAKS=1 => violated told
 * search: "a lost answer is a refusal" -DBUG_LOST_IS_REFUSED -DBREAKS=1 => violated told
 * search: "giving up is a refusal" -DBUG_GIVEN_UP_IS_REFUSED -DCANCELS=1 => violated told
 * search: "the end of the session is a refusal" -DBUG_ENDED_IS_REFUSED => violated told
 * search: "another node is missing" -DBUG_ANY_NODE -DFAILS=1 => violated lost
 */
#ifndef N
#define N 2
#endif
#ifndef WRITES
#define WRITES 2
#endif
#ifndef BREAKS
#define BREAKS 0
#endif
#ifndef CANCELS
#define CANCELS 0
#endif
#ifndef FAILS
#define FAILS 0
#endif
/* on(X) is 1 with -DX, and 0 otherwise. */
#define PASTED_1 0,
#define SECOND(a, b, ...) b
#define PICK(x) SECOND(x 1, 0)
#define PASTE(x) PICK(PASTED_##x)
#define on(x) PASTE(x)

mtype = { written, refused, unknown, gone, failed };

byte granted, breaks, cancels, fails;           /* the newest token that is granted: that of holder c is c + 1 */
byte newest, latest, carried[N];                   /* admitted; the token of the latest write; how often a write is carried out */
bool stands[N], ended[N], flying[N];            /* a holder's node; its session's end; its request is under way */
mtype answer[N], is[N];                         /* of the servers; what the caller is told */
bool inOrder = true, admitted = true, held = true, told = true, lost = true;

inline write() { inOrder = (c + 1 >= latest); assert(inOrder); latest = c + 1 }
#define unchecked (on(BUG_UNCHECKED) || on(BUG_CHECKED_BEFORE))
#define taken (!ended[c] && (stands[c] || unchecked) || ended[c] && on(BUG_NEXT_SESSION))

proctype holder(byte c) {
	byte left = WRITES;

	atomic { granted == c && (c == 0 || !stands[c - 1]) -> granted = c + 1; stands[c] = true }; /* recipes: recipes.newHold */
#ifdef STORE
	do
	:: atomic { left && !ended[c] -> left-- };
		atomic { /* recipes: recipes.Fence.Guard, recipes.Fence.Admit */
			if
			:: c + 1 < newest + on(BUG_NEWER_ONLY) && !on(BUG_UNFENCED) -> admitted = (granted > c + 1); assert(admitted);
				newest = (on(BUG_LAST_TOKEN) -> c + 1 : newest); goto next
			:: else -> newest = c + 1; /* reached */
				if :: on(BUG_ADMITTED_BEFORE) :: else -> write(); goto next fi
			fi };
		write();
next:		skip
	:: atomic { !left || ended[c] -> break }
	od;
#else
	do
	:: atomic { left && !flying[c] -> left--; carried[c] = 0; is[c] = 0; /* recipes: recipes.Lease.usable, recipes.writing */
		if :: ended[c] || on(BUG_CHECKED_BEFORE) && !stands[c] -> goto over :: else fi };
again:	atomic { !flying[c] -> flying[c] = true; answer[c] = 0 }; /* recipes: recipes.guarded, session.Call */
	atomic {
		if /* recipes: session.Undone, recipes.refused, recipes.lostWith */
		:: !flying[c] && answer[c] == written -> is[c] = written; told = (carried[c] == 1); assert(told) /* reached */
		:: !flying[c] && answer[c] != written -> is[c] = refused; told = !carried[c]; assert(told);
			lost = !(stands[c] && (answer[c] == gone || on(BUG_ANY_NODE))); assert(lost)
		:: ended[c] -> is[c] = (on(BUG_ENDED_IS_REFUSED) -> refused : unknown)
		:: cancels < CANCELS -> cancels++; is[c] = (on(BUG_GIVEN_UP_IS_REFUSED) -> refused : unknown)
		:: breaks < BREAKS -> breaks++; is[c] = (on(BUG_LOST_IS_REFUSED) -> refused : unknown); if :: on(BUG_AGAIN) -> goto again :: else fi
		fi;
		told = !(is[c] == refused && carried[c]); assert(told) }
	:: atomic { !left -> break }
	od;
over:
#endif
	stands[c] = false                       /* recipes: recipes.Lease.release */
}

/* The servers, and others who delete the holder's node. */
proctype server(byte c) {
end:	do
	:: atomic { flying[c] -> flying[c] = false;
		if
		:: taken && fails < FAILS -> fails++; answer[c] = failed
		:: taken -> held = stands[c]; assert(held); write(); carried[c]++;
			told = (is[c] != refused); assert(told); answer[c] = written
		:: !taken -> answer[c] = gone
		fi }
	:: d_step { flying[c] && is[c] -> flying[c] = false } /* its connection is broken */
	:: d_step { stands[c] -> stands[c] = false }
	:: d_step { stands[c] -> stands[c] = false; ended[c] = true } /* recipes: recipes.hold.Lose */
	od
}

init {
	byte c;
	atomic { for (c : 0 .. N - 1) { run holder(c); run server(c) }; c = 0 }
}
