package mutants

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestTheEditsFitTheRecipesAsTheyAre(t *testing.T) {
	if p, err := Program(filepath.Join("..", "..")); err != nil || len(p.Files) == 0 {
		t.Errorf("%d files, %v", len(p.Files), err)
	}
}

// A name that is not that of a mutant switches no defect on.
func TestEveryMutantHasItsEdits(t *testing.T) {
	name := regexp.MustCompile(`"mutant-[^"]*"`)
	edited := make(map[string]bool)
	for _, e := range recipeEdits() {
		for _, quoted := range name.FindAllString(e.New, -1) {
			edited[strings.Trim(quoted, `"`)] = true
		}
	}
	for _, d := range Defects() {
		if !edited[d.Name] {
			t.Errorf("nothing is edited for %s", d.Name)
		}
		delete(edited, d.Name)
	}
	for name := range edited {
		t.Errorf("%s is not a mutant", name)
	}
}
