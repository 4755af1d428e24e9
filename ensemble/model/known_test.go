package model_test

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write known_differences.md")

func TestTheTableOfKnownDifferencesIsTheOneInTheCode(t *testing.T) {
	want := "# What 3.9.6 does and 3.8.0 does not\n\n" + KnownTable()
	if *update {
		if err := os.WriteFile("known_differences.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile("known_differences.md"); err != nil || string(got) != want {
		t.Errorf("known_differences.md is out of date (%v): go test . -run Table -update", err)
	}
}
