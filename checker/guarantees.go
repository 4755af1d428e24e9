package checker

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/zkverify/zkverify/checker/internal/barrier"
	"github.com/zkverify/zkverify/checker/internal/client"
	"github.com/zkverify/zkverify/checker/internal/explain"
	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/fencing"
	"github.com/zkverify/zkverify/checker/internal/holding"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/internal/queue"
	"github.com/zkverify/zkverify/checker/internal/saying"
	"github.com/zkverify/zkverify/checker/verdict"
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
	AnswersAreTrue      = "answers are true"
	Barriers            = "barriers"
	Observers           = "observers"
	FirstNode           = "first node"
)

// renamed has the present names of guarantees that earlier versions named otherwise: shrunk
// histories and verdicts of these may have the old ones.
var renamed = map[string]string{"says what is so": AnswersAreTrue}

// PresentName returns the name that a guarantee has in this version: earlier versions named some
// otherwise.
func PresentName(name string) string { return cmp.Or(renamed[name], name) }

// Guarantee describes one guarantee that the checker judges.
type Guarantee struct {
	Name    string
	Summary string // one line
	Model   string // the model that it is judged against
	begin   judge.Maker
	own     bool // it is a guarantee of the user
	// ofServers is set if the guarantee is judged only together with the servers' log.
	ofServers bool
	// appliesTo reports whether the locks of a recipe have the guarantee. A guarantee that no
	// recipe of the run has gets no verdict.
	appliesTo func(histories.Recipe) bool
	// searched is set if Porcupine has a model of it.
	searched bool
	// store names the kind of counters that the guarantee is about; empty if it is about none.
	store string
	// fencing describes the effect that a fencing token would have had on a violation. Where it
	// is empty, the effect depends on the tokens of the parties.
	fencing string
	// draw returns a function that draws a violation with at most n operations, or nil. The
	// field is nil where Porcupine has no model.
	draw func(t *facts.Trace, w verdict.Witness) func(n int) *explain.Scene
	// decides adds to keep the operations that decide a violation without belonging to its
	// parties, so that shrinking the history keeps them. It may be nil.
	decides func(t *facts.Trace, w verdict.Witness, keep map[int]bool)
}

// Of reports whether the locks of a recipe have the guarantee.
func (g Guarantee) Of(r histories.Recipe) bool { return g.appliesTo(r) }

// noPart is the text for violations that fencing cannot prevent.
const noPart = "Fencing has no part in this."

