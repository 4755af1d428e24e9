/* While a client believes that its session lives, no leader expires the session.
 *
 * The client talks to a server that follows the leader. The leader alone expires the session, T
 * after the last activity that it has heard of. It hears of activity in the follower's replies to
 * its pings, which it sends every half tick, and when a server asks it about a client that has
 * reconnected. The client counts from the time at which it sent the first request of a chain: each
 * request is sent a certain time after the answer before it, all but the last are syncs, the last is
 * a write. A reconnect is a chain of its own: the connect request, then a write.
 *
 * Faults: any message is delayed for any time, or for ever; this covers a loss in one direction, and
 * a stop of the follower. The leader stops, up to STOPS times in a chain. The connection ends, and
 * the client connects to any server. Another leader takes over; servers that have not noticed go on
 * following the old one. The expiry may come late.
 *
 * Why one chain and one connection are enough: every chain is a claim of its own, so the client
 * gives one up at any time and starts the next. Other requests and other connections only add
 * activity. On a server that is the leader the first request is activity at once. No clock counts
 * from the start, so runs have any length. Time is in units of HALF to the half tick.
 *
 * switch: HALF=n units of time in half a tick
 * switch: T=n the session timeout
 * switch: LINKS=n answers in a chain
 * switch: STOPS=n how often the leader stops while a chain goes on; ANY for no limit
 * switch: PING_FIRST a leader that goes on sends an overdue ping before it does anything else
 * switch: DRIFT=n how much the client's clock may gain or lose in a gap or a timeout
 * switch: MARGIN=n how much of the timeout the client leaves unused
 * switch: WRITE_FIRST the write is the first request of the chain, the last is a sync
 * switch: BUG_TODAY any answer counts once a write sent a tick later is confirmed
 * switch: BUG_READS five reads, which the follower answers alone
 * switch: BUG_SELF a confirmed write counts for itself
 * switch: BUG_RECONNECT a reconnect counts before a write is confirmed on the connection
 * switch: BUG_SYNC_ONLY the last request of a chain is a sync, which a deposed leader answers
 * switch: BUG_THREE three answers in a chain
 * switch: BUG_SHORT_GAP the gap is half a tick, and not more
 * switch: BUG_SMALL_TICK the client takes the servers' tick for a quarter of what it is
 * switch: BUG_NO_PAUSE the third and fourth requests follow the answers at once
 * switch: BUG_PIPELINED a request does not wait for the answer before it
 * switch: BUG_ANSWERED the client counts from the answer of the first request
 * switch: BUG_TORN a touch goes into the table that a ping's reply has just taken: assumed not to happen
 *
 * search: "no stop of the leader" quick => holds
 * search: "one stop, the leader answers first" -DSTOPS=1 => holds
 * search: "two stops, the leader answers first" -DSTOPS=2 => holds
 * search: "three stops, the leader answers first" -DSTOPS=3 => violated
 * search: "any number of stops, the leader pings first" -DSTOPS=ANY -DPING_FIRST => holds
 * search: "two stops, a timeout of three ticks" -DT=12 -DSTOPS=2 => holds
 * search: "no stop, time in finer units" -DHALF=4 => holds
 * search: "two stops, clocks that differ by the margin" -DSTOPS=2 -DDRIFT=1 => holds
 * search: "clocks that differ, no margin" -DDRIFT=1 -DMARGIN=0 => violated
 * search: "two stops, the write first" -DSTOPS=2 -DWRITE_FIRST => holds
 * search: "three answers, no stop" -DLINKS=3 => holds
 * search: "four answers, one stop" -DLINKS=4 -DSTOPS=1 => holds
 * search: "four answers, two stops" -DLINKS=4 -DSTOPS=2 => violated
 * search: "any answer, then a write a tick later" -DBUG_TODAY => violated
 * search: "reads alone" -DBUG_READS => violated
 * search: "a write that counts for itself" -DBUG_SELF => violated
 * search: "a reconnect without a confirmed write" -DBUG_RECONNECT => violated
 * search: "syncs without a write" -DBUG_SYNC_ONLY => violated
 * search: "three answers, one stop" -DBUG_THREE -DSTOPS=1 => violated
 * search: "a gap of half a tick, two stops" -DBUG_SHORT_GAP -DSTOPS=2 => violated
 * search: "a gap of half a tick, three answers" -DBUG_SHORT_GAP -DLINKS=3 => violated
 * search: "a tick that is too small" -DBUG_SMALL_TICK -DHALF=4 => violated
 * search: "no pauses, one stop" -DBUG_NO_PAUSE -DSTOPS=1 => violated
 * search: "a request before the answer to the one before" -DBUG_PIPELINED => violated
 * search: "counted from the first answer" -DBUG_ANSWERED => violated
 * search: "a touch that a reply takes away" -DBUG_TORN => violated
 */
