/* A create whose answer is lost, a release, and a lease: no node is left behind, deleted by mistake or taken for another,
 * and who is granted the mutex has it alone, with a token that is higher than the one before.
 *
 * A contender creates a node, and looks for it when the answer is lost: after a write, since what the leader carries out
 * later is then refused or before that write. It is granted the mutex while its session has evidence, and deletes its
 * node until it is answered. servers.inc has the servers. mutex.pml shows, and here it is assumed: who is first in the
 * queue learns of it.
 *
 * FOLLOWS spares a list: of two transactions, the delete of the session's last holder and the create, that come right
 * after the create of the deleted node, the second leaves its node first in the queue.
 *
 * switch: N=n contenders, each with a session
 * switch: SHARED the first two contenders have one session
 * switch: ROUNDS=n how often each takes the mutex
 * switch: BREAKS=n how often a connection breaks, with requests that are carried out at once, later or never
 * switch: SILENCES=n how often a session is without evidence; its leases end, and it may be expired
 * switch: CANCELS=n how often a contender gives up
 * switch: DEPOSED=n how often a client is told too early that its session has ended
 * switch: ADMINS=n how many nodes are deleted by others
 * switch: REAPS=n how often the empty directory is deleted, and the numbers of nodes begin anew
 * switch: FOLLOWS a session lists nothing when its last holder's create, that one's delete and the create come one after the other
 * switch: EXPIRED_HOLDER an assertion that no session that was granted last is expired while another waits
 * switch: BUG_GRANT_WITHOUT_EVIDENCE who is first is granted without evidence
 * switch: BUG_NO_DEADLINE a lease goes on without evidence
 * switch: BUG_FOLLOWS_LATER FOLLOWS, and one more transaction may lie between
 * switch: BUG_FOLLOWS_UNSEEN FOLLOWS, and the delete may be answered after the create was sent
 * switch: BUG_CREATE_AGAIN a create whose answer is lost is sent again, without a look
 * switch: BUG_STALE_FIND the search for its node asks a server that lags
 * switch: BUG_SETTLE_BY_SYNC the search comes after a sync, not after a write
 * switch: BUG_ADOPT_OLD_SESSION a node of the session before is adopted
 * switch: BUG_REQUEST_IN_NEXT_SESSION a request of a session is sent in the next one
 * switch: BUG_CANCEL_LEAVES_NODE who gives up before the create is answered leaves the node
 * switch: BUG_RELEASE_GIVES_UP a delete whose answer is lost is not repeated
 * switch: BUG_DELETE_BY_NAME names have a number and no guid
 * switch: BUG_SEQUENCE_TOKEN the token is the node's number
 *
 * search: "a broken connection, numbers begin anew" quick -DROUNDS=2 -DBREAKS=1 -DREAPS=1 => holds
 * search: "a broken connection, an expiry, an end that is told early" -DBREAKS=1 -DSILENCES=1 -DDEPOSED=1 => holds
 * search: "two broken connections, a cancel" -DBREAKS=2 -DCANCELS=1 => holds
 * search: "no list after the own delete" -DFOLLOWS -DROUNDS=2 => holds
 * search: "no list after the own delete, a broken connection" -DFOLLOWS -DROUNDS=2 -DBREAKS=1 => holds
 * search: "no list after the own delete, an expiry" -DFOLLOWS -DROUNDS=2 -DSILENCES=1 => holds
 * search: "no list after the own delete, numbers begin anew" -DFOLLOWS -DROUNDS=2 -DREAPS=1 => holds
 * search: "no list after the own delete, a session told too early" -DFOLLOWS -DROUNDS=2 -DDEPOSED=1 => holds
 * search: "no list after the own delete, a node deleted by others" -DFOLLOWS -DROUNDS=2 -DADMINS=1 => holds
 * search: "no list after the own delete, two contenders of a session" -DFOLLOWS -DSHARED -DN=3 => holds
 * search: "the one granted last is expired while another waits" -DEXPIRED_HOLDER -DSILENCES=1 => violated
 * search: "no evidence" -DBUG_GRANT_WITHOUT_EVIDENCE -DSILENCES=1 => violated alone
 * search: "no deadline" -DBUG_NO_DEADLINE -DSILENCES=1 => violated alone
 * search: "another create lies between" -DBUG_FOLLOWS_LATER -DROUNDS=2 => violated inTurn
 * search: "the delete is answered after the create" -DBUG_FOLLOWS_UNSEEN -DSHARED -DN=3 => violated inTurn
 * search: "two nodes" -DBUG_CREATE_AGAIN -DBREAKS=1 => stuck
 * search: "the search asks a server that lags" -DBUG_STALE_FIND -DBREAKS=1 => stuck
 * search: "the search comes after a sync" -DBUG_SETTLE_BY_SYNC -DBREAKS=1 => stuck
 * search: "the node of a dying session" -DBUG_ADOPT_OLD_SESSION -DDEPOSED=1 => violated
 * search: "the request in the next session" -DBUG_REQUEST_IN_NEXT_SESSION -DSILENCES=1 => stuck
 * search: "the cancel leaves the node" -DBUG_CANCEL_LEAVES_NODE -DCANCELS=1 => stuck
 * search: "the release gives up" -DBUG_RELEASE_GIVES_UP -DBREAKS=1 => stuck
 * search: "the delete hits another node" -DBUG_DELETE_BY_NAME -DBREAKS=1 -DREAPS=1 -DROUNDS=2 => violated alone
 * search: "the token falls" -DBUG_SEQUENCE_TOKEN -DREAPS=1 => violated grows
 */
