package spec

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Validated is the outcome of the validation of one record.
type Validated struct {
	Windows int            `json:"windows"`          // parts of the record, which do not depend on each other
	Steps   int            `json:"steps"`            // in them
	Beyond  int            `json:"beyond,omitempty"` // further steps, which are not decided
	Why     map[string]int `json:"why,omitempty"`    // the reasons for these
	// Differs describes the first step that the model cannot do in each window, none if it can do all.
	Differs []string `json:"differs,omitempty"`
}

func (v *Validated) beyond(why string, steps int) {
	v.Beyond += steps
	v.Why[why] += steps
}

// Validator decides whether spec/mutex.pml can do what a run has done.
type Validator struct {
	text  string
	dir   string // of compiled checkers
	times int    // by which each attempt's limit is multiplied: 1; more in tests, which a busy machine delays
}

// NewValidator returns a validator. The error tells how to install a program that is missing.
func NewValidator() (*Validator, error) {
	if err := findTools(); err != nil {
		return nil, err
	}
	text, err := files.ReadFile("mutex.pml")
	if err != nil {
		return nil, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(string(text) + included(string(text)) + strings.Join(slices.Concat(traceSwitches, traceFlags), " ")))
	v := &Validator{text: string(text), dir: filepath.Join(cache, "zkverify", "mutex-"+hex.EncodeToString(sum[:8])), times: 1}
	return v, os.MkdirAll(v.dir, 0o755)
}

// The model is compiled once for each of these numbers of contenders.
var sizes = []int{3, 6, mostSlots}

// What can happen unseen in a run: each between two lines of the record, as often as it changes
// anything.
var traceSwitches = []string{"-DTRACE=1", "-DBREAKS=1", "-DSILENCES=1", "-DCANCELS=1", "-DDEPOSED=1", "-DADMINS=1", "-DWRITES"}

var traceFlags = []string{"-O1", "-w", "-DSAFETY", "-DNOCLAIM", "-DNOREDUCE", "-DVECTORSZ=65536", "-DHC4"}

// attempt is a search for a way in which the model can do the lines of a window. Most that take one order
// of the model's processes very long take the other a few milliseconds.
type attempt struct {
	order string // in which the processes take steps: a flag of the C compiler
	limit int    // ms of search
}

// attempts are made in turn, the first with many windows in a process.
var attempts = []attempt{{"-DREVERSE", 15}, {"-DFORWARD", 60}, {"-DREVERSE", 75}}

// undecided is why a window is not decided that no attempt decides.
const undecided = "more than 0.15 s of search"

