package inspect

import (
	"cmp"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/recipes/internal/queue"
	"github.com/zkverify/zkverify/recipes/internal/session"
)

// Kind is the role of a lock's node.
type Kind string

// The kinds of nodes.
const (
	KindLock      Kind = "lock"      // a contender of a mutex, or for a semaphore's permits
	KindRead      Kind = "read"      // a reader
	KindWrite     Kind = "write"     // a writer
	KindPermit    Kind = "permit"    // a permit of a semaphore that is out
	KindCandidate Kind = "candidate" // of an election
	KindMember    Kind = "member"    // of a double barrier
)

// Library is the library that uses the name of a node.
type Library string

// The libraries that are recognized by the names of their nodes.
const (
	LibraryCurator Library = "curator" // recipes and Curator, which share their names
	LibraryZK      Library = "zk.Lock" // of go-zookeeper
	LibraryKazoo   Library = "kazoo"
	LibraryOther   Library = "other" // a sequential node such as lock-0000000001
)

// Names of kazoo's contenders: 32 hexadecimal digits, one of these, and the sequence.
const (
	kazooWrite = "__lock__"
	kazooRead  = "__rlock__"
)

// place is a child of a lock that is in its queue.
type place struct {
	queue.Place
	kind    Kind
	library Library
}

// kindOf maps the names of Curator and kazoo to kinds.
var kindOf = map[string]Kind{
	queue.Lock: KindLock, queue.Read: KindRead, queue.Write: KindWrite, queue.Permit: KindPermit, queue.Latch: KindCandidate,
	kazooWrite: KindLock, kazooRead: KindRead,
}

// parsePlace returns the place of a child, if the child has the name of a contender.
func parsePlace(child string) (place, bool) {
	if len(child) > hexDigits && isHex(child[:hexDigits]) {
		p, ok := queue.ParsePlace(child[hexDigits:], []string{kazooWrite, kazooRead})
		p.Node = child
		return place{p, kindOf[p.Kind], LibraryKazoo}, ok
	}
	p, ok := queue.ParsePlace(child, queue.All)
	if !ok {
		return place{}, false
	}
	library := LibraryOther
	if id := session.GUIDOf(child); isUUID(id) {
		library = LibraryCurator
	} else if rest, found := strings.CutPrefix(child, "_c_"); found && p.Kind == queue.Lock && len(rest) > hexDigits && isHex(rest[:hexDigits]) && rest[hexDigits] == '-' {
		library = LibraryZK
	}
	return place{p, kindOf[p.Kind], library}, true
}

// rule returns the name of the queue that a contender is in: contenders of different rules
// do not see each other.
func (p place) rule() string {
	if p.library == LibraryKazoo {
		return "kazoo"
	}
	if p.kind == KindRead || p.kind == KindWrite {
		return string(ReadWrite)
	}
	return string(p.kind)
}

// order compares places as the recipes do: by sequence, as serial numbers that wrap at 2³¹,
// and a writer before the reader that it was downgraded to.
func order(a, b place) int {
	if d := a.Sequence - b.Sequence; d != 0 {
		return int(d)
	}
	return cmp.Or(cmp.Compare(b.Kind, a.Kind), cmp.Compare(a.Node, b.Node))
}

// contenders returns the places of the queue that most children are in, in order, and the
// names of the other children.
func contenders(children []string) (places []place, others []string) {
	all := make([]place, 0, len(children))
	count := make(map[string]int)
	for _, child := range children {
		if p, ok := parsePlace(child); ok {
			all = append(all, p)
			count[p.rule()]++
		}
	}
	slices.SortFunc(all, order)
	most := ""
	for _, p := range all { // the first contender decides between queues of the same length
		if most == "" || count[p.rule()] > count[most] {
			most = p.rule()
		}
	}
	stands := make(map[string]bool, len(all))
	for _, p := range all {
		if p.rule() == most {
			places = append(places, p)
			stands[p.Node] = true
		}
	}
	if len(places) < len(children) {
		for _, child := range children {
			if !stands[child] {
				others = append(others, child)
			}
		}
		slices.Sort(others)
	}
	return places, others
}

// hexDigits is the length of a UUID without dashes.
const hexDigits = 32

func isHex(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return text != ""
}

func isUUID(text string) bool {
	if len(text) != 36 {
		return false
	}
	for _, i := range []int{8, 13, 18, 23} {
		if text[i] != '-' {
			return false
		}
	}
	return isHex(strings.ReplaceAll(text, "-", ""))
}

// isMember reports whether a child has the name of a member of a double barrier, or of a
// permit of kazoo's semaphore, which is the same.
func isMember(child string) bool { return isUUID(child) || len(child) == hexDigits && isHex(child) }

// isSequential reports whether a name ends like that of a sequential node.
func isSequential(child string) bool {
	const digits = 10
	if len(child) < digits {
		return false
	}
	for _, c := range child[len(child)-digits:] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
