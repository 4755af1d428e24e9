package locks

import (
	"fmt"
	"strings"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/recipes/inspect"
)

// wording holds the texts of a finding: the problem, its meaning and the advice.
type wording struct{ what, means, do string }

// wordsOf returns the texts of a finding.
func wordsOf(f *inspect.Finding, c *doctorCmd) wording {
	lock := pathText(strings.Join(f.Locks[:min(1, len(f.Locks))], ""))
	waiting := words.Count(f.Waiters, "waiter")
	switch f.Problem {
	case inspect.PersistentNode:
		return orphan(f, "a contender that no session owns", "The node is persistent, and stays until somebody deletes it. Kazoo makes such nodes with ephemeral=False; recipes and Curator never do.")
	case inspect.SessionEnded:
		return orphan(f, "a contender whose session has ended", fmt.Sprintf("The servers do not have session %s any more, and should have deleted the node with it (ZOOKEEPER-4837, ZOOKEEPER-5010).", sessionID(f.Contender.Session)))
	case inspect.ForeignChild:
		return wording{words.Count(len(f.Nodes), "child node") + " that are not of this recipe (" + string(f.Recipe) + ")",
			"Recipes ignore them. Curator's mutex sorts them into its queue, and its semaphore counts each child of leases as a permit; zk.Lock fails. Contenders of another recipe or library do not exclude those of this one.",
			"Find out who creates them, and give each lock a path of its own. If they are not needed, delete them."}
	case inspect.AboveSize:
		return wording{fmt.Sprintf("%s out of a semaphore of size %d", words.Count(f.Out, "permit"), f.Size),
			"The size was lowered while permits were out, or clients name different sizes. No client gets a permit until enough of them are released.",
			"Wait for releases if the size was lowered. Otherwise make all clients use one size, or one shared count."}
	case inspect.HeldLong:
		return wording{fmt.Sprintf("%s has held it for up to %s, and at least %v; %s", who(f.Contender), ageText(f.Age), c.Observe, waiting),
			fmt.Sprintf("The holder's node is older than %v. The servers do not record when a contender was granted the lock: the node may have waited for part of that time.", c.Long),
			fmt.Sprintf("See what the holder does (zkverify locks inspect %s). Ask it to release (zkverify locks ask %s), or restart its process.", lock, lock)}
	case inspect.SequenceEnds:
		return sequenceEnds(f)
	case inspect.LongList:
		return wording{fmt.Sprintf("the list of the children of %s has %d bytes, and an answer of the servers may have %d", pathText(f.Nodes[0]), f.Bytes, f.Limit),
			"An answer that is longer than jute.maxbuffer ends the connection of clients that are not of recipes, and acquires of recipes return ErrTooLarge.",
			"Find out why so many wait. Spread them over several locks, or raise jute.maxbuffer on all servers and clients (recipes.WithJuteMaxBuffer)."}
	case inspect.ManyPermits:
		return wording{fmt.Sprintf("a semaphore of size %d: the list of all its permits has %d bytes, and an answer of the servers may have %d", f.Size, f.Bytes, f.Limit),
			"Each permit that is out is a node. Before their list is longer than jute.maxbuffer, acquires of recipes return ErrTooLarge; clients of other libraries lose their connection when it is.",
			"Use several semaphores, or raise jute.maxbuffer on all servers and clients (recipes.WithJuteMaxBuffer)."}
	case inspect.LargeSession:
		return wording{fmt.Sprintf("session %s has %s; its end makes a transaction of %d bytes, and servers read %d", sessionID(f.Contender.Session), words.Count(f.Out, "ephemeral node"), f.Bytes, f.Limit),
			"After a transaction that is larger than that no server starts any more (ZOOKEEPER-4306). Clients of recipes make no more nodes then (ErrTooLarge); other libraries do.",
			"Spread the locks of that client (" + who(f.Contender) + ") over several clients, release what is not needed, or raise jute.maxbuffer on all servers."}
	case inspect.TransactionsEnd:
		return wording{words.Count(f.Left, "transaction") + " left before the leader's numbers end at 2³²",
			"After the last the servers elect another leader, and answer no request meanwhile. Leases go on, as in a short failure of the network.",
			"Restart the leader when little is going on: a new one counts from 0."}
	case inspect.Deadlock:
		return deadlock(f)
	case inspect.StaleReady:
		return wording{"a node ready without a member of its round",
			"The members of the round crashed, or one of Curator left it behind. Members of recipes ignore it; the next member of Curator or kazoo passes alone.",
			"Delete the node, if this is a double barrier and no client enters it just now."}
	case inspect.UnusedParent:
		return wording{"empty for " + ageText(f.Age) + ", and never had a child",
			"An acquire that was given up may have left it as the parent of its node: the servers remove a container only when its last child has gone. A node that was made by hand looks the same.",
			fmt.Sprintf("If no program needs it, delete it: zkverify locks doctor --unused %v --remove %s", c.Unused, lock)}
	}
	return wording{what: string(f.Problem)}
}

func orphan(f *inspect.Finding, what, means string) wording {
	lock := pathText(f.Locks[0])
	if f.Contender.Holds && f.Recipe != inspect.DoubleBarrier {
		return wording{what + " holds the lock; " + words.Count(f.Waiters, "waiter"),
			means + " No client gets the lock meanwhile.",
			fmt.Sprintf("If no process relies on it, delete it: zkverify locks break %s --token %v", lock, f.Contender.Token)}
	}
	return wording{what + " is in the queue",
		means + " Everybody behind it will wait for it.",
		"If no process relies on it, delete the node."}
}

func sequenceEnds(f *inspect.Finding) wording {
	what := fmt.Sprintf("%s left before the sequence numbers end at 2³¹", words.Count(f.Left, "acquire"))
	if f.Left == 0 {
		what = "the sequence numbers have ended at 2³¹"
	}
	return wording{what,
		"After the last number the servers give it again and again, and now and then a negative one. Clients of recipes are refused from a million before the end on; other libraries grant the lock twice after the end. Tokens still grow.",
		"Stop the clients of that lock once, and delete its node: a new one counts from 0."}
}

func deadlock(f *inspect.Finding) wording {
	var steps []string
	for _, w := range f.Cycle {
		name := sessionText(w.Holder)
		if id := who(w.Holder); id != name {
			name = id + " (" + name + ")"
		}
		steps = append(steps, fmt.Sprintf("%s holds %s and waits for %s", name, pathText(w.Holds), pathText(w.Waits)))
	}
	first := f.Cycle[0]
	return wording{"deadlock: " + strings.Join(steps, "; "),
		"Each waits for the next, and none will release. This is judged by session: a client's owners share one, and if it is one owner that holds and another that waits, they may go on.",
		fmt.Sprintf("Restart one of these processes, or take a lock from one: zkverify locks break %s --token %v. To exclude deadlocks, take several locks at once with MultiLock, or always in one order.", pathText(first.Holds), first.Holder.Token)}
}
