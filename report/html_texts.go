package report

import (
	"strings"

	"github.com/zkverify/zkverify/histories"
)

// texts numbers strings, each once. 0 is the empty string.
type texts struct {
	list    []string
	numbers map[string]int32
}

// maxTexts bounds the number of different texts that are kept, and maxText the bytes of
// each: each error may name another node.
const (
	maxTexts = 20_000
	maxText  = 200
)

// leftOut stands for the texts beyond maxTexts.
const leftOut = 1

func newTexts() *texts {
	return &texts{list: []string{"", "(one of too many texts: see the history)"}, numbers: map[string]int32{"": 0}}
}

func (s *texts) number(text string) int32 {
	text = clip(text)
	n, ok := s.numbers[text]
	switch {
	case ok:
		return n
	case len(s.list) == maxTexts:
		return leftOut
	}
	n = int32(len(s.list))
	text = strings.Clone(text)
	s.list = append(s.list, text)
	s.numbers[text] = n
	return n
}

// clip cuts a text that is too long for a page.
func clip(text string) string { return clipTo(maxText, text) }

func clipTo(most int, text string) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// locksOf returns the lock keys that an event is about.
func locksOf(e *histories.Event) []string {
	if e.Lock != "" {
		return []string{e.Lock}
	}
	var keys []string
	for _, p := range e.Parts {
		keys = append(keys, p.Lock)
	}
	return keys
}
