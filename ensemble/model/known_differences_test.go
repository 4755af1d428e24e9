package model_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// KnownDifference is a difference between a version of ZooKeeper and a later one.
type KnownDifference struct {
	Name   string // behavior of the later version
	Reason string
	Source string // an issue of ZooKeeper's, or a class

	// Ends reports that the sessions' state differs from there on, so that the rest of a program
	// is not compared.
	Ends bool

	level    func(*Observation)                             // removes the difference from an observation of either
	explains func(before []Step, s Step, d Difference) bool // reports whether it causes this difference
}

// Known lists the differences between 3.8.0 and 3.9.6 that programs meet.
var Known = []KnownDifference{
	{
		Name:   "A notification carries the zxid of its change.",
		Reason: "3.8 sends -1",
		Source: "ZOOKEEPER-4655, NIOServerCnxn.process",
		level: func(o *Observation) {
			if o.Kind == Event {
				o.Zxid = ""
			}
		},
	},
	{
		Name:   "A multi answers a create2 with the node's stat.",
		Reason: "3.8 answers as if it were a create: DataTree.processTxn does not know the part's type",
		Source: "DataTree.processTxn",
		level: func(o *Observation) {
			if o.Op == wire.Multi {
				o.Body = create2Result.ReplaceAllString(o.Body, "create(0){path=$1}")
			}
		},
	},
	{
		Name:   "checkWatches and removeWatches tell the modes of watches apart, and other sessions' watches from one's own.",
		Reason: "in 3.8 any session's watch counts for checkWatches, and removing data or child watches removes persistent ones",
		Source: "ZOOKEEPER-4472, WatchManager.containsWatcher",
		Ends:   true,
		explains: func(_ []Step, _ Step, d Difference) bool {
			return replies(d, wire.CheckWatches, wire.RemoveWatches)
		},
	},
	{
		Name:   "A check outside of a multi is refused.",
		Reason: "in 3.8 one that fails is answered, and one that succeeds ends the followers, which cannot read its transaction",
		Source: "Request.isValid, SerializeUtils.deserializeTxn",
		Ends:   true,
		explains: func(_ []Step, _ Step, d Difference) bool {
			return replies(d, wire.Check)
		},
	},
	{
		Name:   "A multi with a create of unknown flags cannot be read.",
		Reason: "in 3.8 that part alone fails",
		Source: "MultiOperationRecord.deserialize",
		explains: func(_ []Step, _ Step, d Difference) bool {
			return replies(d, wire.Multi) && len(d.B) > 0 && d.B[0].Err == wire.MarshallingError
		},
	},
	{
		Name:   "exists takes the permission to read.",
		Reason: "3.8 answers anybody",
		Source: "ZOOKEEPER-2590, FinalRequestProcessor",
		explains: func(before []Step, s Step, d Difference) bool {
			return len(d.B) > 0 && d.B[0].Op == wire.Exists && d.B[0].Err == wire.NoAuth
		},
	},
	{
		Name:   "A notification takes the permission to read.",
		Reason: "3.8.0 as released sends it to anybody who watches; Debian's 3.8.0 has the change",
		Source: "CVE-2024-23944, NIOServerCnxn.process",
		explains: func(before []Step, s Step, d Difference) bool {
			return eventsOnly(d) && len(d.B) < len(d.A) && slices.ContainsFunc(append(before, s), restrictsACL)
		},
	},
	{
		Name:   "Watches of different modes on one path stand side by side.",
		Reason: "in 3.8 the last one decides the mode of all of them",
		Source: "ZOOKEEPER-4466, WatcherModeManager",
		Ends:   true,
		explains: func(before []Step, s Step, d Difference) bool {
			return eventsOnly(d) && slices.ContainsFunc(append(before, s), func(s Step) bool { return asks(s, wire.AddWatch, wire.SetWatches2) })
		},
	},
}

var create2Result = regexp.MustCompile(`create2\(0\)\{path=("[^"]*") stat=\{[^}]*\}\}`)

// KnownTable returns the known differences as a table in Markdown.
func KnownTable() string {
	var b strings.Builder
	b.WriteString("| 3.9.6 | 3.8.0 | source |\n| --- | --- | --- |\n")
	for _, k := range Known {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", k.Name, k.Reason, k.Source)
	}
	return b.String()
}

// Unknown returns the differences that the known ones do not explain.
func Unknown(p Program, a, b Transcript, known []KnownDifference) []Difference {
	var unknown []Difference
	for _, d := range Compare(level(a, known), level(b, known)) {
		i := slices.IndexFunc(known, func(k KnownDifference) bool {
			return k.explains != nil && k.explains(slices.Clone(p.Steps[:d.Step]), p.Steps[d.Step], d)
		})
		if i < 0 {
			unknown = append(unknown, d)
		} else if known[i].Ends {
			break
		}
	}
	return unknown
}

func level(t Transcript, known []KnownDifference) Transcript {
	leveled := Transcript{Steps: make([][]Observation, len(t.Steps))}
	for i, step := range t.Steps {
		leveled.Steps[i] = slices.Clone(step)
		for j := range step {
			for _, k := range known {
				if k.level != nil {
					k.level(&leveled.Steps[i][j])
				}
			}
		}
	}
	return leveled
}

// replies reports whether a difference begins with the reply to one of the operations.
func replies(d Difference, ops ...wire.Op) bool {
	return len(d.A) > 0 && d.A[0].Kind == Reply && slices.Contains(ops, d.A[0].Op)
}

func eventsOnly(d Difference) bool {
	return !slices.ContainsFunc(slices.Concat(d.A, d.B), func(o Observation) bool { return o.Kind != Event })
}

func asks(s Step, ops ...wire.Op) bool {
	return slices.ContainsFunc(s.Requests, func(r Request) bool { return slices.Contains(ops, r.Op) })
}

// restrictsACL reports whether a step may leave a node that not every client may read.
func restrictsACL(s Step) bool {
	closed := func(acl []wire.ACL) bool { return !slices.Equal(acl, open) }
	var restricts func(body wire.Record) bool
	restricts = func(body wire.Record) bool {
		switch b := body.(type) {
		case *wire.CreateRequest:
			return closed(b.ACL)
		case *wire.CreateTTLRequest:
			return closed(b.ACL)
		case *wire.SetACLRequest:
			return closed(b.ACL)
		case *wire.MultiRequest:
			return slices.ContainsFunc(b.Parts, func(p wire.Part) bool { return restricts(p.Body) })
		}
		return false
	}
	return slices.ContainsFunc(s.Requests, func(r Request) bool { return restricts(r.Body) })
}
