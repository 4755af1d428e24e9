package histories

import (
	"fmt"
	"math"
	"slices"
)

// subject checks the locks of an event, and the fields about them.
func (v *validator) subject(e *Event) error {
	if e.Parts != nil {
		if err := parts(e); err != nil {
			return err
		}
	}
	switch e.Mode {
	case "", ModeRead, ModeWrite:
	default:
		return fmt.Errorf("unknown mode %q", e.Mode)
	}
	for _, c := range []struct {
		n    int
		what string
	}{{e.Permits, "permits"}, {e.Size, "size"}, {e.Depth, "depth"}, {e.Position, "position"}, {e.Generation, "generation"}} {
		if c.n < 0 || c.n > math.MaxInt32 { // so that sums do not overflow
			return fmt.Errorf("%s %d", c.what, c.n)
		}
	}
	if v.locks == nil {
		return nil
	}
	for _, key := range e.keys() {
		l, known := v.locks[key]
		switch {
		case !known:
			return fmt.Errorf("lock %q is not in the header", key)
		case e.Parts != nil && l.Recipe != MultiLock && l.Recipe != NonReentrant:
			return fmt.Errorf("%s %q is no part of a multi-lock", l.Recipe, key)
		case e.Mode != "" && l.Recipe != ReadWrite:
			return fmt.Errorf("%s %q has no modes", l.Recipe, key)
		case e.Permits != 0 && !l.Recipe.HasPermits():
			return fmt.Errorf("%s %q has no permits", l.Recipe, key)
		case !l.Recipe.IsLock() && slices.Contains([]Type{Enqueued, Lost, Suspended, Resumed}, e.Type):
			return fmt.Errorf("%s %q is never held", l.Recipe, key)
		case l.Recipe == ReadWrite && e.Mode == "" && e.Type == Lost:
			return missing(e, "mode")
		case !l.Recipe.Revocable() && e.Type == RevokeRequested:
			return fmt.Errorf("the holder of %s %q cannot be asked to release", l.Recipe, key)
		}
	}
	return nil
}

// parts checks the locks of an operation over several.
func parts(e *Event) error {
	switch {
	case !slices.Contains([]Type{Invoke, OK, Fail, Info, Lost, Suspended, Resumed, Crash, Says}, e.Type):
		return fmt.Errorf("%s has no parts", e.Type)
	case e.Lock != "":
		return fmt.Errorf("%s has a lock and parts", e.Type)
	case len(e.Parts) == 0:
		return missing(e, "parts")
	}
	seen := make(map[string]bool, len(e.Parts))
	for _, p := range e.Parts {
		if p.Lock == "" {
			return missing(e, "parts.lock")
		}
		if seen[p.Lock] {
			return fmt.Errorf("lock %q is a part twice", p.Lock)
		}
		seen[p.Lock] = true
	}
	return nil
}

func (v *validator) invoke(e *Event) error {
	if err := v.operation(e); err != nil {
		return err
	}
	if o, ok := v.open[e.Process]; ok {
		return fmt.Errorf("process %d invokes %s while its %s of lock %q is open", e.Process, e.Op, o.Op, o.lockName())
	}
	return nil
}

