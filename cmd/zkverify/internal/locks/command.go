// Package locks implements zkverify locks, which shows the locks of an ensemble with their holders
// and waiters. It puts the results of package inspect into words.
package locks

import "github.com/zkverify/zkverify/internal/words"

// Command is zkverify locks.
type Command struct {
	Ls      lsCmd      `cmd:"" help:"List the locks below paths: who holds each, and how many wait."`
	Inspect inspectCmd `cmd:"" help:"Show the queue of one lock: who holds it, who waits behind whom, and whose sessions are alive."`
	Watch   watchCmd   `cmd:"" help:"Show the locks with the most waiters again and again, with rates and times."`
	Doctor  doctorCmd  `cmd:"" help:"Look for orphans, deadlocks, stuck holders and other trouble. Exit status 1 if there is any."`
	Ask     askCmd     `cmd:"" help:"Ask the holders of a lock to release it. It forces no holder."`
	Break   breakCmd   `cmd:"" help:"Delete the node of a lock's holder."`
	Run     runCmd     `cmd:"" help:"Run a command while holding a lock."`
	Export  exportCmd  `cmd:"" help:"Serve metrics of the locks and their findings for Prometheus."`
	History historyCmd `cmd:"" help:"Tell from the logs of servers who held which lock, who waited, and how each hold ended."`
}

// Help is called by kong.
func (Command) Help() string {
	return words.WithExamples("The locks are those of recipes, Curator, kazoo and go-zookeeper. Only ask, break and run write to ZooKeeper. See docs/locks.md.",
		"zkverify locks ls --servers zk1:2181,zk2:2181,zk3:2181 /locks")
}
