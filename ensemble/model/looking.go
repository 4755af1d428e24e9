package model

import (
	"time"

	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// looking is the role of a server without a leader: it accepts connections, and closes
// them when the client says something.
type looking struct{ *Server }

func (looking) mode() string             { return "looking" }
func (looking) serves() bool             { return false }
func (looking) touch(int64, int32) bool  { return false }
func (looking) check(int64) wire.Code    { return wire.ConnectionLoss }
func (looking) newSession() int64        { return 0 }
func (looking) revalidate(c *connection) { c.close() }
func (looking) ask(*tree.Request)        {}
func (looking) dialed(PeerID)            {}
func (looking) said(PeerID, Message)     {}
func (looking) closed(PeerID)            {}
func (looking) accepted(PeerID) bool     { return false }
func (looking) synced(int64)             {}
func (looking) wake()                    {}
func (looking) due() time.Duration       { return never }
func (looking) leave()                   {}