// checker returns the program for so many contenders, which is compiled if need be.
func (v *Validator) checker(ctx context.Context, n int, order string) (string, error) {
	program := filepath.Join(v.dir, fmt.Sprintf("pan-%d%s", n, order))
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	dir, err := os.MkdirTemp(v.dir, "make-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	err = errors.Join(os.WriteFile(filepath.Join(dir, "mutex.pml"), []byte(v.text), 0o600), writeIncludes(dir, includes()))
	if err != nil {
		return "", err
	}
	size := "-DN=" + strconv.Itoa(n)
	if out, err := output(ctx, dir, "spin", append(append([]string{"-Pcc -E -xc", size}, traceSwitches...), "-a", "mutex.pml")...); err != nil {
		return "", fmt.Errorf("spin does not accept mutex.pml: %s", firstLine(out, "error"))
	}
	if out, err := output(ctx, dir, "cc", append(slices.Clone(traceFlags), order, "-DNCONT="+strconv.Itoa(n), "-o", "pan", "pan.c")...); err != nil {
		return "", fmt.Errorf("the C compiler does not accept what spin made of mutex.pml: %s", firstLine(out, "error"))
	}
	return program, os.Rename(filepath.Join(dir, "pan"), program)
}

// Validate validates the record in a file.
func (v *Validator) Validate(ctx context.Context, file string) (Validated, error) {
	var out Validated
	steps, err := readRecord(file)
	if err != nil {
		return out, err
	}
	out.Why = map[string]int{}
	locks := split(steps)
	bySize := map[int][]*window{}
	for _, name := range slices.Sorted(maps.Keys(locks)) {
		for _, w := range locks[name] {
			out.Windows++
			out.Steps += len(w.lines) - w.again
			if w.beyond != "" {
				out.beyond(w.beyond, w.rest)
			}
			if len(w.slots) > mostSlots {
				w.slots = w.slots[:mostSlots]
			}
			i, _ := slices.BinarySearch(sizes, len(w.slots))
			bySize[sizes[i]] = append(bySize[sizes[i]], w)
		}
	}
	for _, n := range sizes {
		if len(bySize[n]) == 0 {
			continue
		}
		results, err := v.run(ctx, n, bySize[n])
		if err != nil {
			return out, err
		}
		for i, w := range bySize[n] {
			switch r := results[i]; {
			case r == "done":
			case strings.HasPrefix(r, "stops "):
				at, err := strconv.Atoi(r[len("stops "):])
				if err != nil || at >= len(w.lines) {
					return out, fmt.Errorf("the checker of the model says %q", r)
				}
				text, err := v.differs(ctx, n, w, steps, at)
				if err != nil {
					return out, err
				}
				out.Differs = append(out.Differs, text)
			default:
				out.beyond(r, len(w.lines)-w.again)
				out.Steps -= len(w.lines) - w.again
			}
		}
	}
	return out, nil
}

// chunk is the number of windows that one process decides, if the first attempt is enough.
const chunk = 60

// run returns the outcome of each window: "done", "stops LINE", or why it is not decided.
func (v *Validator) run(ctx context.Context, n int, windows []*window) ([]string, error) {
	results := make([]string, len(windows))
	all := make([]int, len(windows))
	for i := range all {
		all[i] = i
	}
	var hard []int
	for chunks := slices.Collect(slices.Chunk(all, chunk)); len(chunks) > 0; {
		answers, err := v.decide(ctx, n, attempts[0], windows, chunks)
		if err != nil {
			return nil, err
		}
		var rest [][]int
		for i, c := range chunks {
			done := min(answers[i].window, len(c))
			for _, w := range c[:done] {
				results[w] = "done"
			}
			if done == len(c) {
				continue
			}
			if hard = append(hard, c[done]); done+1 < len(c) {
				rest = append(rest, c[done+1:])
			}
		}
		chunks = rest
	}
	for _, try := range attempts[1:] {
		answers, err := v.decide(ctx, n, try, windows, slices.Collect(slices.Chunk(hard, 1)))
		if err != nil {
			return nil, err
		}
		var left []int
		for i, w := range hard {
			if results[w] = answers[i].text; results[w] == undecided {
				left = append(left, w)
			}
		}
		hard = left
	}
	return results, nil
}

// answer is what a checker says of a chunk.
type answer struct {
	text   string // "done", "stops LINE", or why the window is not decided
	window int    // the first that is not done
}

// answerOf reads an answer on a chunk of so many windows.
func answerOf(line string, windows int) answer {
	var at, in int
	switch {
	case line == "done":
		return answer{line, windows}
	case scans(line, "stops %d %d", &at, &in):
		return answer{fmt.Sprintf("stops %d", at), in}
	case scans(line, "late %d", &in):
		return answer{undecided, in}
	}
	return answer{line, 0}
}

func scans(line, format string, into ...any) bool {
	n, err := fmt.Sscanf(line, format, into...)
	return err == nil && n == len(into)
}

// decide returns the answer for each chunk of windows.
func (v *Validator) decide(ctx context.Context, n int, try attempt, windows []*window, chunks [][]int) ([]answer, error) {
	if len(chunks) == 0 {
		return nil, nil
	}
	program, err := v.checker(ctx, n, try.order)
	if err != nil {
		return nil, err
	}
	in := []int{try.limit * v.times, len(chunks)}
	for _, c := range chunks {
		at := len(in) + 1
		in = append(in, len(c), 0)
		for _, w := range c {
			in = windows[w].numbers(in)
		}
		in[at] = len(in) - at - 1
	}
	b := new(bytes.Buffer)
	for _, number := range in {
		b.WriteString(strconv.Itoa(number))
		b.WriteByte('\n')
	}
	cmd := exec.CommandContext(ctx, program, "-m20000", "-w16", "-E", "-n")
	cmd.Stdin, cmd.Dir = b, v.dir
	out, err := cmd.CombinedOutput()
	var answers []answer
	for line := range strings.Lines(string(out)) {
		if r, is := strings.CutPrefix(line, "chunk "); is && len(answers) < len(chunks) {
			answers = append(answers, answerOf(strings.TrimSpace(r), len(chunks[len(answers)])))
		}
	}
	if len(answers) != len(chunks) {
		return nil, fmt.Errorf("the checker of the model decided %d of %d parts: %v: %s", len(answers), len(chunks), err, firstLine(string(out), "error"))
	}
	return answers, nil
}

// numbers appends the window in the form of trace.inc.
func (w *window) numbers(in []int) []int {
	in = append(in, len(w.slots), len(w.lines))
	for _, s := range w.slots {
		owner := &w.slots[s.session]
		last := owner.renewals
		if owner.told { // the next session need not have a step
			last++
		}
		in = append(in, s.session, last)
	}
	for _, l := range w.lines {
		in = append(in, l.kind, l.who, l.what, l.at)
	}
	return in
}
