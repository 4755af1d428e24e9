package trial

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/zkverify/zkverify/workload/mutate"
)

// Status says what has become of a mutant.
type Status string

// The statuses.
const (
	Killed    Status = "killed"
	Survived  Status = "survived"  // every run held, although one reached it
	Unreached Status = "unreached" // no run of the recipes as they are reaches it
)

// Result is what has become of a mutant.
type Result struct {
	Key    string `json:"key"`
	Mutant mutate.Mutant
	Status Status `json:"status"`
	// By are the guarantees whose violation killed it, or one of panicked, hung, void.
	By     []string `json:"by,omitempty"`
	Reason string   `json:"reason,omitempty"`
	Seed   int64    `json:"seed,omitempty"` // of the run that killed it
	Runs   int      `json:"runs"`           // with the mutant on
}

// Terms are what all results of a file have in common.
type Terms struct {
	Program string  `json:"program"` // its digest
	Runner  string  `json:"runner"`
	Seeds   []int64 `json:"seeds"`
}

// baseline is what a run without a mutant has shown.
type baseline struct {
	Seed    int64 `json:"seed"`
	Reached []int `json:"reached"` // numbers of mutants
}

// line is a line of the file: one of its fields is set.
type line struct {
	Terms    *Terms    `json:"terms,omitempty"`
	Baseline *baseline `json:"baseline,omitempty"`
	Result   *Result   `json:"result,omitempty"`
}

// ErrOtherTerms is returned for results of another program, runner or seeds.
var ErrOtherTerms = errors.New("the results there are of another program or other runs")

// Results is a file with what has become of mutants. Each line is there as soon as it
// is known, so an interrupt loses nothing.
type Results struct {
	mu        sync.Mutex // guards all of it
	file      *os.File
	baselines map[int64]baseline
	results   map[string]Result // by key
}

// NewTerms returns the terms of runs of a program.
func NewTerms(program string, runner Runner, seeds []int64) (Terms, error) {
	f, err := os.Open(program)
	if err != nil {
		return Terms{}, err
	}
	defer f.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, f); err != nil {
		return Terms{}, err
	}
	return Terms{hex.EncodeToString(digest.Sum(nil)), runner.Name(), seeds}, nil
}

// OpenResults opens a file of results, which need not exist, to go on with. If it has
// results under other terms the error is ErrOtherTerms.
func OpenResults(path string, terms Terms) (*Results, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	r := &Results{file: f, baselines: map[int64]baseline{}, results: map[string]Result{}}
	if err := r.read(terms); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

// read reads the file up to its last whole line, where writing goes on.
func (r *Results) read(terms Terms) error {
	text, err := io.ReadAll(r.file)
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	for i, l := range bytes.SplitAfter(text[:whole], []byte("\n")) {
		if len(l) == 0 {
			continue
		}
		var of line
		if err := json.Unmarshal(l, &of); err != nil {
			return fmt.Errorf("%s: line %d: %w", r.file.Name(), i+1, err)
		}
		switch {
		case i == 0 && (of.Terms == nil || !of.Terms.equal(terms)):
			return ErrOtherTerms
		case of.Baseline != nil:
			r.baselines[of.Baseline.Seed] = *of.Baseline
		case of.Result != nil:
			r.results[of.Result.Key] = *of.Result
		}
	}
	if err := r.file.Truncate(int64(whole)); err != nil {
		return err
	}
	if _, err := r.file.Seek(int64(whole), io.SeekStart); err != nil {
		return err
	}
	if whole == 0 {
		return r.write(line{Terms: &terms})
	}
	return nil
}

func (t Terms) equal(o Terms) bool {
	return t.Program == o.Program && t.Runner == o.Runner && slices.Equal(t.Seeds, o.Seeds)
}

// write adds a line.
func (r *Results) write(l line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	_, err = r.file.Write(append(text, '\n'))
	return err
}

func (r *Results) addBaseline(b baseline) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.baselines[b.Seed] = b
	return r.write(line{Baseline: &b})
}

func (r *Results) baseline(seed int64) (baseline, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, ok := r.baselines[seed]
	return b, ok
}

func (r *Results) add(result Result) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results[result.Key] = result
	return r.write(line{Result: &result})
}

// Of returns the results of mutants, in their order, and how many have none yet.
func (r *Results) Of(mutants []mutate.Mutant) (all []Result, missing int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range mutants {
		if result, ok := r.results[m.Key()]; ok {
			all = append(all, result)
		} else {
			missing++
		}
	}
	return all, missing
}

// Close closes the file.
func (r *Results) Close() error { return r.file.Close() }
