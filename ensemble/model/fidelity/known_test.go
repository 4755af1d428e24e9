package fidelity_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkverify/zkverify/ensemble/model/fidelity"
)

var update = flag.Bool("update", false, "write known.md")

func TestTheTableOfKnownDifferencesIsTheOneInTheCode(t *testing.T) {
	want := "# What 3.9.6 does and 3.8.0 does not\n\n" + fidelity.KnownTable()
	if *update {
		if err := os.WriteFile("known.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile("known.md"); err != nil || string(got) != want {
		t.Errorf("known.md is out of date (%v): go test . -run Table -update", err)
	}
}
