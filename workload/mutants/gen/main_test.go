package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestTheMutantsAreThoseOfTheRecipesAsTheyAre(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		got, err := os.ReadFile(filepath.Join(root, path))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not up to date: run go generate ./workload/mutants", path)
		}
	}
	have, err := filepath.Glob(filepath.Join(root, "workload/mutants/mutated_*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range have {
		if _, ok := files["workload/mutants/"+filepath.Base(path)]; !ok {
			t.Errorf("%s is a left-over: run go generate ./workload/mutants", path)
		}
	}
}
