package checker

import (
	"fmt"
	"strings"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// The names of the guarantees.
const (
	MutualExclusion     = "mutual exclusion"
	Reentrancy          = "reentrancy"
	Fencing             = "fencing"
	Fairness            = "fairness"
	NoLostUpdateFenced  = "no lost update, fenced"
	NoLostUpdateGuarded = "no lost update, guarded"
	NoLostUpdatePlain   = "no lost update, plain"
	LossIsTold          = "loss is told"
	Progress            = "progress"
	NoLeak              = "no leak"
	PoliteReconnects    = "reconnects politely"
	ReadersAndWriters   = "read/write"
	Permits             = "permits"
	AllOrNothing        = "multi-lock"
	Revocation          = "revocation"
	SaysWhatIsSo        = "says what is so"
	Barriers            = "barriers"
)

// Guarantee describes one thing that the checker judges.
type Guarantee struct {
	Name    string
	Summary string // one line
	Model   string // what it is judged against
	begin   func() judge
	// of reports whether it is a guarantee of a recipe's locks. One that is of
	// no recipe of the run has no verdict.
	of func(histories.Recipe) bool
	// searched says that Porcupine has a model of it.
	searched bool
}

var guarantees = []Guarantee{
	{MutualExclusion, "no two owners believe at the same time to hold one lock", "owner-aware mutex over the belief of clients; interval sweep and Porcupine", begin(newExclusionJudge), histories.Recipe.Exclusive, true},
	{Reentrancy, "an owner may acquire again, and an inner release frees nothing; or is refused, by a lock that is not reentrant", "owner and depth", begin(newReentrancyJudge), histories.Recipe.Exclusive, false},
	{Fencing, "tokens strictly grow from grant to grant of one lock; of a read/write lock, to every writer's", "order of tokens against real time", begin(newFencingJudge), histories.Recipe.Guards, false},
	{Fairness, "the lock is granted in the order of the queue", "FIFO queue: enqueue, grant only at the head, leave; sweep and Porcupine", begin(newFairnessJudge), histories.Recipe.IsLock, true},
	{NoLostUpdateFenced, "no increment of a counter behind the fence is lost, whatever happens to the lock", "chain of admitted writes", func() judge { return newCounterJudge(histories.StoreFenced) }, histories.Recipe.Guards, false},
	{NoLostUpdateGuarded, "no increment of a counter in ZooKeeper is lost that is written in a transaction with a look at the lock", "chain of admitted writes", func() judge { return newCounterJudge(histories.StoreGuarded) }, histories.Recipe.Guards, false},
	{NoLostUpdatePlain, "no increment of a counter that only the lock protects is lost", "chain of writes", func() judge { return newCounterJudge(histories.StorePlain) }, histories.Recipe.Guards, false},
	{LossIsTold, "a holder whose session ends is told within the bound", "time from the end of the session to lost", begin(newLossJudge), histories.Recipe.IsLock, false},
	{Progress, "after the faults every client gets every lock, and passes every barrier, within the bound; who is first in a queue is woken, and a try of a free lock succeeds", "first acquire of each lock by each process in recovery, then tries; time from when nobody is ahead to the grant", begin(func() atEnd { return (*check).progress }), every, false},
	{NoLeak, "no contender node, watch or goroutine is left when all clients have released", "census at the end", begin(func() atEnd { return (*check).noLeak }), every, false},
	{PoliteReconnects, "a client that finds no server to serve it waits between its attempts to connect", "attempts of each client in any window, counted by the run", begin(func() atEnd { return (*check).politeReconnects }), every, false},
	{ReadersAndWriters, "one writer or any number of readers, and a downgrade lets no writer in", "owners, readers and writers, over the belief of clients; interval sweep and Porcupine", begin(newReadWriteJudge), is(histories.ReadWrite), true},
	{Permits, "permits are granted only when there is room for them, size changes included", "sum of the permits held against the size in force; interval sweep and Porcupine", begin(newPermitsJudge), histories.Recipe.HasPermits, true},
	{AllOrNothing, "several locks are acquired all or none, in whatever order they are named", "a token for each part, no failed place granted, one order of all queues; the rest lock by lock", begin(newMultiLockJudge), is(histories.MultiLock), false},
	{Revocation, "a request to release reaches the holder within the bound, and nobody else, and forces nobody", "each request against its lease", begin(newRevocationJudge), is(histories.Revocation), false},
	{SaysWhatIsSo, "what a lease, a lock and its observers say agrees with what happened", "each answer between its question and its record; each telling against its lease", begin(func() atEnd { return saysJudge }), histories.Recipe.IsLock, false},
	{Barriers, "nobody passes before the barrier is removed, enters before the last comes, or leaves before the last leaves", "register of which only down is read, sweep and Porcupine; rounds that begin and end as early as they can", begin(newBarriersJudge), is(histories.Barrier, histories.DoubleBarrier), true},
}

func begin[J judge](j func() J) func() judge { return func() judge { return j() } }

// Guarantees returns what the checker judges, in the order of its reports.
func Guarantees() []Guarantee { return append([]Guarantee(nil), guarantees...) }

// knowGuarantee returns an error that wraps ErrNoGuarantee unless there is one of this
// name.
func knowGuarantee(name string) error {
	var known []string
	for _, g := range guarantees {
		if g.Name == name {
			return nil
		}
		known = append(known, g.Name)
	}
	return fmt.Errorf("%w %s", ErrNoGuarantee, words.Instead(name, known, "known: "+strings.Join(known, "; ")))
}