#if defined(FOLLOWS) || defined(BUG_FOLLOWS_LATER) || defined(BUG_FOLLOWS_UNSEEN)
/* Transactions that changed nodes; those before the create of each contender's node, and of each session's last holder's.
 * A contender has seen the latter when it sends its create. */
#define stateOfModel byte changes = 1, created[N], held[SESSIONS], seen[N];
#define changed() if :: x != 0 -> changes++ :: else fi
#define createdNow() created[c] = changes
#define follows ((on(BUG_FOLLOWS_UNSEEN) -> held[s] : seen[c]) != 0 && created[c] - (on(BUG_FOLLOWS_UNSEEN) -> held[s] : seen[c]) <= 2 + on(BUG_FOLLOWS_LATER))
#define look() seen[c] = held[s]
#define hasLeft() held[s] = (hadTurn -> created[c] : 0); hadTurn = false
#define heldNothing() held[s] = 0; hadTurn = false; seen[c] = 0
#else
#define follows false
#define look() skip
#define hasLeft() skip
#define heldNothing() skip
#endif
#include "servers.inc"

proctype contender(byte c) {
	byte rounds;
	bool over, hadTurn; /* over: it has held, or given up; hadTurn: with this node */

round:	if
	:: rounds == ROUNDS -> goto finished
	:: else -> rounds++; over = false
	fi;
	{ skip;
again:	atomic { /* recipes: queue.NewContender, queue.Contender.Enqueue */
		d_step { guid[c] = 0; node[c] = 0 };
create:		look(); ask(CREATE, 0)
	};
	do
#if CANCELS
	:: d_step { mayCancel -> cancel() }
#endif
	:: atomic { answered ->
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
placed:		if
		:: over && !on(BUG_CANCEL_LEAVES_NODE) -> goto leave
		:: over && on(BUG_CANCEL_LEAVES_NODE) -> goto round
		:: else -> break
		fi }
	od;
	if
	:: follows -> skip /* recipes: queue.Contender.follows */
	:: !(stand & (node[c] - 1) & ~leaving[s]) ->
		if :: token != 0 && happened -> skip; /* reached */
		:: else
		fi
#if CANCELS
	:: atomic { mayCancel -> cancel(); goto leave }
#endif
	fi;
	if /* recipes: recipes.Client.startHold, session.Session.AwaitEvidence, recipes.newHold, session.Locked.Left */
	:: d_step { evidence[s] || on(BUG_GRANT_WITHOUT_EVIDENCE) -> grant(); over = true; hadTurn = true }
	:: atomic { !(stand & node[c]) -> goto again } /* recipes: session.heartbeat.nodesGone */
#if CANCELS
	:: atomic { mayCancel -> cancel(); goto leave }
#endif
	fi;
leave:	atomic { /* recipes: recipes.Lease.release, queue.Contender.Leave, session.RemoveHere, session.DeleteByGUID */
		d_step { believes[c] = false; leaving[s] = leaving[s] | node[c] };
delete:		if :: on(BUG_DELETE_BY_NAME) -> ask(DELETE, number[c]) :: else -> ask(DELETE, node[c]) fi;
		hearAnswer();
		if
		:: answer[c] == LOST && !on(BUG_RELEASE_GIVES_UP) -> heard(); goto delete
		:: else -> d_step { leaving[s] = leaving[s] & ~node[c]; hasLeft(); node[c] = 0; heard() }; goto round
		fi }
	} unless { atomic { dead[s] || ended[s] -> /* recipes: session.Keeper.run, recipes.Client.inSession */
		d_step { leaveSession(); heldNothing(); nextSession() };
		if
		:: over -> node[c] = 0; goto round
		:: !over && on(BUG_ADOPT_OLD_SESSION) -> node[c] = 0; goto find
		:: else -> goto again
		fi } };
finished:
	atomic { done++; came[c] = true;
#ifndef SHARED
		ended[s] = true; view[s] = 0; hearNoMore()
#endif
	}
}

init {
	byte c;
	atomic { runAll() };
end:	atomic { settled -> clean = (stand == 0); assert(clean) }
}
