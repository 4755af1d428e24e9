// Zkverify tests ZooKeeper locks on a real ensemble under faults, and judges
// recorded histories. See the README, or zkverify --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/zkverify/zkverify/cmd/zkverify/internal/field"
	"github.com/zkverify/zkverify/cmd/zkverify/internal/locks"
	"github.com/zkverify/zkverify/cmd/zkverify/internal/trackrecord"
	"github.com/zkverify/zkverify/cmd/zkverify/internal/transactions"
	"github.com/zkverify/zkverify/ensemble/docker"
	"github.com/zkverify/zkverify/ensemble/simulated"
	"github.com/zkverify/zkverify/internal/seeded"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/campaign"
	"github.com/zkverify/zkverify/workload/targets"
)

// cli is the command line. The first help page groups the commands by purpose. Hidden commands
// that have a help text are those of the laboratory, which zkverify lab lists.
type cli struct {
	Run      runCmd               `cmd:"" group:"Test a lock:" help:"Drive a lock through faults on a real ensemble, and judge it."`
	Check    checkCmd             `cmd:"" group:"Test a lock:" help:"Judge recorded histories again, offline."`
	Explain  explainCmd           `cmd:"" group:"Test a lock:" help:"Tell the first violation of a history in plain words."`
	Report   reportCmd            `cmd:"" group:"Test a lock:" help:"Write a history as a page for a browser: verdicts, timeline, latencies."`
	Shrink   shrinkCmd            `cmd:"" group:"Test a lock:" help:"Write the smallest part of a history that still violates."`
	Replay   replayCmd            `cmd:"" group:"Test a lock:" help:"Run a recorded history again: same seed, same faults at the same times."`
	List     listCmd              `cmd:"" group:"Test a lock:" help:"List what can be named on the command line."`
	Nightly  nightlyCmds          `cmd:"" group:"Every night:" help:"Make many runs with many seeds, and keep what fails."`
	Sim      simCmd               `cmd:"" group:"Every night:" help:"Make many runs in virtual time, on simulated servers: a minute in about a second."`
	Locks    locks.Command        `cmd:"" group:"Operate locks:" help:"Show who holds the locks of your servers and who waits, and find what is wrong with them."`
	Ensemble ensembleCmd          `cmd:"" group:"More:" help:"Start and stop ZooKeeper servers to play with."`
	Lab      labCmd               `cmd:"" group:"More:" help:"List the commands that test zkverify and other locks, write histories and schedules, read servers' logs, print the manual, and complete the command line."`
	Field    field.Commands       `cmd:"" hidden:"" help:"Put every ZooKeeper lock that people run through the same faults, and write one table."`
	Track    trackrecord.Command  `cmd:"" hidden:"" name:"track-record" help:"Show which historical bugs of locks and servers the bench catches today."`
	Selftest selftestCmd          `cmd:"" hidden:"" help:"Run locks with known bugs, and see each of them caught."`
	Mutate   mutateCmd            `cmd:"" hidden:"" help:"Change the recipes' code at every place, and see which changes runs catch."`
	Txnlog   transactions.Command `cmd:"" hidden:"" help:"Print what a ZooKeeper server has logged, or compare the logs of servers."`
	Convert  convertCmd           `cmd:"" hidden:"" help:"Write a history in another format: JSON lines, Jepsen's EDN, or for Porcupine."`
	Schedule scheduleCmd          `cmd:"" hidden:"" help:"Write a schedule of faults as YAML: a drawn one, or that of a history."`
	Worker   workerCmd            `cmd:"" hidden:"" help:"Host clients for a run, which starts it with --workers; check a worker program, or make one."`
	Complete completionCmd        `cmd:"" hidden:"" name:"completion" help:"Make bash, zsh or fish complete the command line."`
	Man      manCmd               `cmd:"" hidden:"" help:"Print the manual page, with all commands and options."`
	About    versionCmd           `cmd:"" hidden:"" name:"version" help:"Print the version, the history format and the platform."`
	SimRun   simRunCmd            `cmd:"" hidden:""`
	TrialRun selftestRunCmd       `cmd:"" name:"selftest-run" hidden:""`

	HelpAll bool             `help:"Show help with all options of a command."`
	Version kong.VersionFlag `help:"Print the version and exit."`
}

func main() {
	if len(os.Args) == 2 { // before the program draws or allocates anything that is not part of the run
		switch os.Args[1] {
		case simRun:
			_ = simRunCmd{}.Run()
		case selftestRun:
			_ = selftestRunCmd{}.Run()
		}
	}
	if seeded.Exact() {
		runtime.GOMAXPROCS(runtime.NumCPU() + 64) // in a seeded runtime, a processor that waits for a program does nothing else
	}
	runtime.MemProfileRate = 0 // the profile is not used, and it grows through a night
	// A run shares its machine with three servers: memory matters more than the
	// little time that more frequent collections take.
	debug.SetGCPercent(40)
	// The ballast is never written to, so it takes no memory. But the collector
	// counts it, and so does not run all the time while the heap is small.
	ballast = make([]byte, 128<<20)
	defer runtime.KeepAlive(ballast)
	con := newConsole()
	con.instead = becomeMutants
	os.Exit(zkverify(os.Args[1:], con))
}

