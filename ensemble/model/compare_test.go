package model_test

import (
	"slices"
	"testing"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

func reply(op wire.Op, code wire.Code, zxid, body string) Observation {
	return Observation{Session: "s0", Kind: Reply, Op: op, Err: code, Zxid: zxid, Body: body}
}

func event(session, body string) Observation {
	return Observation{Session: session, Kind: Event, Zxid: "-1", Body: body}
}

func TestCompareFindsWhatDiffers(t *testing.T) {
	created := reply(wire.Create, wire.OK, "+1", `{path="~/a"}`)
	base := []Observation{created, event("s1", "created ~/a"), event("s1", "children changed ~")}
	change := func(i int, f func(*Observation)) []Observation {
		other := slices.Clone(base)
		f(&other[i])
		return other
	}
	for name, c := range map[string]struct {
		b       []Observation
		differA int // number of observations of each side that are shown
		differB int
	}{
		"nothing":                         {slices.Clone(base), 0, 0},
		"the code of a reply":             {change(0, func(o *Observation) { o.Err = wire.NodeExists }), 1, 1},
		"the zxid of a reply":             {change(0, func(o *Observation) { o.Zxid = "+2" }), 1, 1},
		"the body of a reply":             {change(0, func(o *Observation) { o.Body = `{path="~/b"}` }), 1, 1},
		"a reply that does not come":      {base[1:], 1, 0},
		"a connection that is closed":     {change(0, func(o *Observation) { *o = Observation{Session: "s0", Kind: Closed} }), 1, 1},
		"the path of a notification":      {change(1, func(o *Observation) { o.Body = "created ~/b" }), 1, 1},
		"the session of a notification":   {change(2, func(o *Observation) { o.Session = "s2" }), 1, 1},
		"a notification too many":         {append(slices.Clone(base), event("s2", "created ~/a")), 0, 1},
		"a notification that is missing":  {base[:2], 1, 0},
		"the order of two notifications":  {[]Observation{base[0], base[2], base[1]}, 2, 2},
		"a notification before the reply": {[]Observation{base[1], base[0], base[2]}, 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			same := []Observation{reply(wire.Ping, wire.OK, "+0", "")}
			got := Compare(
				Transcript{Steps: [][]Observation{same, base}},
				Transcript{Steps: [][]Observation{same, c.b}})
			if c.differA+c.differB == 0 {
				if len(got) > 0 {
					t.Errorf("got %v", got)
				}
				return
			}
			if len(got) != 1 || got[0].Step != 1 || len(got[0].A) != c.differA || len(got[0].B) != c.differB {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestCompareFindsAStepThatOneDoesNotHave(t *testing.T) {
	a := Transcript{Steps: [][]Observation{{event("s0", "created ~")}}}
	if got := Compare(a, Transcript{}); len(got) != 1 {
		t.Errorf("got %v", got)
	}
}

func ask(session int, requests ...Request) Step {
	return Step{Session: session, Action: Ask, Requests: requests}
}

func TestShrinkKeepsWhatTheDifferenceNeeds(t *testing.T) {
	ping, sync := Request{Op: wire.Ping}, Request{Op: wire.Sync, Body: &wire.Path{Path: "~"}}
	var p Program
	for i := range 37 {
		p.Steps = append(p.Steps, ask(i, ping, ping))
	}
	p.Steps[5], p.Steps[29] = ask(5, ping, sync, ping), ask(29, sync, ping)
	// It takes both sessions to ask for a sync.
	short, err := Shrink(p, func(p Program) (bool, error) {
		sessions := map[int]bool{}
		for _, s := range p.Steps {
			for _, r := range s.Requests {
				if r.Op == wire.Sync {
					sessions[s.Session] = true
				}
			}
		}
		return len(sessions) == 2, nil
	})
	want := "  0  s5 asks: sync {path=\"~\"}\n  1  s29 asks: sync {path=\"~\"}\n"
	if err != nil || short.String() != want {
		t.Errorf("got %v\n%s", err, short)
	}
	if len(p.Steps) != 37 || len(p.Steps[5].Requests) != 3 {
		t.Error("the program itself was changed")
	}
}

func TestProgramsComeFromTheirSeeds(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(50) {
		p := Random(seed, 40)
		if again := Random(seed, 40); again.String() != p.String() {
			t.Fatalf("seed %d gave\n%s and\n%s", seed, p, again)
		}
		seen[p.String()] = true
	}
	if len(seen) != 50 {
		t.Errorf("%d programs of 50 seeds", len(seen))
	}
}

// TestProgramsHaveEverything requires that the generator draws everything that is to be
// compared.
func TestProgramsHaveEverything(t *testing.T) {
	actions, ops, flags := map[Action]int{}, map[wire.Op]int{}, map[int32]int{}
	batches, cuts := 0, 0
	var count func(op wire.Op, body wire.Record)
	count = func(op wire.Op, body wire.Record) {
		ops[op]++
		switch b := body.(type) {
		case *wire.CreateRequest:
			flags[b.Flags]++
		case *wire.CreateTTLRequest:
			flags[b.Flags]++
		case *wire.MultiRequest:
			for _, p := range b.Parts {
				count(p.Op, p.Body)
			}
		}
	}
	for seed := range uint64(200) {
		for _, s := range Random(seed, 40).Steps {
			actions[s.Action]++
			if len(s.Requests) > 1 {
				batches++
			}
			for _, r := range s.Requests {
				count(r.Op, r.Body)
				if r.Cut > 0 {
					cuts++
				}
			}
		}
	}
	for _, a := range []Action{Ask, Move, Steal, Leave, Expire, Forge, Ahead} {
		if actions[a] == 0 {
			t.Errorf("no session %s", a)
		}
	}
	for _, op := range []wire.Op{
		wire.Create, wire.Delete, wire.Exists, wire.GetData, wire.SetData, wire.GetACL, wire.SetACL, wire.GetChildren, wire.Sync,
		wire.Ping, wire.GetChildren2, wire.Check, wire.Multi, wire.Create2, wire.Reconfig, wire.CheckWatches, wire.RemoveWatches,
		wire.CreateContainer, wire.CreateTTL, wire.MultiRead, wire.Auth, wire.SetWatches, wire.GetEphemerals,
		wire.GetAllChildrenNumber, wire.SetWatches2, wire.AddWatch, wire.WhoAmI, 1000,
	} {
		if ops[op] < 5 {
			t.Errorf("operation %d is drawn %d times", op, ops[op])
		}
	}
	for flag := int32(0); flag <= 7; flag++ {
		if flags[flag] < 5 {
			t.Errorf("flag %d is drawn %d times", flag, flags[flag])
		}
	}
	if batches == 0 || cuts == 0 {
		t.Errorf("%d batches, %d requests cut short", batches, cuts)
	}
}
