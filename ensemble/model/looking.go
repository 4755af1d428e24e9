package model

import (
	"time"

	"github.com/zkverify/zkverify/ensemble/model/service"
	"github.com/zkverify/zkverify/ensemble/model/tree"
	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// looking is the role of a server without a leader: it accepts connections, and closes
// them on the client's first message.
type looking struct{ *Server }

func (looking) Mode() string                     { return "looking" }
func (looking) Serves() bool                     { return false }
func (looking) OrdersSyncs() bool                { return false }
func (looking) Touch(int64, int32) bool          { return false }
func (looking) Check(int64) wire.Code            { return wire.ConnectionLoss }
func (looking) NewSession() int64                { return 0 }
func (looking) Revalidate(c *service.Connection) { c.Close() }
func (looking) Ask(*tree.Request)                {}
func (looking) sessionChanged(*tree.Txn)         {}
func (looking) dialed(PeerID)                    {}
func (looking) said(PeerID, Message)             {}
func (looking) closed(PeerID)                    {}
func (looking) accepted(PeerID) bool             { return false }
func (looking) synced(int64)                     {}
func (looking) wake()                            {}
func (looking) due() time.Duration               { return never }
func (looking) leave()                           {}
