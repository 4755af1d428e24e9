package fault_test

import (
	"strings"
	"testing"

	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/nemesis/faults"
)

func TestAFaultOfOnesOwnIsOneOfAll(t *testing.T) {
	kinds := append(faults.List(), flapping())
	if err := kinds.Check(); err != nil {
		t.Fatal(err)
	}
	all, err := kinds.Select([]string{"all"}, nil, true)
	if err != nil || all[len(all)-1].Name != "flapping" {
		t.Errorf("all has no fault of one's own: error %v", err)
	}
	one, err := kinds.Select([]string{"down", " flapping ", "down"}, nil, false)
	if err != nil || len(one) != 2 || one[1].Name != "flapping" {
		t.Errorf("asked for down and flapping, got %d kinds, error %v", len(one), err)
	}
	if _, err := faults.List().Named("flapping"); err == nil || !strings.Contains(err.Error(), "latency") {
		t.Errorf("a fault that was not added: %v, which does not list the faults", err)
	}
}

func TestAListOfKindsThatCannotWorkIsRefused(t *testing.T) {
	good := flapping()
	for name, bad := range map[string]func(*fault.Kind){
		"no name":          func(k *fault.Kind) { k.Name = "" },
		"a comma":          func(k *fault.Kind) { k.Name = "a,b" },
		"one of zkverify":  func(k *fault.Kind) { k.Name = "latency" },
		"a word of Select": func(k *fault.Kind) { k.Name = "none" },
		"no span":          func(k *fault.Kind) { k.Span = nil },
		"nothing to do":    func(k *fault.Kind) { k.Make = nil },
	} {
		k := good
		bad(&k)
		if err := append(faults.List(), k).Check(); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}
