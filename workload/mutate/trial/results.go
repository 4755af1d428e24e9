package trial

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/zkverify/zkverify/workload/campaign"
	"github.com/zkverify/zkverify/workload/mutate"
)

// Status is the result of the trial of a mutant.
type Status string

// The statuses.
const (
	Killed    Status = "killed"
	Survived  Status = "survived"  // every run held, although one reached it
	Unreached Status = "unreached" // no run of the recipes as they are reaches it
)

// Result describes the trial of a mutant.
type Result struct {
	Key    string `json:"key"`
	Mutant mutate.Mutant
	Status Status `json:"status"`
	// By names the guarantees whose violation killed it, or one of panicked, failed, hung,
	// void.
	By     []string `json:"by,omitempty"`
	Reason string   `json:"reason,omitempty"`
	Of     *Setting `json:"of,omitempty"`    // the run that killed it
	Stage  string   `json:"stage,omitempty"` // the stage of that run
	Runs   int      `json:"runs"`            // with the mutant on, in all stages
	// ReachedBy names the stages with runs that reach it.
	ReachedBy []string `json:"reachedBy,omitempty"`
	Stages    int      `json:"stages"` // that it has been through
}

// Terms are the terms that all results of a file have in common.
type Terms struct {
	Program string       `json:"program"` // the digest of all programs and runs
	Stages  []StageTerms `json:"stages"`
}

// StageTerms are the terms that the results of a stage have in common.
type StageTerms struct {
	Runner   string    `json:"runner"`
	Settings []Setting `json:"settings"`
}

func (t StageTerms) equal(o StageTerms) bool {
	return t.Runner == o.Runner && slices.Equal(t.Settings, o.Settings)
}

// baseline is the result of a run without a mutant.
type baseline struct {
	Setting
	Reached []int `json:"reached"` // numbers of mutants
	// Unfit is the reason why it did not hold; then no mutant is judged by its setting.
	Unfit string `json:"unfit,omitempty"`
}

// line is a line of the file: one of its fields is set.
type line struct {
	Terms    *Terms    `json:"terms,omitempty"`
	Baseline *baseline `json:"baseline,omitempty"`
	Result   *Result   `json:"result,omitempty"`
}

// ErrOtherTerms is returned for results of another program, runner or settings.
var ErrOtherTerms = errors.New("the results there are of another program or other runs")

// Results is a file with the results of mutants.
type Results struct {
	mu        sync.Mutex // guards all fields
	file      *campaign.Lines
	baselines map[Setting]baseline
	results   map[string]Result // by key
	stages    int               // of the terms
}

// NewTerms returns the terms of stages whose runs use these programs.
func NewTerms(stages []Stage, programs ...string) (Terms, error) {
	digest := sha256.New()
	for _, program := range programs {
		f, err := os.Open(program)
		if err != nil {
			return Terms{}, err
		}
		_, err = io.Copy(digest, f)
		if err := errors.Join(err, f.Close()); err != nil {
			return Terms{}, err
		}
	}
	t := Terms{Program: hex.EncodeToString(digest.Sum(nil))}
	for _, s := range stages {
		t.Stages = append(t.Stages, StageTerms{s.Runner.Name(), s.Settings})
	}
	return t, nil
}

// OpenResults opens a file of results, which need not exist, to continue it. If it has results
// under other terms the error is ErrOtherTerms.
func OpenResults(path string, terms Terms) (r *Results, err error) {
	r = &Results{baselines: map[Setting]baseline{}, results: map[string]Result{}, stages: len(terms.Stages)}
	empty, same := true, true
	r.file, err = campaign.OpenLines(path, func(text []byte) error {
		var of line
		if err := json.Unmarshal(text, &of); err != nil {
			return err
		}
		switch {
		case empty:
			empty, same = false, of.Terms != nil && of.Terms.equal(terms)
		case of.Baseline != nil:
			r.baselines[of.Baseline.Setting] = *of.Baseline
		case of.Result != nil:
			r.results[of.Result.Key] = *of.Result
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case !same:
		return nil, errors.Join(ErrOtherTerms, r.Close())
	case empty:
		return r, r.file.Add(line{Terms: &terms})
	}
	return r, nil
}

func (t Terms) equal(o Terms) bool {
	return t.Program == o.Program && slices.EqualFunc(t.Stages, o.Stages, StageTerms.equal)
}

func (r *Results) addBaseline(b baseline) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.baselines[b.Setting] = b
	return r.file.Add(line{Baseline: &b})
}

// Unfit returns the runs by which no mutant is judged, since they do not hold without a mutant,
// with the reasons.
func (r *Results) Unfit() (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for of, b := range r.baselines {
		if b.Unfit != "" {
			all = append(all, fmt.Sprintf("%s: %s", of, b.Unfit))
		}
	}
	slices.Sort(all)
	return all
}

func (r *Results) baseline(of Setting) (baseline, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, ok := r.baselines[of]
	return b, ok
}

func (r *Results) add(result Result) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results[result.Key] = result
	return r.file.Add(line{Result: &result})
}

// Of returns the results of mutants, in their order, and the number of mutants without a final
// result: they were neither killed nor have been through all stages.
func (r *Results) Of(mutants []mutate.Mutant) (all []Result, missing int) {
	for _, m := range mutants {
		if len(r.left([]mutate.Mutant{m}, r.stages-1)) > 0 {
			missing++
		} else {
			all = append(all, r.before(m))
		}
	}
	return all, missing
}

// left returns the mutants that were neither killed nor have been through a stage.
func (r *Results) left(mutants []mutate.Mutant, stage int) (left []mutate.Mutant) {
	for _, m := range mutants {
		if b := r.before(m); b.Status != Killed && b.Stages <= stage {
			left = append(left, m)
		}
	}
	return left
}

// before returns the result of a mutant until now.
func (r *Results) before(m mutate.Mutant) Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	if result, ok := r.results[m.Key()]; ok {
		return result
	}
	return Result{Key: m.Key(), Mutant: m, Status: Unreached}
}

// Close closes the file.
func (r *Results) Close() error { return r.file.Close() }