var guarantees = []Guarantee{
	{
		Name:    MutualExclusion,
		Summary: "no two owners believe at the same time to hold one lock",
		Model:   "owner-aware mutex over the belief of clients; interval sweep and Porcupine",
		begin:   holding.WithNotHeld(histories.Recipe.Exclusive, holding.NewMutualExclusion), appliesTo: histories.Recipe.Exclusive, searched: true,
		draw: explain.Mutex,
	},
	{
		Name:    Reentrancy,
		Summary: "an owner may acquire again, and an inner release frees nothing; or is refused, by a lock that is not reentrant",
		Model:   "owner and depth",
		begin:   holding.NewReentrancy, appliesTo: histories.Recipe.Exclusive,
	},
	{
		Name:    Fencing,
		Summary: "tokens strictly grow from grant to grant of one lock; of a read/write lock, to every writer's",
		Model:   "order of tokens against real time",
		begin:   fencing.NewFencing, appliesTo: histories.Recipe.Guards,
		fencing: "It is the tokens that are wrong: a store that trusts them lets an old holder write.",
	},
	{
		Name:    Fairness,
		Summary: "the lock is granted in the order of the queue",
		Model:   "FIFO queue: enqueue, grant only at the head, leave; sweep and Porcupine",
		begin:   queue.NewFairness, appliesTo: histories.Recipe.IsLock, searched: true,
		fencing: noPart,
		draw:    explain.Queue,
	},
	{
		Name:    NoLostUpdateFenced,
		Summary: "no increment of a counter behind the fence is lost, whatever happens to the lock",
		Model:   "chain of admitted writes",
		begin:   fencing.NewNoLostUpdate(histories.StoreFenced), appliesTo: histories.Recipe.Guards,
		store: histories.StoreFenced,
	},
	{
		Name:    NoLostUpdateGuarded,
		Summary: "no increment of a counter in ZooKeeper is lost that is written in a transaction with a look at the lock",
		Model:   "chain of admitted writes",
		begin:   fencing.NewNoLostUpdate(histories.StoreGuarded), appliesTo: histories.Recipe.IsLock,
		store: histories.StoreGuarded,
	},
	{
		Name:    NoLostUpdatePlain,
		Summary: "no increment of a counter that only the lock protects is lost",
		Model:   "chain of writes",
		begin:   fencing.NewNoLostUpdate(histories.StorePlain), appliesTo: histories.Recipe.Guards,
		store: histories.StorePlain,
	},
	{
		Name:    LossIsTold,
		Summary: "a holder whose session ends is told within the bound",
		Model:   "time from the end of the session to lost",
		begin:   client.NewLossTold, appliesTo: histories.Recipe.IsLock,
	},
	{
		Name:    Progress,
		Summary: "after the faults every client gets every lock, and passes every barrier, within the bound; who is first in a queue is woken, and a try of a free lock succeeds",
		Model:   "first acquire of each lock by each process in recovery, then tries; time from when no contender is ahead to the grant",
		begin:   queue.NewProgress, appliesTo: facts.Every,
		fencing: noPart,
	},
	{
		Name:    NoLeak,
		Summary: "no contender node, watch or goroutine is left when all clients have released, and no node by a call that is over",
		Model:   "census at the end; the servers' log against the calls of each session",
		begin:   client.NewNoLeak, appliesTo: facts.Every,
		fencing: noPart,
	},
	{
		Name:    PoliteReconnects,
		Summary: "a client that finds no server to serve it waits between its attempts to connect, and one that waits does not ask again and again",
		Model:   "attempts and repeated requests of each client in any window, counted by the run",
		begin:   judge.AtEnd(client.PoliteReconnects), appliesTo: facts.Every,
		fencing: noPart,
	},
	{
		Name:    ReadersAndWriters,
		Summary: "one writer or any number of readers, and a downgrade lets no writer in",
		Model:   "owners, readers and writers, over the belief of clients; interval sweep and Porcupine",
		begin:   holding.WithNotHeld(facts.Is(histories.ReadWrite), holding.NewReadWrite), appliesTo: facts.Is(histories.ReadWrite), searched: true,
		fencing: "A fence refuses what a writer with an older token writes. It keeps no process from reading what another is changing.",
		draw:    explain.ReadWrite,
	},
	{
		Name:    Permits,
		Summary: "permits are granted only when there is room for them, size changes included",
		Model:   "sum of the permits held against the size in force; interval sweep and Porcupine",
		begin:   holding.WithNotHeld(histories.Recipe.HasPermits, holding.NewPermits), appliesTo: histories.Recipe.HasPermits, searched: true,
		fencing: "Fencing has no part in this: whoever holds a permit may go on, whatever token others have.",
		draw:    explain.Permits,
		decides: holding.DecidePermits,
	},
	{
		Name:    AllOrNothing,
		Summary: "several locks are acquired all or none, in whatever order they are named",
		Model:   "a token for each part, no failed place granted, one order of all queues; the rest lock by lock",
		begin:   holding.NewMultiLock, appliesTo: facts.Is(histories.MultiLock),
	},
	{
		Name:    Revocation,
		Summary: "a request to release reaches the holder within the bound, reaches no other client, and ends no lease",
		Model:   "each request against its lease",
		begin:   client.NewRevocation, appliesTo: histories.Recipe.Revocable,
		fencing: noPart,
	},
	{
		Name:    AnswersAreTrue,
		Summary: "what a lease, a lock and its observers say agrees with what happened",
		Model:   "each answer between its question and its record; each notification against its lease",
		begin:   saying.New, appliesTo: histories.Recipe.IsLock,
	},
	{
		Name:    Barriers,
		Summary: "no process passes before the barrier is removed, enters before the last comes, or leaves before the last leaves",
		Model:   "register of which only down is read, sweep and Porcupine; rounds that begin and end as early as they can",
		begin:   barrier.NewBarriers, appliesTo: facts.Is(histories.Barrier, histories.DoubleBarrier), searched: true,
		fencing: noPart,
		draw:    explain.Barrier,
		decides: barrier.DecideBarrier,
	},
	{
		Name:    Observers,
		Summary: "who observes an election never sees an older leader after a newer one, nor another's announcement",
		Model:   "order of the terms that one client sees; one announcement for each",
		begin:   saying.NewObservers, appliesTo: facts.Is(histories.Election),
		fencing: noPart,
	},
	{
		Name:    FirstNode,
		Summary: "a lock is granted only to the node that is the first of its queue on the servers",
		Model:   "return of each acquire against the deletions of the nodes before its own, in the servers' logs",
		begin:   queue.NewFirstNode, appliesTo: func(r histories.Recipe) bool { return r.Exclusive() || r == histories.ReadWrite },
		ofServers: true,
	},
}

// Guarantees returns the guarantees of the checker, in the order of its reports.
func Guarantees() []Guarantee { return append([]Guarantee(nil), guarantees...) }

// guaranteeNamed returns the guarantee of that name among all, or an error that wraps
// ErrNoGuarantee.
func guaranteeNamed(name string, all []Guarantee) (Guarantee, error) {
	var known []string
	for _, g := range all {
		if g.Name == PresentName(name) {
			return g, nil
		}
		known = append(known, g.Name)
	}
	return Guarantee{}, fmt.Errorf("%w %s", ErrNoGuarantee, words.Instead(name, known, "known: "+strings.Join(known, "; ")))
}