#ifndef HALF
#define HALF 2
#endif
#ifndef T
#define T (4 * HALF)
#endif
#ifndef STOPS
#define STOPS 0
#endif
#define ANY 255
#ifndef DRIFT
#define DRIFT 0
#endif
#ifndef MARGIN
#define MARGIN DRIFT
#endif
#ifdef BUG_PIPELINED
#define PENDING 2
#else
#define PENDING 1     /* requests of the client under way */
#endif

/* The chain: the number of answers, the kind of each request, the time after the answer before. */
#if defined(BUG_TODAY)
#define LINKS 2
#define GAP (2 * HALF)
#elif defined(BUG_SELF)
#define LINKS 1
#elif defined(BUG_THREE)
#define LINKS 3
#endif
#ifndef LINKS
#define LINKS 5
#endif
#if defined(BUG_SHORT_GAP)
#define GAP HALF
#elif defined(BUG_SMALL_TICK)
#define GAP (HALF / 4 + 1)
#elif !defined(BUG_TODAY)
#define GAP (HALF + 1 + DRIFT)
#endif
#ifdef BUG_NO_PAUSE
#define PAUSE 0
#else
#define PAUSE (1 + DRIFT)
#endif
#define last(i) (i == LINKS - 1)
#if defined(BUG_READS)
#define asks(i) READ
#elif defined(BUG_TODAY)
#define asks(i) (last(i) -> WRITE : READ)
#elif defined(BUG_SYNC_ONLY)
#define asks(i) SYNC
#elif defined(WRITE_FIRST)
#define asks(i) (i == 0 -> WRITE : SYNC)
#else
#define asks(i) (last(i) -> WRITE : SYNC)
#endif
/* A clock that gains lets the client ask DRIFT too early, */
#define gap(i) (i == 0 || reconnect -> 0 : (i == 1 -> GAP - DRIFT : (last(i) -> 0 : PAUSE - DRIFT)))
/* one that loses lets it believe DRIFT too long. */
#define END (T - MARGIN + DRIFT)
#ifdef BUG_RECONNECT
#define goal (reconnect -> 1 : LINKS)
#else
#define goal (reconnect -> 2 : LINKS)
#endif

mtype = { READ, SYNC, WRITE, CONNECT, ANSWER, PING, REPLY };
chan c2f = [PENDING] of { mtype };          /* client to follower, */
chan f2c = [PENDING] of { mtype };          /* and back */
chan f2l = [4] of { mtype };                /* follower to leader, */
chan l2f = [1 + 2 * PENDING] of { mtype };  /* and back: an answer between two pings */

/* The client. */
byte sent, got;           /* requests and answers of the chain */
byte age;                 /* since the first request was sent, up to END */
byte idle;                /* since the last answer, up to GAP */
bool reconnect;           /* the chain is that of a reconnect */
bool believes = true;     /* at first for the answer to the session's creation */
/* The follower. */
bool touched;             /* there is activity to report */
mtype inside;             /* a request that is not yet in the stream to the leader */
bool putting, taken;      /* for BUG_TORN: the touch is on its way into a table; a reply took the table */
/* The leader that the follower follows. */
byte pingIn = HALF;       /* until the next ping is due */
bool pinged;              /* the last message of l2f is a ping */
bool stopped;
byte stops;               /* since the chain began, up to STOPS */
bool deposed;             /* another leader has the quorum */
/* The leader that has the quorum. */
byte silence;             /* since it last heard of activity, up to T */
bool expired;

inline ping() {
	/* A ping after one that the follower has not taken changes nothing. The follower either has no
	   activity to report between the two, or it could have taken the first as late as the second. */
	if
	:: pinged && nempty(l2f)
	:: !pinged || empty(l2f) -> l2f!PING; pinged = true
	fi;
	pingIn = HALF
}

inline endChain() { sent = 0; got = 0; age = 0; idle = 0; stops = 0; reconnect = false; believes = false }

inline beginChain() { stops = (STOPS == ANY -> 0 : stopped) }

