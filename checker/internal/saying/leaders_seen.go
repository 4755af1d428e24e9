package saying

import (
	"fmt"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// observersJudge judges that the terms that one client sees never get older. A leader that the
// client has seen is in the past of all that it sees later, also in another session: servers
// show a session nothing older than it has seen, and create a session by a transaction.
//
// A leader that is seen again after an observation without a leader counts as older: no term
// begins twice.
type observersJudge struct {
	facts.Deaf
	v         *verdict.Verdict
	t         *facts.Trace
	last      map[facts.LockUse]seenLeader
	seen      int    // leaders
	owner     string // that the current event names
	announced announcements
	news      []awaited
}

// seenLeader is the newest leader that a client has seen, and its last observation.
type seenLeader struct {
	*facts.Op
	vacant bool // the client has since seen that there was no leader
}

// NewObservers returns the judge of the leaders that observers of elections see.
func NewObservers(t *facts.Trace, v *verdict.Verdict) judge.Judge {
	v.Promised, v.Expected = t.Header.Promises.Tokens, true
	j := &observersJudge{v: v, t: t, last: map[facts.LockUse]seenLeader{}}
	t.Listen(j)
	return j
}

func (j *observersJudge) Event(_ int, e *histories.Event) { j.owner = e.Owner }

func (j *observersJudge) Completed(o *facts.Op) {
	if o.Recipe() == histories.Election {
		j.announced.completed(j.t, o, j.owner, j.v.Violate)
	}
	if o.Kind != histories.Observe {
		return
	}
	of := facts.LockUse{Process: o.Process, Lock: o.Lock}
	last := j.last[of]
	j.await(o, last)
	if !o.OK() {
		return
	}
	if o.Token == (histories.Token{}) {
		last.vacant = true
		j.last[of] = last
		return
	}
	j.seen++
	if last.Op != nil && (o.Token.Less(last.Token) || o.Token == last.Token && last.vacant) {
		j.v.Violate(func() verdict.Witness { return wentBack(j.t, o, last) })
		return
	}
	j.last[of] = seenLeader{Op: o}
}

func wentBack(t *facts.Trace, o *facts.Op, last seenLeader) verdict.Witness {
	p := judge.OpParty(o)
	w := judge.NewWitness(t, o.Lock, last.Ret, o.Ret, p)
	before := fmt.Sprintf("that of term %s", verdict.Token(last.Token))
	if o.Token == last.Token {
		before = "that there was no leader any more"
	}
	w.What = fmt.Sprintf("%v saw the leader of term %s of %q at %s, after it had seen %s by %s",
		p, verdict.Token(o.Token), w.Lock, verdict.At(o.Ret), before, verdict.At(last.Ret))
	return w
}

func (j *observersJudge) Window(*judge.Engines, *facts.Trace) int { return 0 }

func (j *observersJudge) Conclude(*judge.Engines, *facts.Trace) {
	v := j.v
	v.Count("leaders seen", j.seen)
	j.late()
	if j.seen == 0 {
		v.Idle("no client has seen a leader")
		return
	}
	v.Conclude(
		fmt.Sprintf("%s seen, and none after a newer one", words.Count(j.seen, "leader")),
		words.Count(v.Violations, "leader")+" seen after a newer one, too late, or with an announcement of another")
}
