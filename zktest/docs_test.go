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
	rows := regexp.MustCompile("\\| `(Test\\w+)` \\| `zktest/(\\w+\\.go)` \\|").FindAllStringSubmatch(string(doc), -1)
	named := map[string]bool{}
	for _, row := range rows {
		named[row[1]] = true
		text, err := os.ReadFile(row[2])
		if err != nil || !strings.Contains(string(text), "func "+row[1]+"(") {
			t.Errorf("%s has no %s (%v)", row[2], row[1], err)
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
	if len(rows) < 10 {
		t.Errorf("only %d tests", len(rows))
	}
}
