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

// Searched counts the placements of a step of a recipe that the plan edges has tried, each once.
type Searched struct {
	Recipe histories.Recipe `json:"recipe"`
	Step   string           `json:"step"`
	One    Tried            `json:"one"`  // placements of one act
	Near   Tried            `json:"near"` // those of two acts that are close together
	Two    Tried            `json:"two"`  // all of two acts
	// Strikes is the number of consecutive strikes that go through all placements of the recipe.
	Strikes uint64 `json:"strikes"`
}

// Tried counts placements.
type Tried struct {
	All   int `json:"all"`
	Tried int `json:"tried"`
	Made  int `json:"made"` // in the others the step had fewer messages, or was over before
}

func (t *Tried) add(made bool) {
	t.Tried++
	if made {
		t.Made++
	}
}

// Add adds the placements of another step.
func (t *Tried) Add(other Tried) {
	t.All, t.Tried, t.Made = t.All+other.All, t.Tried+other.Tried, t.Made+other.Made
}

// placementsOf returns the placements, and the paths of models, that a run has tried, as text, and whether
// each took place.
func placementsOf(recipes []histories.Recipe, events iter.Seq2[*histories.Event, error]) map[string]bool {
	if len(recipes) == 0 {
		recipes = []histories.Recipe{histories.Mutex}
	}
	all := map[string]bool{}
	for e, err := range events {
		if err != nil || e.Type != histories.FaultStop || e.Fault.Params[stepParam]+e.Fault.Params[pathParam] == "" {
			continue
		}
		p := e.Fault.Params
		text := pathText(p[pathParam])
		if p[pathParam] == "" {
			text = placementText(recipes[0], p)
		}
		struck, _ := strconv.Atoi(p[struckParam])
		all[text] = all[text] || struck >= faultsOf(p)
	}
	return all
}

// placementText returns a placement as text: the recipe, the step, and the parameters of the acts. Of
// two acts the length of the first is left out.
func placementText(r histories.Recipe, params map[string]string) string {
	text := []string{string(r), params[stepParam], params["message"], params["act"], params[lengthParam]}
	if params["then"] != "" {
		text = append(text[:4], params["then"], params[afterParam], params[sinceParam])
	}
	return strings.Join(text, " ")
}

// searched sums up the placements of all runs of a sweep.
func searched(placements map[string]bool, processes bool) (all []Searched) {
	of := map[[2]string]*Searched{}
	for text, made := range placements {
		f := strings.Fields(text)
		if f[0] == pathParam {
			continue
		}
		key := [2]string{f[0], f[1]}
		if of[key] == nil {
			r := histories.Recipe(f[0])
			n := uint64(len(stepsOf(r)))
			of[key] = &Searched{Recipe: r, Step: f[1], Strikes: strikesOfAll(r, processes)}
			of[key].One.All = int(placesOfOne(r, processes) / n)
			of[key].Near.All, of[key].Two.All = int(placesOfTwo(r, processes, messagesNear)/n), int(placesOfTwo(r, processes, messagesOfTwo)/n)
		}
		if len(f) == 5 {
			of[key].One.add(made)
			continue
		}
		message, _ := strconv.Atoi(f[2])
		after, _ := strconv.Atoi(f[5])
		if max(message, after) < messagesOfTwo { // else it is a return
			of[key].Two.add(made)
		}
		if max(message, after) < messagesNear {
			of[key].Near.add(made)
		}
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
	return fmt.Sprintf("%s, %s: of one act %v; of two close together %v; of two %v", s.Recipe, s.Step, s.One, s.Near, s.Two)
}

func (t Tried) String() string {
	if t.Tried == t.All {
		return fmt.Sprintf("all %d placements, of which %d took place", t.All, t.Made)
	}
	return fmt.Sprintf("%d of %d placements, of which %d took place", t.Tried, t.All, t.Made)
}

// PathsDone counts the paths of the models that the plan spec has carried out, each once.
type PathsDone struct {
	Tried
	// Left has those that were tried, and had a fault that did not take place.
	Left []string `json:"left,omitempty"`
}

// pathText is Outcome.Placements for a path.
func pathText(name string) string { return pathParam + " " + name }

// pathsDone sums up the paths among the placements of all runs of a sweep.
func pathsDone(placements map[string]bool) (d PathsDone) {
	for _, paths := range crowds() {
		d.All += len(paths)
		for _, p := range paths {
			made, tried := placements[pathText(p.String())]
			if tried {
				d.add(made)
			}
			if tried && !made {
				d.Left = append(d.Left, p.String())
			}
		}
	}
	return d
}

// String describes them in a line.
func (d PathsDone) String() string {
	return fmt.Sprintf("%d of %d paths of the models were carried out, of %d that were tried", d.Made, d.All, d.Tried.Tried)
}

// faultsOf returns the number of acts of a strike, by its parameters.
func faultsOf(params map[string]string) int {
	if p, ok := pathsNamed()[params[pathParam]]; ok {
		return len(p.Faults)
	}
	if params["then"] != "" {
		return 2
	}
	return 1
}
