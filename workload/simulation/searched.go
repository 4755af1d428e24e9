package simulation

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/zkverify/zkverify/histories"
)

// Searched is what the plan edges has tried with one step of a recipe.
type Searched struct {
	Recipe histories.Recipe `json:"recipe"`
	Step   string           `json:"step"`
	// Messages is the largest number of a message of the step at which a strike acted.
	Messages int `json:"messages"`
	// One is the number of placements of one act among these messages, and OneMade how many of them
	// took place, each counted once; so are Two and TwoMade, of two acts.
	One     int `json:"one"`
	OneMade int `json:"oneMade"`
	Two     int `json:"two"`
	TwoMade int `json:"twoMade"`
}

// placementsOf returns the placements of a run that took place, as text, each once.
func placementsOf(recipes []histories.Recipe, events iter.Seq2[*histories.Event, error]) (all []string) {
	if len(recipes) == 0 {
		recipes = []histories.Recipe{histories.Mutex}
	}
	for e, err := range events {
		if err != nil || e.Type != histories.FaultStop || e.Fault.Params[stepParam] == "" {
			continue
		}
		p := e.Fault.Params
		struck, _ := strconv.Atoi(p[struckParam])
		if struck == 0 || p["then"] != "" && struck < 2 {
			continue
		}
		text := strings.Join([]string{string(recipes[0]), p[stepParam], p["message"], p["act"], p[lengthParam]}, " ")
		if p["then"] != "" {
			text += strings.Join([]string{"", p["then"], p[afterParam], p[sinceParam]}, " ")
		}
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// searched sums up the placements of all runs of a sweep.
func searched(placements map[string]bool, processes bool) (all []Searched) {
	of := map[[2]string]*Searched{}
	for text := range placements {
		f := strings.Fields(text)
		key := [2]string{f[0], f[1]}
		if of[key] == nil {
			of[key] = &Searched{Recipe: histories.Recipe(f[0]), Step: f[1]}
		}
		s := of[key]
		message, _ := strconv.Atoi(f[2])
		s.Messages = max(s.Messages, message)
		if len(f) > 5 {
			s.TwoMade++
		} else {
			s.OneMade++
		}
	}
	one, then := len(firsts(processes)), len(acts(processes))
	for _, s := range of {
		s.One = (s.Messages + 1) * one
		s.Two = one * then * 2 * min(s.Messages+1, messagesOfTwo) * messagesOfTwo
	}
	for _, s := range slices.SortedFunc(maps.Values(of), func(a, b *Searched) int {
		return cmp.Or(cmp.Compare(a.Recipe, b.Recipe), slices.Index(steps, a.Step)-slices.Index(steps, b.Step))
	}) {
		all = append(all, *s)
	}
	return all
}

// String describes the search in a line.
func (s Searched) String() string {
	return fmt.Sprintf("%s, %s: %d of %d placements of one act at its beginning and its first %d messages, %d of %d of two", s.Recipe, s.Step, s.OneMade, s.One, s.Messages, s.TwoMade, s.Two)
}
