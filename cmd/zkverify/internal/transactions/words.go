package transactions

import (
	"fmt"
	"strings"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/wire"
	"github.com/zkverify/zkverify/ensemble/txnlog"
	"github.com/zkverify/zkverify/internal/words"
)

// ops names the kinds of transactions, and of changes.
var ops = map[wire.Op]string{
	wire.CreateSession: "create-session", wire.CloseSession: "close-session", wire.ErrorOp: "request",
	wire.Create: "create", wire.Create2: "create", wire.CreateContainer: "create", wire.CreateTTL: "create",
	wire.Delete: "delete", wire.DeleteContainer: "delete-container",
	wire.SetData: "set", wire.SetACL: "set-acl", wire.Check: "check", wire.Multi: "multi", wire.Reconfig: "reconfig",
}

// line returns a transaction in one line.
func line(t txnlog.Txn) string {
	var b strings.Builder
	fmt.Fprintf(&b, "0x%x  %s  %-18s  %s", t.Zxid, t.Time.UTC().Format("2006-01-02 15:04:05.000"), fmt.Sprintf("0x%x", uint64(t.Session)), ops[t.Op])
	if t.Timeout != 0 {
		fmt.Fprintf(&b, " with a timeout of %v", t.Timeout)
	}
	if t.Err != wire.OK {
		fmt.Fprintf(&b, " that failed with code %d", t.Err)
	}
	parts := t.Op == wire.Multi || t.Op == wire.CloseSession // then each change is named
	for i, c := range t.Changes {
		switch {
		case parts && i == 0:
			b.WriteString(": " + ops[c.Op])
		case parts:
			b.WriteString(", " + ops[c.Op])
		}
		fmt.Fprintf(&b, " %q%s", c.Path, details(c))
	}
	return b.String()
}

// details returns further facts about a change. Data may be untrusted, so only its length is
// printed.
func details(c txnlog.Change) string {
	var all []string
	if c.Ephemeral {
		all = append(all, "ephemeral")
	}
	if c.Container {
		all = append(all, "container")
	}
	if c.TTL != 0 {
		all = append(all, "ttl "+c.TTL.String())
	}
	if len(c.Data) > 0 {
		all = append(all, fmt.Sprintf("%d bytes", len(c.Data)))
	}
	if c.Op == wire.SetData || c.Op == wire.SetACL || c.Op == wire.Check {
		all = append(all, fmt.Sprintf("version %d", c.Version))
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, ", ") + ")"
}

// record is a transaction as JSON.
type record struct {
	Zxid    string     `json:"zxid"`
	Time    *time.Time `json:"time"` // null if the log has none between the years 0 and 9999
	Session string     `json:"session"`
	Cxid    int32      `json:"cxid"`
	Op      string     `json:"op"`
	Timeout int64      `json:"timeout_ms,omitempty"`
	Error   int32      `json:"error,omitempty"`
	Changes []change   `json:"changes,omitempty"`
}

type change struct {
	Op        string `json:"op"`
	Path      string `json:"path"`
	Data      []byte `json:"data,omitempty"` // base64
	Ephemeral bool   `json:"ephemeral,omitempty"`
	Container bool   `json:"container,omitempty"`
	TTL       int64  `json:"ttl_ms,omitempty"`
	Version   int32  `json:"version,omitempty"`
}

func recordOf(t txnlog.Txn) record {
	r := record{
		Zxid: fmt.Sprintf("0x%x", t.Zxid), Time: words.Time(t.Time), Session: fmt.Sprintf("0x%x", uint64(t.Session)), Cxid: t.Cxid,
		Op: ops[t.Op], Timeout: t.Timeout.Milliseconds(), Error: int32(t.Err),
	}
	for _, c := range t.Changes {
		r.Changes = append(r.Changes, change{ops[c.Op], c.Path, c.Data, c.Ephemeral, c.Container, c.TTL.Milliseconds(), c.Version})
	}
	return r
}
