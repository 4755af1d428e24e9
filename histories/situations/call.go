package situations

import (
	"strings"
	"time"

	"github.com/zkverify/zkverify/histories/service"
)

// Op is the kind of a request.
type Op string

// The kinds of requests, and Notify, a watch that fires.
const (
	Connect Op = "connect" // in a session that exists
	Create  Op = "create"
	Delete  Op = "delete"
	Set     Op = "set"
	List    Op = "list" // reads a node's children
	Read    Op = "read" // reads a node, or asks whether it exists
	Sync    Op = "sync"
	Multi   Op = "multi" // several changes and checks in one transaction
	Notify  Op = "notify"
)

// Call is a request of a client, with its fate. Times are on the history's clock.
type Call struct {
	At      time.Duration // of the answer, or of the request if there is none
	Sent    time.Duration
	Client  string // the address of the client, on its way to this server
	Session string // as in histories
	Server  int
	Op      Op
	Path    string // of the node; of a multi the first that it creates, or ""
	Watch   bool   // it leaves a watch
	// Creates, Checks and Sets are the numbers of the parts of a multi.
	Creates, Checks, Sets int

	Arrived   bool   // the request has reached the server
	Committed int64  // the transaction that carried it out; 0: none
	Answered  bool   // the server has sent an answer
	Received  bool   // the answer has reached the client
	Zxid      int64  // the server's last transaction when it answered; of a connect: when it answered next
	Failed    string // the error in the answer: NoNode or another; "" if none
	Returned  bool   // the client has tried to go on with the session later
}

// NoNode is the error that situations know.
const NoNode = "no node"

// lost reports whether the request was carried out, and its client, which lives on, was not told.
func (c *Call) lost() bool { return c.Committed != 0 && !c.Received && c.Returned }

// Change is the change of a node, or the end of a session, by a transaction of the servers.
type Change struct {
	At      time.Duration // at which the first server has applied it
	Zxid    int64
	Session string
	Op      Op     // Create, Delete or Set; "" for the end of the session
	Path    string // "" for the end of the session
	Own     bool   // a created node belongs to the session
}

// lockOf returns the key of the lock to which a node belongs, "" for another node.
func lockOf(path string) string {
	_, rest, below := strings.Cut(path, "/locks/")
	if !below {
		return ""
	}
	key, _, _ := strings.Cut(rest, "/")
	return strings.TrimSuffix(key, service.SizeSuffix)
}

// isSize reports whether a node has the size of a shared semaphore.
func isSize(path string) bool { return strings.HasSuffix(path, service.SizeSuffix) }

// parentOf returns the path of a node's parent.
func parentOf(path string) string { return path[:max(strings.LastIndexByte(path, '/'), 0)] }
