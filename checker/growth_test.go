package checker

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/histories"
)

// TestWorkGrowsAsTheHistory judges histories that grow in one dimension, and compares the work
// at n, at 2n and at 4n: how often each block of the checker's code ran. Coverage counts that
// without any help of the code under test, so a quadratic step shows wherever it is written.
// The test builds itself with counters, and runs itself once for each history.
func TestWorkGrowsAsTheHistory(t *testing.T) {
	if os.Getenv(dimensionVariable) != "" {
		t.Skip("it is what runs now")
	}
	ensembletest.EveryNight(t)
	const n = 300
	dir := t.TempDir()
	program := filepath.Join(dir, "counting")
	if out, err := exec.Command("go", "test", "-c", "-covermode=atomic", "-coverpkg=github.com/zkverify/zkverify/checker/...,github.com/zkverify/zkverify/histories/states", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	count := func(t *testing.T, i, n int) map[string]int {
		profile := filepath.Join(dir, fmt.Sprint(i, "-", n))
		run := exec.Command(program, "-test.run=^TestWorkIsCounted$", "-test.coverprofile="+profile)
		run.Env = append(os.Environ(), fmt.Sprintf("%s=%d", dimensionVariable, i), fmt.Sprintf("%s=%d", sizeVariable, n))
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return blocks(t, profile)
	}
	for i, c := range growing {
		t.Run(c[0].name, func(t *testing.T) {
			t.Parallel()
			work := count(t, i, 2*n)
			grow := grows(count(t, i, n), work, n)
			if len(grow) > 0 { // work that is done whenever a number has doubled grows in steps
				after := count(t, i, 4*n)
				again := grows(work, after, 2*n)
				grow = slices.DeleteFunc(grow, func(b string) bool { return !slices.Contains(again, b) })
				for _, b := range grow {
					t.Errorf("%s ran %d times, and in a history of twice the length %d times", b, work[b], after[b])
				}
			}
		})
	}
}

// grows returns the blocks that ran too often in a history of twice the length, 2n.
func grows(before, after map[string]int, n int) []string {
	var all []string
	for _, b := range slices.Sorted(maps.Keys(after)) {
		if after[b] > least*n && float64(after[b]) > mostGrowth*float64(before[b]) {
			all = append(all, b)
		}
	}
	return all
}

const (
	// mostGrowth is the largest allowed growth of a block's runs in a history of twice the
	// length. Sorting adds a logarithmic factor, and the windows may fall differently.
	mostGrowth = 3.2
	// least is the number of runs per step of a dimension from which a block is checked.
	least = 12

	dimensionVariable = "ZKVERIFY_TEST_DIMENSION"
	sizeVariable      = "ZKVERIFY_TEST_SIZE"
)

// TestWorkIsCounted is run by TestWorkGrowsAsTheHistory: the interval engine judges a history
// in short windows.
func TestWorkIsCounted(t *testing.T) {
	i, err := strconv.Atoi(os.Getenv(dimensionVariable))
	if err != nil {
		t.Skip("TestWorkGrowsAsTheHistory runs it")
	}
	n, err := strconv.Atoi(os.Getenv(sizeVariable))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range growing[i] {
		h := grown(d, n)
		if err := histories.Validate(h); err != nil {
			t.Fatal(err)
		}
		if _, err := CheckEvents(context.Background(), h.Header, SourceOf(h).Events, WithEngine(Interval), func(c *check) { c.window, c.fixed = 32, d.fixed }); err != nil {
			t.Fatal(err)
		}
	}
}

// blocks returns the number of runs of each block, from a profile.
func blocks(t *testing.T, profile string) map[string]int {
	f, err := os.Open(profile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ran := map[string]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		block, counts, _ := strings.Cut(lines.Text(), " ")
		_, count, ok := strings.Cut(counts, " ") // the number of statements, and the number of runs
		if n, err := strconv.Atoi(count); ok && err == nil && n > 0 {
			ran[block] += n
		}
	}
	return ran
}
