package selftest

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

//go:generate go test -run ^TestTheDocsListEveryMutant$ -update .

var update = flag.Bool("update", false, "write the table of mutants to the docs")

// table returns the table of the mutants in the docs, in the order in which they run.
func table() string {
	var b, what strings.Builder
	b.WriteString("| mutant | bug | what it does | caught by | provocation |\n| --- | --- | --- | --- | --- |\n")
	what.WriteString("| provocation | recipe | what happens in it |\n| --- | --- | --- |\n")
	for _, p := range Provocations() {
		for _, m := range p.Mutants {
			d, _ := Known(m)
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", m, d.Bug, d.What, d.Guarantee, p.Name)
		}
		fmt.Fprintf(&what, "| %s | %s | %s |\n", p.Name, p.Recipe(), p.What)
	}
	return b.String() + "\n" + what.String()
}

func TestTheDocsListEveryMutant(t *testing.T) {
	const file, begin, end = "../../docs/selftest.md", "<!-- table -->\n", "<!-- end of table -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for the table", file)
	}
	want := before + begin + table() + end + after
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != want {
		t.Errorf("%s is not up to date: run go generate ./workload/selftest", file)
	}
}
