package verdict

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories"
)

func TestTheFirstViolationsAreTheWitnesses(t *testing.T) {
	v := &Verdict{}
	for i := range 100 {
		from := time.Duration((i * 37) % 100)
		v.Violate(func() Witness { return Witness{From: from} })
	}
	v.TellViolations()
	if v.Violations != 100 || len(v.Witnesses) != maxWitnesses {
		t.Fatalf("%d violations, %d witnesses", v.Violations, len(v.Witnesses))
	}
	for i, w := range v.Witnesses {
		if w.From != time.Duration(i) {
			t.Errorf("witness %d is from %d", i, w.From)
		}
	}
}

// Shrinking needs all violations: if a judge hid some, shrinking could present others as new.
func TestEveryViolationIsToldOnDemand(t *testing.T) {
	whole := &Verdict{everyOne: true}
	for _, v := range []*Verdict{whole, whole.Fresh()} {
		for i := range 100 {
			v.Violate(func() Witness { return Witness{From: time.Duration(i)} })
		}
		v.TellViolations()
		if len(v.Witnesses) != 100 {
			t.Errorf("%d witnesses", len(v.Witnesses))
		}
	}
}

// A cause that is rare, and late, is described too.
func TestEachCauseHasAWitness(t *testing.T) {
	v := &Verdict{}
	for i := range 3 * maxWitnesses {
		v.Violate(func() Witness { return Witness{From: time.Duration(i), Untold: i != 20} })
	}
	v.Exemplify(NotTold, func() Witness { t.Error("there are ten of that cause"); return Witness{} })
	v.Exemplify("", func() Witness { return Witness{From: 20} })
	v.TellViolations()
	if n := len(v.Witnesses); n != maxWitnesses+1 || v.Witnesses[n-1].From != 20 || v.Violations != 3*maxWitnesses {
		t.Errorf("%d witnesses of %d violations, the last %+v", n, v.Violations, v.Witnesses[n-1])
	}
}

func TestAnOrderIsReadByItsOldName(t *testing.T) {
	var w Witness
	if err := json.Unmarshal([]byte(`{"order":"belief outlived"}`), &w); err != nil || w.Order != InTurn {
		t.Errorf("%q, %v", w.Order, err)
	}
}

func TestAPartyIsNamedByItsClientAndProcess(t *testing.T) {
	h := histories.Header{Clients: 10}
	for want, p := range map[string]Party{
		"client 4":                       {Process: 4, Name: h.Name(4), Owner: "process 4"},
		"client 4 (process 14)":          {Process: 14, Name: h.Name(14)},
		"client 4 (process 14, owner a)": {Process: 14, Name: h.Name(14), Owner: "a"},
		"client 4 (owner a)":             {Process: 4, Name: h.Name(4), Owner: "a"},
		"process 14 (owner a)":           {Process: 14, Owner: "a"},
	} {
		if got := p.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestFaultsThatAreNotListedAreCounted(t *testing.T) {
	w := Witness{What: "it broke", Faults: []FaultSpan{{Fault: histories.Fault{Name: "down"}}, {Fault: histories.Fault{Name: "latency"}}}, MoreFaults: 3}
	if s := w.String(); !strings.Contains(s, "Fault down") || !strings.Contains(s, "(and 4 other faults)") {
		t.Error(s)
	}
}
