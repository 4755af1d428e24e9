package locks

import (
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/recipes/inspect"
)

// stayJSON is a stay in the JSON of history.
type stayJSON struct {
	Lock     string          `json:"lock"`
	Recipe   inspect.Recipe  `json:"recipe"`
	Node     string          `json:"node"`
	Kind     inspect.Kind    `json:"kind"`
	Library  inspect.Library `json:"library"`
	Session  string          `json:"session,omitempty"` // none: the node was persistent
	Token    string          `json:"token"`
	Data     string          `json:"data,omitempty"`
	Bytes    []byte          `json:"dataBase64,omitempty"`
	Asked    *time.Time      `json:"asked"`
	Granted  *time.Time      `json:"granted,omitempty"` // none: it never held the lock
	Gone     *time.Time      `json:"gone"`
	Waited   float64         `json:"waitedSeconds"`
	Held     float64         `json:"heldSeconds,omitempty"`
	End      inspect.End     `json:"end"`
	By       string          `json:"bySession,omitempty"`
	Ahead    int             `json:"ahead"`
	Overtook int             `json:"overtook,omitempty"`
}

func stayJSONOf(s *inspect.Stay) stayJSON {
	c := &s.Contender
	j := stayJSON{
		Lock: s.Lock, Recipe: s.Recipe, Node: c.Path, Kind: c.Kind, Library: c.Library, Token: c.Token.String(),
		Asked: words.Time(s.Asked), Gone: words.Time(s.Gone), Waited: s.Waited().Seconds(), Held: s.Held().Seconds(),
		End: s.End, Ahead: s.Ahead, Overtook: s.Overtook,
	}
	if c.Session != 0 {
		j.Session = sessionID(c.Session)
	}
	if s.By != 0 {
		j.By = sessionID(s.By)
	}
	if !s.Granted.IsZero() {
		j.Granted = words.Time(s.Granted)
	}
	if utf8.Valid(c.Data) {
		j.Data = string(c.Data)
	} else {
		j.Bytes = c.Data
	}
	return j
}

// pastJSON is the summary in the JSON of history.
type pastJSON struct {
	From         *time.Time     `json:"from"`
	To           *time.Time     `json:"to"`
	FirstZxid    string         `json:"firstZxid"`
	LastZxid     string         `json:"lastZxid"`
	Transactions int            `json:"transactions"`
	Holds        int            `json:"holds"`
	Lost         int            `json:"lost"`
	OutOfOrder   int            `json:"outOfOrder"`
	Locks        []lockPastJSON `json:"locks"`
	OtherLocks   int            `json:"otherLocks,omitempty"` // too many to list
	Servers      []reachJSON    `json:"servers"`
	Gaps         []string       `json:"gaps,omitempty"`
}

type lockPastJSON struct {
	Path        string         `json:"path"`
	Recipe      inspect.Recipe `json:"recipe"`
	Holds       int            `json:"holds"`
	GaveUp      int            `json:"gaveUp"`
	Lost        int            `json:"lost"`
	LongestHold float64        `json:"longestHoldSeconds"`
	LongestWait float64        `json:"longestWaitSeconds"`
	Queue       int            `json:"longestQueue"`
	Queued      *time.Time     `json:"longestQueueAt,omitempty"`
	Held        bool           `json:"heldAtTheEnd"`
}

type reachJSON struct {
	Dir      string     `json:"dir"`
	LastZxid string     `json:"lastZxid,omitempty"`
	At       *time.Time `json:"at,omitempty"`
	Error    string     `json:"error,omitempty"`
}

func (p *past) summary(f *files) pastJSON {
	j := pastJSON{
		From: words.Time(f.first.Time), To: words.Time(f.last.Time), FirstZxid: zxidText(f.first.Zxid), LastZxid: zxidText(f.last.Zxid),
		Transactions: f.transactions, Holds: p.nHolds, Lost: p.nLost, OutOfOrder: p.nOutOfOrder, OtherLocks: p.others.locks, Locks: []lockPastJSON{},
	}
	for _, l := range slices.SortedFunc(maps.Values(p.locks), moreImportant) {
		of := lockPastJSON{l.path, l.recipe, l.holds, l.gaveUp, l.lost, l.hold.Seconds(), l.wait.Seconds(), l.queue, nil, l.held}
		if l.queue > 0 {
			of.Queued = words.Time(l.queued)
		}
		j.Locks = append(j.Locks, of)
	}
	for i, r := range f.join.Reaches() {
		reach := reachJSON{Dir: f.names[i]}
		if r.Last != 0 {
			reach.LastZxid, reach.At = zxidText(r.Last), words.Time(r.At)
		}
		if r.Err != nil {
			reach.Error = r.Err.Error()
		}
		j.Servers = append(j.Servers, reach)
	}
	for _, g := range f.gaps {
		j.Gaps = append(j.Gaps, fmt.Sprintf("0x%x to 0x%x", g.after, g.before))
	}
	return j
}

func zxidText(zxid int64) string { return fmt.Sprintf("0x%x", zxid) }