active proctype world() {
	mtype kind;
	do
	/* Time passes. A leader that runs sends a ping as soon as it is due. */
	:: stopped || pingIn > 0 -> d_step {
		silence = (silence < T -> silence + 1 : T);
		age = (age < END && (sent > 0 || believes) -> age + 1 : age);
		idle = (idle < GAP && sent > 0 && sent < LINKS && (sent == got || PENDING > 1) -> idle + 1 : idle);
		pingIn = (pingIn > 0 -> pingIn - 1 : 0)
	}

	/* The client gives up a chain or a belief: session.evidence keeps many chains, each on its own. */
	:: sent == got && (sent > 0 || believes) -> d_step { endChain() }
	/* It sends the next request. recipes: session.heartbeat.chain, session.heartbeat.check, session.evidence.spacing */
	:: !believes && sent < goal && sent - got < PENDING && idle >= gap(sent) -> d_step {
		if :: sent == 0 -> beginChain() :: else fi;
		c2f!(reconnect -> WRITE : asks(sent));
		sent++;
#ifdef BUG_PIPELINED
		idle = 0
#endif
	}
	/* It gets an answer. recipes: session.evidence.relayed, session.evidence.extend, session.evidence.deadline, session.evidence.established, session.margin */
	:: nempty(f2c) -> atomic {
		f2c?_; got++;
#ifndef BUG_PIPELINED
		idle = 0;
#endif
#ifdef BUG_ANSWERED
		if :: got == 1 && !reconnect -> age = 0 :: else fi;
#endif
		if
		:: got == goal && age < END ->
			believes = true; /* reached */
			assert(!expired)
		:: else
		fi
	}
	/* It loses its connection and asks another server, which follows this leader or another.
	   recipes: session.Session.reconnect, session.evidence.reconnected */
	:: atomic {
		endChain();
		do
		:: nempty(c2f) -> c2f?_
		:: nempty(f2c) -> f2c?_
		:: nempty(f2l) -> f2l?_
		:: nempty(l2f) -> l2f?_
		:: empty(c2f) && empty(f2c) && empty(f2l) && empty(l2f) -> break
		od;
		touched = false; inside = 0; putting = false; taken = false; pinged = false;
		if :: deposed = false :: deposed = true fi;
		select(pingIn : 0 .. HALF);
		beginChain();
		reconnect = true; sent = 1; c2f!CONNECT
	}

	/* The follower takes a request, notes the activity, and passes the request on or answers it. */
	:: nempty(c2f) && !inside -> d_step {
		c2f?inside;
#ifdef BUG_TORN
		putting = (inside != CONNECT); taken = false
	}
	:: putting -> d_step { touched = touched || !taken; putting = false; taken = false
#else
		touched = touched || inside != CONNECT
#endif
	}
	:: inside == READ && nfull(f2c) -> d_step { f2c!ANSWER; inside = 0 }
	:: inside && inside != READ && nfull(f2l) && !putting -> d_step { f2l!inside; inside = 0 }
	/* It takes the leader's messages. A reply without activity has no effect. */
	:: nempty(l2f) && nfull(f2l) && nfull(f2c) -> d_step {
		l2f?kind;
		if
		:: kind == PING ->
			if :: touched -> f2l!REPLY :: else fi;
			touched = false; taken = putting
		:: kind == ANSWER -> f2c!ANSWER
		fi;
		kind = 0
	}

	/* Its leader takes its messages. A leader with the quorum answers for sessions that live. A deposed
	   leader answers all but writes, and the activity that it hears of has no effect. */
	:: nempty(f2l) && nfull(l2f) && !stopped && (deposed || !expired) -> d_step {
		f2l?kind;
		if :: (kind == REPLY || kind == CONNECT) && !deposed -> silence = 0 :: else fi;
		if
		:: kind == SYNC || kind == CONNECT || (kind == WRITE && !deposed) -> l2f!ANSWER; pinged = false
		:: else
		fi;
		kind = 0
	}
	:: !stopped && pingIn == 0 -> d_step { ping() }
	:: !stopped && (STOPS == ANY || stops < STOPS) -> d_step {
		stopped = true;
		stops = (STOPS == ANY -> 0 : stops + 1)
	}
	:: stopped -> d_step {
		stopped = false;
#ifdef PING_FIRST
		if :: pingIn == 0 -> ping() :: else fi
#endif
	}

	/* Another leader takes over, and gives the session its whole timeout. */
	:: !expired -> atomic { deposed = true; silence = 0 } /* reached */
	/* The leader that has the quorum expires the session, at once or later. */
	:: !expired && silence == T && (deposed || !stopped) -> atomic {
		expired = true; /* reached */
		if
		:: believes ->
			assert(age == END) /* reached */
		:: else
		fi
	}
	od
}
