// Bench prints the cost of the checker: make bench-checker.
//
// Each case is run by a process of its own, so that the peak memory of the process is that of
// the case. The histories are drawn with a fixed seed.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "bench: interrupted")
		os.Exit(130)
	}
	fmt.Fprintln(os.Stderr, "bench:", err)
	os.Exit(1)
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(progress)
	reps := flags.Int("reps", 3, "repetitions of each case, of which the median counts")
	quick := flags.Bool("quick", false, "for a first look, in two or three minutes: 1 repetition, and no history of more than a million operations")
	only := flags.String("case", "", "`numbers` of the cases to run, from 1, comma-separated; all by default")
	profile := flags.String("cpuprofile", "", "write the CPU profile of the one case to this `file`")
	one := flags.String("one", "", "run one case in this process and print its outcome as JSON: `number:file`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *one != "" {
		return runOne(ctx, *one, *profile, out)
	}
	var wanted []int
	for i := range cases {
		if *only == "" || slices.Contains(strings.Split(*only, ","), strconv.Itoa(i+1)) {
			wanted = append(wanted, i)
		}
	}
	if *quick {
		*reps = 1
	}
	if len(wanted) == 0 || *reps < 1 {
		return fmt.Errorf("nothing to run: there are cases 1 to %d", len(cases))
	}
	fmt.Fprintf(out, "%s, %s/%s, %d CPUs, median of %d\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), *reps)
	fmt.Fprintf(out, "| %-60s | %-38s | %8s | %6s | %s |\n", "case", "to reach", "time", "memory", "verdict")
	fmt.Fprintf(out, "| %s | %s | %s: | %s: | %s |\n", strings.Repeat("-", 60), strings.Repeat("-", 38), strings.Repeat("-", 7), strings.Repeat("-", 5), "---")
	for _, i := range wanted {
		if *quick && cases[i].operations > million {
			fmt.Fprintf(out, "| %-60s | %-38s | %8s | %6s | left out by -quick: it takes minutes |\n", cases[i].name, cases[i].target, "", "")
			continue
		}
		o, err := median(ctx, i, *reps, *profile, progress)
		if err != nil {
			return fmt.Errorf("%s: %w", cases[i].name, err)
		}
		fmt.Fprintf(out, "| %-60s | %-38s | %6.2f s | %3d MB | %s |\n", cases[i].name, cases[i].target, o.Took.Seconds(), o.Peak>>20, o.Says)
	}
	return nil
}

// median runs a case so many times, each in a process of its own.
func median(ctx context.Context, i, reps int, profile string, progress io.Writer) (outcome, error) {
	c := cases[i]
	file := ""
	if c.operations > 0 {
		dir, err := os.MkdirTemp("", "bench-checker")
		if err != nil {
			return outcome{}, err
		}
		defer os.RemoveAll(dir)
		fmt.Fprintf(progress, "writing a history of %d operations\n", c.operations)
		if file, err = writeFile(dir, c.operations, c.mixed); err != nil {
			return outcome{}, err
		}
	}
	exe, err := os.Executable()
	if err != nil {
		return outcome{}, err
	}
	var all []outcome
	for n := range reps {
		fmt.Fprintf(progress, "%s: %d of %d\n", c.name, n+1, reps)
		args := []string{"-one", fmt.Sprintf("%d:%s", i+1, file)}
		if profile != "" {
			args = append(args, "-cpuprofile", profile)
		}
		cmd := exec.CommandContext(ctx, exe, args...)
		var text bytes.Buffer
		cmd.Stdout, cmd.Stderr = &text, progress
		if err := cmd.Run(); err != nil {
			return outcome{}, err
		}
		var o outcome
		if err := json.Unmarshal(text.Bytes(), &o); err != nil {
			return outcome{}, err
		}
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b outcome) int { return int(a.Took - b.Took) })
	return all[len(all)/2], nil
}

func runOne(ctx context.Context, which, profile string, out io.Writer) error {
	number, file, _ := strings.Cut(which, ":")
	i, err := strconv.Atoi(number)
	if err != nil || i < 1 || i > len(cases) {
		return fmt.Errorf("there is no case %q", number)
	}
	// As zkverify sets it.
	debug.SetGCPercent(40)
	ballast := make([]byte, 128<<20)
	defer runtime.KeepAlive(ballast)
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer f.Close() //nolint:errcheck // a profile cut short says so itself
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	o, err := cases[i-1].run(ctx, file)
	if err != nil {
		return err
	}
	o.Took = o.Took.Round(time.Microsecond)
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return err
	}
	o.Peak = u.Maxrss << 10 // kilobytes, on Linux
	return json.NewEncoder(out).Encode(o)
}