func (v *validator) completion(e *Event) error {
	if err := v.operation(e); err != nil {
		return err
	}
	o, ok := v.open[e.Process]
	switch {
	case !ok:
		return fmt.Errorf("process %d completes %s without an invocation", e.Process, e.Op)
	case o.Op != e.Op:
		return fmt.Errorf("process %d completes %s but invoked %s", e.Process, e.Op, o.Op)
	case (o.Parts == nil) != (e.Parts == nil), !slices.Equal(o.keys(), e.keys()):
		return fmt.Errorf("process %d completes %s of lock %q but invoked it on lock %q", e.Process, e.Op, e.lockName(), o.lockName())
	case o.Store != e.Store:
		return fmt.Errorf("process %d completes %s of store %q but invoked it on store %q", e.Process, e.Op, e.Store, o.Store)
	case o.Owner != "" && e.Owner != "" && o.Owner != e.Owner:
		return fmt.Errorf("process %d completes %s for owner %q but invoked it for owner %q", e.Process, e.Op, e.Owner, o.Owner)
	case o.Mode != e.Mode:
		return fmt.Errorf("process %d completes %s in mode %q but invoked it in mode %q", e.Process, e.Op, e.Mode, o.Mode)
	case o.Permits != e.Permits:
		return fmt.Errorf("process %d completes %s of %d permits but invoked it for %d", e.Process, e.Op, e.Permits, o.Permits)
	case o.Size != e.Size:
		return fmt.Errorf("process %d completes %s to %d but invoked it to %d", e.Process, e.Op, e.Size, o.Size)
	case o.Generation != e.Generation:
		return fmt.Errorf("process %d completes %s of generation %d but invoked it in generation %d", e.Process, e.Op, e.Generation, o.Generation)
	case e.Refused && (e.Type != Fail || e.Op != TryAcquire && e.Op != Release && e.Store != StoreFenced):
		return fmt.Errorf("%s of %s is refused; only a try, a release or a use of the fence that fails is", e.Type, e.Op)
	case e.Late < 0:
		return fmt.Errorf("process %d completes %s %d ns after its context has ended", e.Process, e.Op, e.Late)
	case e.Unexplained && e.Type == OK:
		return fmt.Errorf("process %d completes %s, which succeeds and is unexplained", e.Process, e.Op)
	case e.Op == Revoke && o.Token != e.Token:
		return fmt.Errorf("process %d completes %s of another token than it invoked it for", e.Process, e.Op)
	}
	return nil
}

// round checks the generation of e. Without it nothing is known of the order of a barrier's rounds, so one that
// is left out must not hide a member from the others.
func (v *validator) round(e *Event) error {
	named, known := v.named[e.Lock]
	switch {
	case !known:
		v.named[e.Lock] = e.Generation > 0
	case named && e.Generation == 0:
		return missing(e, "generation")
	case !named && e.Generation > 0:
		return fmt.Errorf("%s of %q in generation %d, and earlier ones have no generation", e.Op, e.Lock, e.Generation)
	}
	return nil
}

// operation checks that e has the fields that an invocation or completion of its op
// needs, and no field of another op.
func (v *validator) operation(e *Event) error {
	switch e.Op {
	case Acquire, TryAcquire, Release, Set, Remove, Wait, Observe:
	case Read, Write:
		switch e.Store {
		case StoreFenced, StoreGuarded, StorePlain:
		case "":
			return missing(e, "store")
		default:
			return fmt.Errorf("unknown store %q", e.Store)
		}
	case SetSize:
		if e.Size < 1 {
			return missing(e, "size")
		}
	case Revoke:
		if e.Token == (Token{}) {
			return missing(e, "token")
		}
	case Enter, Leave:
		if err := v.round(e); err != nil {
			return err
		}
	case "":
		return missing(e, "op")
	default:
		return fmt.Errorf("unknown op %q", e.Op)
	}
	holds := e.Op == Acquire || e.Op == TryAcquire || e.Op == Release
	switch {
	case e.Store != "" && e.Op != Read && e.Op != Write:
		return fmt.Errorf("%s has no store", e.Op)
	case e.Size != 0 && e.Op != SetSize:
		return fmt.Errorf("%s has no size", e.Op)
	case e.Generation != 0 && e.Op != Enter && e.Op != Leave:
		return fmt.Errorf("%s has no generation", e.Op)
	case e.Permits != 0 && !holds && e.Op != Write:
		return fmt.Errorf("%s has no permits", e.Op)
	case e.Parts != nil && !holds:
		return fmt.Errorf("%s has no parts", e.Op)
	case e.Lock == "" && e.Parts == nil:
		return missing(e, "lock")
	}
	for _, key := range e.keys() {
		r := v.locks[key].Recipe
		switch {
		case v.locks == nil: // the recipe is unknown
		case !r.has(e.Op):
			return fmt.Errorf("%s %q has no %s", r, key, e.Op)
		case r == ReadWrite && e.Mode == "":
			return missing(e, "mode")
		case r.HasPermits() && holds && e.Permits == 0:
			return missing(e, "permits")
		}
	}
	return needProcess(e)
}
