package model

import (
	"github.com/zkverify/zkverify/ensemble/model/service"
)

// ConnID identifies a client's connection to a server. The caller of the server chooses
// it; no number is used twice for a server.
type ConnID = service.ConnID

// PeerID identifies a connection between two servers: that of a follower to its leader.
// It is chosen like ConnID.
type PeerID int64

// Input is an event at a server.
type Input interface{ input() }

// The inputs.
type (
	// Wake lets the server carry out what is due. It does no harm too early.
	Wake struct{}
	// FromClient is an event on a client's connection: service.Accepted, Received or Closed.
	FromClient struct{ service.Input }
	// Voted is another server's notification in an election.
	Voted struct{ Notification }
	// PeerAccepted is a new connection of another server.
	PeerAccepted struct{ Peer PeerID }
	// PeerDialed is the connection that Dial asked for.
	PeerDialed struct {
		Peer PeerID
		To   int
	}
	// DialFailed reports that Dial could not connect.
	DialFailed struct{ To int }
	// PeerSaid is a message of another server.
	PeerSaid struct {
		Peer PeerID
		Message
	}
	// PeerClosed reports that a connection with another server has ended.
	PeerClosed struct{ Peer PeerID }
	// Synced reports that the log is on disk up to a transaction.
	Synced struct{ Zxid int64 }
	// Expire ends a session at the leader; other servers ignore it.
	Expire struct{ Session int64 }
)

func (Wake) input()         {}
func (FromClient) input()   {}
func (Voted) input()        {}
func (PeerAccepted) input() {}
func (PeerDialed) input()   {}
func (DialFailed) input()   {}
func (PeerSaid) input()     {}
func (PeerClosed) input()   {}
func (Synced) input()       {}
func (Expire) input()       {}

// Action is an action of a server. The actions of one step are in order.
type Action interface{ action() }

// The actions.
type (
	// ToClient is an action for a client: service.Send or Close.
	ToClient struct{ service.Action }
	// Vote sends a notification to another server. It may be lost.
	Vote struct{ Send }
	// Dial connects to another server. PeerDialed or DialFailed answers it.
	Dial struct{ To int }
	// Say sends a message to another server. Messages of a connection keep their order; they are
	// lost only with the connection.
	Say struct {
		Peer PeerID
		Message
	}
	// Hang ends a connection with another server.
	Hang struct{ Peer PeerID }
	// Sync writes the log up to a transaction to disk. Synced answers it.
	Sync struct{ Zxid int64 }
	// Print adds a line to the server's output.
	Print struct{ Line string }
)

func (ToClient) action() {}
func (Vote) action()     {}
func (Dial) action()     {}
func (Say) action()      {}
func (Hang) action()     {}
func (Sync) action()     {}
func (Print) action()    {}
