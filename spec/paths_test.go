package spec

import (
	"slices"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/ensemble/ensembletest"
)

// Searching for all paths takes minutes, so the file has the hash of what they are made of.
func TestTheFileOfPathsIsOfTheseModels(t *testing.T) {
	first, lines, _ := strings.Cut(pathsFile, "\n")
	if first != pathsMark+pathsHash() {
		t.Fatalf("paths.txt is of other models: go run ./spec/search -paths spec/paths.txt\n%s", first)
	}
	if got := formatPaths(Paths()); got != lines {
		t.Error("paths.txt is not as its paths are written")
	}
	all, err := models()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		for _, s := range m.searches {
			for _, bug := range s.mistakes() {
				name := m.name + "/" + strings.Trim(bug, "`")
				if has := slices.ContainsFunc(Paths(), func(p Path) bool { return slices.Contains(p.Mistakes, name) }); has != slices.Contains(pathModels, m.name) {
					t.Errorf("paths.txt has the counter-example of %s: %v", name, has)
				}
			}
		}
	}
}

func TestTheFileHasThePathsOfTheModels(t *testing.T) {
	ensembletest.EveryNight(t) // each time the file's hash is checked
	needSpin(t)
	all, err := models()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string][]string{}
	for _, p := range Paths() {
		_, text, _ := strings.Cut(p.String(), ": ") // the file has the smallest world alone
		known[text] = append(known[text], p.Mistakes...)
	}
	for _, m := range all {
		for _, s := range m.searches {
			if !slices.Contains(pathModels, m.name) || !slices.Contains([]string{"two sessions, two rounds, a broken connection", "the watch is lost", "the cancel leaves the node"}, s.name) {
				continue
			}
			found, err := s.paths(t.Context(), m.text)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range found {
				_, text, _ := strings.Cut(p.String(), ": ")
				mistakes, has := known[text]
				if !has || len(p.Mistakes) > 0 && !slices.Contains(mistakes, p.Mistakes[0]) {
					t.Errorf("%v: paths.txt has no %v, %v: go run ./spec/search -paths spec/paths.txt", s, p, p.Mistakes)
				}
			}
			if len(found) == 0 {
				t.Errorf("%v has no path", s)
			}
		}
	}
}

func TestACounterExampleIsItsFaultsInTheirOrder(t *testing.T) {
	const overtaken = "note 1 overtake create.asked 0 0\nnote 1 overtake create.asked 1 0\nnote 0 overtake delete.done 0 1\n"
	for out, want := range map[string]string{
		overtaken: "2: overtake create.asked 1 0; overtake delete.done 0 1 other",
		overtaken + "note 1 break wait 1 0\nnote 1 cancel lost 1 0\n":              "2: break wait 1 0; cancel lost 1 0",
		"note 0 silence hold 0 1\nnote 0 expire turn 0 0\nnote 1 crash wait 1 0\n": "2: expire hold 0 1; crash wait 1 0 other",
		"note 0 silence hold 0 1\nnote 1 expire turn 0 0\n  1: proc 0 (note) x\n":  "2: silence hold 0 1; expire turn 0 0 other",
	} {
		p := Path{Contenders: 2, Faults: counterExample(out)}
		if p.String() != want {
			t.Errorf("%q is %v, want %s", out, p, want)
		}
		if again := parsePaths(p.String() + " = m/BUG_X"); len(again) != 1 || again[0].String() != want || again[0].Mistakes[0] != "m/BUG_X" {
			t.Errorf("%v is read as %v", p, again)
		}
	}
}
