package client

import (
	"cmp"
	"slices"

	"github.com/zkverify/zkverify/histories"
)

// tokens is a set of tokens of one lock, each with a process. An element takes sixteen bytes,
// since the set may have to hold all tokens ever granted.
type tokens []tokenOf

type tokenOf struct {
	zxid         int64
	sub, process int32
}

func (s tokens) find(t histories.Token, process int) (int, bool) {
	return slices.BinarySearchFunc(s, tokenOf{t.Zxid, t.Sub, int32(process)}, func(a, b tokenOf) int {
		return cmp.Or(cmp.Compare(a.zxid, b.zxid), cmp.Compare(a.sub, b.sub), cmp.Compare(a.process, b.process))
	})
}

func (s tokens) has(t histories.Token, process int) bool {
	_, ok := s.find(t, process)
	return ok
}

// add returns the set with one more token. Tokens grow, so most are added at the end.
func (s tokens) add(t histories.Token, process int) tokens {
	i, ok := s.find(t, process)
	if ok {
		return s
	}
	return slices.Insert(s, i, tokenOf{t.Zxid, t.Sub, int32(process)})
}

// first returns the first process that is in the set with a token.
func (s tokens) first(t histories.Token) (process int, ok bool) {
	i, _ := s.find(t, -1)
	if i == len(s) || s[i].zxid != t.Zxid || s[i].sub != t.Sub {
		return 0, false
	}
	return int(s[i].process), true
}
