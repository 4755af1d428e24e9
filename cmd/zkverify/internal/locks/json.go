package locks

import (
	"time"
	"unicode/utf8"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/recipes/inspect"
)

// listing is the JSON of ls.
type listing struct {
	Locks      []summary    `json:"locks"`
	Unreadable []unreadable `json:"unreadable,omitempty"`
}

// summary is a lock in the JSON of ls and watch.
type summary struct {
	Path     string         `json:"path"`
	Recipe   inspect.Recipe `json:"recipe"`
	Holders  int            `json:"holders"`
	Waiters  int            `json:"waiters"`
	Holder   *contender     `json:"oldestHolder,omitempty"`
	Waiter   *contender     `json:"oldestWaiter,omitempty"`
	Changing bool           `json:"changing,omitempty"` // its queue changed each time it was read
}

// contender is a node of a lock in JSON.
type contender struct {
	Node      string          `json:"node"`
	State     string          `json:"state"` // "holds" or "waits"
	Kind      inspect.Kind    `json:"kind,omitempty"`
	Library   inspect.Library `json:"library"`
	Session   string          `json:"session,omitempty"` // none: the node is persistent
	Client    string          `json:"client,omitempty"`
	SessionIs string          `json:"sessionState,omitempty"`
	Token     string          `json:"token"`
	Since     *time.Time      `json:"since"` // creation of the node, by the leader's clock; null if JSON cannot represent it
	Age       float64         `json:"ageSeconds"`
	Data      string          `json:"data,omitempty"`       // its first 256 bytes, if they are text
	Bytes     []byte          `json:"dataBase64,omitempty"` // the same bytes, if they are not text
	Size      int             `json:"dataSize"`
	Hidden    bool            `json:"hidden,omitempty"` // the command has no permission to read the data
}

type unreadable struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

func unreadables(s *inspect.Snapshot) (all []unreadable) {
	for _, u := range s.Unreadable {
		all = append(all, unreadable{u.Path, u.Err.Error()})
	}
	return all
}

func summaries(locks []inspect.Lock, now time.Time) []summary {
	all := make([]summary, len(locks))
	for i := range locks {
		all[i] = summaryOf(&locks[i], now)
	}
	return all
}

func summaryOf(l *inspect.Lock, now time.Time) summary {
	holder, waiter := l.Oldest()
	s := summary{Path: l.Path, Recipe: l.Recipe, Holder: contenderOf(holder, now, nil), Waiter: contenderOf(waiter, now, nil), Changing: l.Changing}
	s.Holders, s.Waiters = l.Count()
	return s
}

// contenderOf returns a contender with the known facts about its session.
func contenderOf(c *inspect.Contender, now time.Time, sessions *inspect.Sessions) *contender {
	if c == nil {
		return nil
	}
	j := &contender{
		Node: c.Path, State: "waits", Kind: c.Kind, Library: c.Library, Client: sessions.Client(c.Session), Token: c.Token.String(),
		Since: words.Time(c.Since), Age: inspect.Age(now, c.Since).Seconds(), Size: c.Size, Hidden: c.Hidden,
	}
	if c.Holds {
		j.State = "holds"
	}
	if c.Session != 0 {
		j.Session = sessionID(c.Session)
	}
	if sessions != nil {
		j.SessionIs = string(sessions.State(c.Session))
	}
	if utf8.Valid(c.Data) {
		j.Data = string(c.Data)
	} else {
		j.Bytes = c.Data
	}
	return j
}
