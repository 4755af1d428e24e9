package drawn

import (
	"bytes"
	"flag"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkverify/zkverify/histories"
)

// Families are the recipes that one pair of engines judges, and those that are
// judged next to each other.
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

// Checks has rapid try a property n times, unless the command line says how
// often; a tenth of it under the race detector, which is as much slower.
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

// Text returns a history as it is in a file.
func Text(h *histories.History) string {
	var b bytes.Buffer
	if err := histories.Encode(&b, h); err != nil {
		return err.Error()
	}
	return b.String()
}
