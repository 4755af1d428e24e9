package report

import (
	"fmt"
	"path"
	"strings"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/internal/words"
)

// String returns the result in one line.
func (r *NightResult) String() string {
	text := fmt.Sprintf("%s: %s; %s, %s, %s", r.Outcome, r.Reason, words.Count(r.Ops, "operation"), words.Count(r.Faults, "fault"), Seconds(r.Took))
	if r.Trouble != "" {
		text += "; " + r.Trouble
	}
	if n := len(r.VoidRuns); n > 0 {
		text += fmt.Sprintf("; made again %s because the servers disagreed (%s)", words.Times(n), strings.Join(r.VoidRuns, ", "))
	}
	return text
}

// Replay returns the command that runs it again from its folder in dir, or "" if its history
// was not kept.
func (r *NightResult) Replay(dir string) string {
	if r.Folder == "" {
		return ""
	}
	command := "zkverify replay " + words.ShellPath(path.Join(dir, r.Folder))
	if r.Outcome == verdict.Violated {
		command += " --times 10 --until-violated"
	}
	return command
}

// Annotation returns the line by which a GitHub workflow shows the result.
func (r *NightResult) Annotation() string {
	level := "error"
	if r.Outcome != verdict.Violated {
		level = "warning"
	}
	return words.Annotation(level, fmt.Sprintf("zkverify seed %d", r.Seed), r.String())
}

// counts returns the number of runs with each outcome, the worst first.
func (n *Night) counts() string {
	var counts []string
	for _, o := range verdict.Outcomes() {
		k := 0
		for _, r := range n.Results {
			if r.Outcome == o {
				k++
			}
		}
		if k > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", k, o))
		}
	}
	if counts == nil {
		return "none"
	}
	return strings.Join(counts, ", ")
}

// figures returns the counts of runs, outcomes, operations and faults.
func (n *Night) figures() string {
	operations, faults := n.sums()
	return fmt.Sprintf("%d of %s made: %s; %s, %s", len(n.Results), words.Count(n.Planned(), "run"), n.counts(), words.Count(operations, "operation"), words.Count(faults, "fault"))
}

// sums returns the numbers of operations and faults in all runs.
func (n *Night) sums() (operations, faults int) {
	for _, r := range n.Results {
		operations += r.Ops
		faults += r.Faults
	}
	return operations, faults
}

// voidRuns returns the number of void runs, which were made again.
func (n *Night) voidRuns() (void int) {
	for _, r := range n.Results {
		void += len(r.VoidRuns)
	}
	return void
}

// missing lists the runs that were not made; "" if all were.
func (n *Night) missing() string {
	left := n.Left()
	if len(left) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s not made: %s", len(left), words.Count(n.Planned(), "run"), seedList(left))
}

// maxSeeds is the greatest number of seeds in a list.
const maxSeeds = 8

// seedList lists seeds, or the first of many.
func seedList(seeds []int64) string {
	text := "seed"
	if len(seeds) > 1 {
		text += "s"
	}
	for i, seed := range seeds {
		if i == maxSeeds {
			return fmt.Sprintf("%s and %d more", text, len(seeds)-i)
		}
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf(" %d", seed)
	}
	return text
}

// Summary returns a summary of the night in a few lines: the outcomes, the causes, then each run that
// did not pass, with the command that runs it again. The night's folder is dir.
func (n *Night) Summary(dir string) string {
	var b strings.Builder
	b.WriteString(n.figures())
	if void := n.voidRuns(); void > 0 {
		fmt.Fprintf(&b, "; %s made again because the servers disagreed", words.Count(void, "run"))
	}
	if v := n.ZooKeeper(); v != "" {
		fmt.Fprintf(&b, "; ZooKeeper %s", words.Line(v))
	}
	if empty, of := n.Unmet(); len(empty) > 0 {
		fmt.Fprintf(&b, "; %d of %d combinations of fault, recipe and state did not occur", len(empty), of)
	}
	if k := len(n.Results); k > 2 && n.Parts == 0 && n.Results[1].Memory > 0 {
		fmt.Fprintf(&b, "; zkverify took %d MB after the second run, %d MB after the last", n.Results[1].Memory>>20, n.Results[k-1].Memory>>20)
	}
	if why := n.missing(); why != "" {
		fmt.Fprintf(&b, "\n%s", why)
	}
	if told := Missed(n.Situations); told != "" {
		fmt.Fprintf(&b, "\n%s", told)
	}
	for _, l := range n.causeLines() {
		fmt.Fprintf(&b, "\n%s", words.Line(l.String()))
	}
	for _, r := range n.Results {
		if r.Passed() && len(r.VoidRuns) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\nseed %d: %s", r.Seed, words.Line(r.String()))
		if command := r.Replay(dir); command != "" {
			fmt.Fprintf(&b, "\n  %s", command)
		}
	}
	return b.String()
}
