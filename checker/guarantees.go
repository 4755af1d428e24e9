package checker

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
)

// Guarantee describes one thing that the checker judges.
type Guarantee struct {
	Name    string
	Summary string // one line
	Model   string // what it is judged against
	judge   func(*check, *trace) Verdict
}

var guarantees = []Guarantee{
	{MutualExclusion, "no two owners believe at the same time to hold one lock", "owner-aware mutex over the belief of clients; interval sweep and Porcupine", (*check).mutualExclusion},
	{Reentrancy, "an owner may acquire again, and an inner release frees nothing", "owner and depth", (*check).reentrancy},
	{Fencing, "tokens strictly grow from grant to grant of one lock", "order of tokens against real time", (*check).fencing},
	{Fairness, "the lock is granted in the order of the queue", "FIFO queue: enqueue, grant only at the head, leave; sweep and Porcupine", (*check).fairness},
	{NoLostUpdateFenced, "no increment of a counter behind the fence is lost, whatever happens to the lock", "chain of admitted writes", (*check).noLostUpdateFenced},
	{NoLostUpdatePlain, "no increment of a counter that only the lock protects is lost", "chain of writes", (*check).noLostUpdatePlain},
	{LossIsTold, "a holder whose session ends is told within the bound", "time from the end of the session to lost", (*check).lossIsTold},
	{Progress, "after the faults every client gets every lock within the bound, and a try of a free lock succeeds", "first acquire of each lock by each process in recovery, then tries", (*check).progress},
	{NoLeak, "no contender node, watch or goroutine is left when all clients have released", "census at the end", (*check).noLeak},
}

// Guarantees returns what the checker judges, in the order of its reports.
func Guarantees() []Guarantee { return append([]Guarantee(nil), guarantees...) }
