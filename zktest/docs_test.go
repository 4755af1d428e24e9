package zktest_test

import (
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// docs/testing.md names all the tests to copy, and only tests that exist.
func TestTheDocsNameTheTestsToCopy(t *testing.T) {
	doc, err := os.ReadFile("../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(doc), "\n## Tests to copy\n")
	list, _, _ = strings.Cut(list, "\n## ")
	named := map[string]bool{}
	for _, part := range strings.Split(list, "\n`zktest/")[1:] {
		file, tests, _ := strings.Cut(part, "`:\n")
		text, err := os.ReadFile(file)
		for _, test := range regexp.MustCompile("(?m)^- `(Test\\w+)`").FindAllStringSubmatch(tests, -1) {
			named[test[1]] = true
			if err != nil || !strings.Contains(string(text), "func "+test[1]+"(") {
				t.Errorf("%s has no %s (%v)", file, test[1], err)
			}
		}
	}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if there, _ := path.Match("scenario_*_test.go", f.Name()); !there {
			continue
		}
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(string(text), -1) {
			if !named[test[1]] {
				t.Errorf("the page does not name %s of %s", test[1], f.Name())
			}
		}
	}
	if len(named) < 10 {
		t.Errorf("only %d tests", len(named))
	}
}
