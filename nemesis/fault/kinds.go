package fault

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/internal/words"
)

// Kinds are the kinds of faults that a schedule may name, in the order of lists. No two
// have the same name. The kinds of zkverify are faults.List(); append your own.
type Kinds []Kind

// Check returns an error for a name that is missing, used twice, or "all" or "none", and
// for a kind without Span or Make.
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

// Named returns the kind with a name, or an error that lists the names.
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

// Select returns the kinds with the given names, which may be "all", "none" (or ""), or
// names of kinds. A kind whose need the ensemble does not meet is left out of "all", and
// is an error when it is named. What takes Byteman is never part of "all": the same seed would
// draw other faults on a machine without it, and failpoints find bugs of ZooKeeper after which
// a lock cannot be judged. A nil ensemble meets all needs. Workers is true if
// clients live in worker processes.
func (ks Kinds) Select(names []string, e ensemble.Ensemble, workers bool) (Kinds, error) {
	var out Kinds
	for _, name := range names {
		switch name = strings.TrimSpace(name); name {
		case "", "none":
			continue
		case "all":
			for _, k := range ks {
				if (e == nil || k.Needs.MetBy(e)) && (workers || k.Needs != NeedsWorkers) && !k.takesByteman(e) {
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

// AskFailpoints reports whether names include faults for which local servers must be started
// with failpoints, see ensemble.LocalConfig.
func (ks Kinds) AskFailpoints(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		k, err := ks.Named(strings.TrimSpace(name))
		return err == nil && k.takesByteman((*ensemble.Local)(nil))
	})
}

// takesByteman reports whether the fault takes Byteman in the servers of an ensemble, which may be
// a nil value of its type.
func (k Kind) takesByteman(e ensemble.Ensemble) bool {
	_, local := e.(*ensemble.Local)
	return k.Needs == NeedsFailpoints || k.Needs == NeedsClocks && local
}

func (ks Kinds) with(k Kind) Kinds {
	if slices.ContainsFunc(ks, func(o Kind) bool { return o.Name == k.Name }) {
		return ks
	}
	return append(ks, k)
}
