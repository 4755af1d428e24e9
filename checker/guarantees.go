package checker

import "github.com/zkverify/zkverify/histories"

// The names of the guarantees.
const (
	MutualExclusion    = "mutual exclusion"
	Reentrancy         = "reentrancy"
	Fencing            = "fencing"
	Fairness           = "fairness"
	NoLostUpdateFenced = "no lost update, fenced"
	NoLostUpdatePlain  = "no lost update, plain"
	LossIsTold         = "loss is told"
	Progress           = "progress"
	NoLeak             = "no leak"
	ReadersAndWriters  = "read/write"
	Permits            = "permits"
	AllOrNothing       = "multi-lock"
	Revocation         = "revocation"
	Barriers           = "barriers"
)

// Guarantee describes one thing that the checker judges.
type Guarantee struct {
	Name    string
	Summary string // one line
	Model   string // what it is judged against
	judge   func(*check, *trace) Verdict
	// of reports whether it is a guarantee of a recipe's locks. One that is of
	// no recipe of the run has no verdict.
	of func(histories.Recipe) bool
}

var guarantees = []Guarantee{
	{MutualExclusion, "no two owners believe at the same time to hold one lock", "owner-aware mutex over the belief of clients; interval sweep and Porcupine", (*check).mutualExclusion, histories.Recipe.Exclusive},
	{Reentrancy, "an owner may acquire again, and an inner release frees nothing; or is refused, by a lock that is not reentrant", "owner and depth", (*check).reentrancy, histories.Recipe.Exclusive},
	{Fencing, "tokens strictly grow from grant to grant of one lock", "order of tokens against real time", (*check).fencing, histories.Recipe.Exclusive},
	{Fairness, "the lock is granted in the order of the queue", "FIFO queue: enqueue, grant only at the head, leave; sweep and Porcupine", (*check).fairness, histories.Recipe.IsLock},
	{NoLostUpdateFenced, "no increment of a counter behind the fence is lost, whatever happens to the lock", "chain of admitted writes", (*check).noLostUpdateFenced, guards},
	{NoLostUpdatePlain, "no increment of a counter that only the lock protects is lost", "chain of writes", (*check).noLostUpdatePlain, guards},
	{LossIsTold, "a holder whose session ends is told within the bound", "time from the end of the session to lost", (*check).lossIsTold, histories.Recipe.IsLock},
	{Progress, "after the faults every client gets every lock, and passes every barrier, within the bound, and a try of a free lock succeeds", "first acquire of each lock by each process in recovery, then tries", (*check).progress, every},
	{NoLeak, "no contender node, watch or goroutine is left when all clients have released", "census at the end", (*check).noLeak, every},
	{ReadersAndWriters, "one writer or any number of readers, and a downgrade lets no writer in", "not judged yet", notJudged(ReadersAndWriters, histories.ReadWrite), is(histories.ReadWrite)},
	{Permits, "the permits held are never more than there are, size changes included", "not judged yet", notJudged(Permits, histories.Semaphore, histories.SharedSemaphore), histories.Recipe.HasPermits},
	{AllOrNothing, "several locks are acquired all or none, in whatever order they are named", "not judged yet", notJudged(AllOrNothing, histories.MultiLock), is(histories.MultiLock)},
	{Revocation, "a request to release reaches the holder within the bound, and nobody else", "not judged yet", notJudged(Revocation, histories.Revocation), is(histories.Revocation)},
	{Barriers, "nobody passes before the barrier is removed, enters before the last comes, or leaves before the last leaves", "not judged yet", notJudged(Barriers, histories.Barrier, histories.DoubleBarrier), is(histories.Barrier, histories.DoubleBarrier)},
}

// Guarantees returns what the checker judges, in the order of its reports.
func Guarantees() []Guarantee { return append([]Guarantee(nil), guarantees...) }
