package drawn

import (
	"bytes"
	"flag"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkverify/zkverify/histories"
)

// Families are sets of recipes: those that one pair of engines judges, and those that are
// judged together.
var Families = []struct {
	Name    string
	Recipes []histories.Recipe
}{
	{"mutual exclusion and fairness", []histories.Recipe{histories.Mutex}},
	{"several mutexes at once", []histories.Recipe{histories.MultiLock, histories.MultiLock, histories.NonReentrant}},
	{"read/write", []histories.Recipe{histories.ReadWrite}},
	{"permits", []histories.Recipe{histories.Semaphore}},
	{"permits of a size that changes", []histories.Recipe{histories.SharedSemaphore}},
	{"barriers", []histories.Recipe{histories.Barrier}},
	{"revocation", []histories.Recipe{histories.Revocation}},
	{"every recipe", histories.Recipes()},
}

// Checks makes rapid try a property n times, unless the command line gives the number. Short
// tests and the race detector, which is that much slower, try a tenth.
func Checks(t *testing.T, n int, property func(*rapid.T)) {
	t.Helper()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		if testing.Short() || Race {
			n /= 10
		}
		f := flag.Lookup("rapid.checks")
		defer func(was string) { _ = f.Value.Set(was) }(f.Value.String())
		if err := f.Value.Set(strconv.Itoa(n)); err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(t, property)
}

// Text returns a history in the form of a file.
func Text(h *histories.History) string {
	var b bytes.Buffer
	if err := histories.Encode(&b, h); err != nil {
		return err.Error()
	}
	return b.String()
}
