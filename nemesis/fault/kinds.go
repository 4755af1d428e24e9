package fault

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/internal/words"
)

// Kinds are the kinds of faults that a schedule may name, in the order in which
// they are listed. No two have the same name. Those of zkverify are
// faults.List(); append your own.
type Kinds []Kind

// Check reports what is wrong with a list of kinds: a name that is missing, used
// twice, or "all" or "none", or a kind without Span or Make.
func (ks Kinds) Check() error {
	seen := map[string]bool{"all": true, "none": true}
	for _, k := range ks {
		switch {
		case k.Name == "" || strings.ContainsAny(k.Name, ", \t\n"):
			return fmt.Errorf("fault: a kind is named %q: want a name without commas and spaces", k.Name)
		case seen[k.Name]:
			return fmt.Errorf("fault: there is more than one kind named %q", k.Name)
		case k.Span == nil || k.Make == nil:
			return fmt.Errorf("fault: the kind %q has no Span or no Make", k.Name)
		}
		seen[k.Name] = true
	}
	return nil
}

// Named returns the kind of a name, or an error that says which there are.
func (ks Kinds) Named(name string) (Kind, error) {
	known := []string{"all", "none"}
	for _, k := range ks {
		if k.Name == name {
			return k, nil
		}
		known = append(known, k.Name)
	}
	return Kind{}, words.Unknown("fault", name, known, words.Known(known))
}

// Select returns the kinds that names ask for: "all", "none" (or nothing), or
// names of kinds. Kinds that need what the ensemble does not have are left out of
// "all", and an error when asked for by name. Failpoints are never part of "all": the same
// seed would draw other faults on a machine that has no Byteman, and they find bugs of
// ZooKeeper that leave nothing to judge a lock by. A nil ensemble has everything.
// Workers says whether clients live in worker processes.
func (ks Kinds) Select(names []string, e ensemble.Ensemble, workers bool) (Kinds, error) {
	var out Kinds
	for _, name := range names {
		switch name = strings.TrimSpace(name); name {
		case "", "none":
			continue
		case "all":
			for _, k := range ks {
				if (e == nil || k.Needs.MetBy(e)) && (workers || k.Needs != NeedsWorkers) && k.Needs != NeedsFailpoints {
					out = out.with(k)
				}
			}
			continue
		}
		k, err := ks.Named(name)
		if err != nil {
			return nil, err
		}
		if e != nil && !k.Needs.MetBy(e) {
			return nil, k.NotOn(e)
		}
		if k.Needs == NeedsWorkers && !workers {
			return nil, fmt.Errorf("fault %q needs %s", name, k.Needs)
		}
		out = out.with(k)
	}
	return out, nil
}

// AskFailpoints reports whether names ask for failpoints, so that local servers are to be
// started with them, see ensemble.LocalConfig.
func (ks Kinds) AskFailpoints(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		k, err := ks.Named(strings.TrimSpace(name))
		return err == nil && k.Needs == NeedsFailpoints
	})
}

func (ks Kinds) with(k Kind) Kinds {
	if slices.ContainsFunc(ks, func(o Kind) bool { return o.Name == k.Name }) {
		return ks
	}
	return append(ks, k)
}
