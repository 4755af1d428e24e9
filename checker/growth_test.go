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
// at n and at 2n: how often each block of the checker's code ran. Coverage counts that, of which
// the code under test knows nothing: a step that is quadratic shows wherever it is written. So the
// test builds itself with counters, and runs itself once for each history.
func TestWorkGrowsAsTheHistory(t *testing.T) {
	if os.Getenv(dimensionVariable) != "" {
		t.Skip("it is what runs now")
	}
	ensembletest.EveryNight(t)
	const n = 300
	dir := t.TempDir()
	program := filepath.Join(dir, "counting")
	if out, err := exec.Command("go", "test", "-c", "-covermode=atomic", "-coverpkg=github.com/zkverify/zkverify/checker/...", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for i, c := range growing {
		t.Run(c[0].name, func(t *testing.T) {
			t.Parallel()
			var work [2]map[string]int
			for k := range work {
				profile := filepath.Join(dir, fmt.Sprint(i, "-", k))
				run := exec.Command(program, "-test.run=^TestWorkIsCounted$", "-test.coverprofile="+profile)
				run.Env = append(os.Environ(), fmt.Sprintf("%s=%d", dimensionVariable, i), fmt.Sprintf("%s=%d", sizeVariable, n<<k))
				if out, err := run.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				work[k] = blocks(t, profile)
			}
			known, grows := slices.Contains(stillGrow, c[0].name), false
			for _, b := range slices.Sorted(maps.Keys(work[1])) {
				before, after := work[0][b], work[1][b]
				if after <= least*n || float64(after) <= mostGrowth*float64(before) {
					continue
				}
				grows = true
				say := t.Errorf
				if known {
					say = t.Logf
				}
				say("%s ran %d times, and in a history of twice the length %d times", b, before, after)
			}
			if known && !grows {
				t.Error("the work does not grow faster than the history any more: take it off the list")
			}
		})
	}
}

const (
	// mostGrowth is how much more often a block may run in a history of twice the length.
	// Sorting has a factor of a logarithm, and windows come where they come.
	mostGrowth = 3.2
	// least is how often a block has to run for each step of a dimension to be looked at.
	least = 12

	dimensionVariable = "ZKVERIFY_TEST_DIMENSION"
	sizeVariable      = "ZKVERIFY_TEST_SIZE"
)

// TestWorkIsCounted is what TestWorkGrowsAsTheHistory runs: the interval engine judges a history
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

// blocks returns how often each block ran, as a profile says.
func blocks(t *testing.T, profile string) map[string]int {
	f, err := os.Open(profile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ran := map[string]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		block, counts, _ := strings.Cut(lines.Text(), " ")
		_, count, ok := strings.Cut(counts, " ") // of statements, and of times
		if n, err := strconv.Atoi(count); ok && err == nil && n > 0 {
			ran[block] += n
		}
	}
	return ran
}