// zkverify runs one command and returns the exit status.
func zkverify(args []string, con *console) (status int) {
	con = con.behindDoors()
	exited := -1
	parser, err := newParser(new(cli), con, func(code int) { exited = code })
	if err != nil {
		con.print(fmt.Sprintf("zkverify: %v", err))
		return exitUnknown
	}
	if len(args) == 0 {
		args = []string{"--help"}
		defer func() { status = exitUsage }()
	}
	args, all := asHelp(args)
	if !all {
		hideRare(parser.Model.Node)
	}
	command, err := parser.Parse(args)
	if exited >= 0 {
		return exited // --help, --version
	}
	if err != nil {
		con.print(fmt.Sprintf("zkverify: %v", err))
		command := "zkverify"
		if bad := (*kong.ParseError)(nil); errors.As(err, &bad) && bad.Context.Selected() != nil {
			command = bad.Context.Selected().FullPath()
		}
		con.print(fmt.Sprintf("Try %s --help.", command))
		return exitUsage
	}
	// The first interrupt ends the command in good order, the second at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	command.BindTo(ctx, (*context.Context)(nil))
	err = command.Run()
	if errors.Is(err, targets.ErrNoMutants) && con.instead != nil {
		err = con.instead(err)
	}
	var said outcome
	if err != nil && !errors.As(err, &said) && err.Error() != "" {
		con.print(fmt.Sprintf("zkverify: %v", err))
	}
	return statusOf(err)
}

// mutantsProgram is the program beside this one that has the mutants, see package mutants.
const mutantsProgram = "zkverify-mutants"

// becomeMutants replaces this process by mutantsProgram, with the same command line. If that
// program is not there, it returns the error why.
func becomeMutants(why error) error {
	self, err := os.Executable()
	if err != nil {
		return why
	}
	program := filepath.Join(filepath.Dir(self), mutantsProgram)
	if !isFile(program) {
		return why
	}
	if err := sameVersion(program); err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", program, syscall.Exec(program, append([]string{program}, os.Args[1:]...), os.Environ()))
}

// asHelp turns the arguments "help COMMAND" into "COMMAND --help", and --help-all into --help. all
// reports whether the help is to show all options.
func asHelp(args []string) (_ []string, all bool) {
	if len(args) > 0 && args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	if i := slices.Index(args, "--help-all"); i >= 0 && !slices.Contains(args[:i], "--") {
		return append(slices.Delete(slices.Clone(args), i, i+1), "--help"), true
	}
	return args, false
}

// hideRare leaves the options with the tag rare out of the help.
func hideRare(node *kong.Node) {
	for _, f := range node.Flags {
		f.Hidden = f.Hidden || f.Tag.Has("rare")
	}
	for _, child := range node.Children {
		hideRare(child)
	}
}

// printHelp prints the help of a command, or of its default subcommand if it has one.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	root, node := ctx.Model.Node, ctx.Selected()
	hidden := 0
	switch {
	case node == nil:
		options.NoExpandSubcommands = true
		root.Children = slices.DeleteFunc(slices.Clone(root.Children), func(n *kong.Node) bool { return n.Hidden })
	case node.Name == "lab":
		node.Children = laboratory(root)
	case node.DefaultCmd != nil:
		ctx.Path = append(ctx.Path, &kong.Path{Parent: node, Command: node.DefaultCmd, Flags: node.DefaultCmd.Flags})
		node = node.DefaultCmd
	}
	if node != nil {
		for _, f := range node.Flags {
			if f.Hidden && f.Tag.Has("rare") {
				hidden++
			}
		}
	}
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	if hidden > 0 {
		fmt.Fprintf(ctx.Stdout, "\nThere are %s more: %s --help-all\n", words.Count(hidden, "option"), node.FullPath())
	}
	return nil
}

// laboratory returns the commands that are not on the first page, and shows them in the help.
func laboratory(root *kong.Node) (all []*kong.Node) {
	for _, n := range root.Children {
		if n.Hidden && n.Help != "" {
			n.Hidden = false
			all = append(all, n)
		}
	}
	return all
}

// labCmd lists the commands that are not on the first page.
type labCmd struct{}

func (labCmd) Help() string {
	return words.WithExamples("", "zkverify lab")
}

func (labCmd) Run(ctx *kong.Context) error { return ctx.PrintUsage(false) }

// newParser returns the parser of the command line.
func newParser(c *cli, con *console, exit func(int)) (*kong.Kong, error) {
	return kong.New(c,
		kong.Name("zkverify"),
		kong.Description("How do you know that your lock works? zkverify drives ZooKeeper locks through partitions, latency and session expiries on three real servers, records what happened, and judges it.\n\nExit status: 0 every guarantee that was put to the test holds, 1 one is violated, 2 unknown, not exercised or not judged, 64 bad usage or input, 69 no ensemble."),
		kong.Writers(con.out, con.err),
		kong.Exit(exit),
		helpVars(),
		kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, ValueFormatter: helpOfFlag}),
		kong.Help(printHelp),
		kong.Bind(con, con.forLocks(), campaign.Version(versionText())),
		kong.BindTo(con.out, (*io.Writer)(nil)),
	)
}

// helpVars returns the variables of the flags' help texts.
func helpVars() kong.Vars {
	return kong.Vars{"version": versionText(), "image": docker.DefaultImage, "simulated": strings.Join(simulated.Versions(), " or "), "languages": languageNames()}
}
