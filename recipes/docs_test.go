package recipes_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The code in docs/operations.md is that of an example, which compiles.
func TestTheCodeInTheDocsIsThatOfTheExamples(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	var examples strings.Builder
	for _, pattern := range []string{"example*_test.go", "*/example*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			examples.Write(text)
		}
	}
	fences := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(doc), -1)
	if len(fences) < 5 {
		t.Fatalf("only %d pieces of code", len(fences))
	}
	for _, f := range fences {
		if !strings.Contains(examples.String(), f[1]) {
			t.Errorf("no example has\n%s", f[1])
		}
	}
}
