package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/internal/words"
)

// ensembleCmd starts and stops servers. ZooKeeper servers of zkverify never outlive
// the process that started them, so up leaves a keeper process in the background:
// zkverify ensemble keep. down and status find it by its state file.
type ensembleCmd struct {
	Up     upCmd     `cmd:"" help:"Start ZooKeeper servers in the background."`
	Down   downCmd   `cmd:"" help:"Stop them."`
	Status statusCmd `cmd:"" help:"Say how they are."`
	Keep   keepCmd   `cmd:"" hidden:"" help:"Run them until terminated; what up leaves in the background."`
}

func (ensembleCmd) Help() string {
	return words.WithExamples("",
		"zkverify ensemble up")
}

// keeper is the content of the state file: the keeper process and its servers.
type keeper struct {
	PID     int               `json:"pid"`
	Kind    string            `json:"ensemble"` // "local" or "simulated"
	Version string            `json:"zookeeper"`
	Servers []ensemble.Server `json:"servers"`
	Dir     string            `json:"dir"`
}

// name returns the name of the servers' kind in messages.
func (k keeper) name() string {
	if k.Kind == "simulated" {
		return "simulated ZooKeeper"
	}
	return "ZooKeeper"
}

// stateDir returns the folder of the state file and the logs, and makes it. Each user has one.
func stateDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = filepath.Join(os.TempDir(), fmt.Sprintf("zkverify-%d", os.Getuid()))
	}
	dir = filepath.Join(dir, "zkverify", "ensemble")
	return dir, os.MkdirAll(dir, 0o700)
}

// running returns the running keeper and the path of its state file, or errNoEnsemble.
func running() (keeper, string, error) {
	var k keeper
	dir, err := stateDir()
	if err != nil {
		return k, "", err
	}
	file := filepath.Join(dir, "keeper.json")
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return k, file, errNoEnsemble
	}
	if err == nil {
		err = json.Unmarshal(text, &k)
	}
	if err != nil {
		return k, file, fmt.Errorf("%s: %w", file, err)
	}
	if syscall.Kill(k.PID, 0) != nil || !keeps(k) {
		return k, file, errNoEnsemble // the keeper was killed, and the servers with it
	}
	return k, file, nil
}

// keeps reports whether any of the keeper's servers answers. A process with the keeper's
// id is no proof: the id may have been reused.
func keeps(k keeper) bool {
	for _, s := range k.Servers {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_, err := ensemble.Four(ctx, s, "ruok")
		cancel()
		if err == nil {
			return true
		}
	}
	return false
}

type upCmd struct {
	keeperFlags `embed:""`
}

// keeperFlags are the flags that up passes on to keep.
type keeperFlags struct {
	Ensemble    string        `enum:"local,simulated" default:"local" help:"local: child processes; simulated: in the background process itself, without Java." placeholder:"KIND"`
	Voters      int           `default:"3" help:"How many servers that vote, 3 or 5."`
	Observers   int           `default:"0" help:"How many ZooKeeper observers beside them, with --ensemble local; at most 4."`
	ClientPorts []int         `help:"Client ports, one for each server; default those from 2181 on." placeholder:"PORT"`
	Tick        time.Duration `default:"200ms" help:"tickTime."`
	SyncLimit   int           `default:"5" help:"syncLimit, in ticks."`
	Java        string        `help:"The java program; default $$JAVA_HOME/bin/java, then the PATH." placeholder:"FILE"`
	ZooKeeper   string        `name:"zookeeper" help:"ZooKeeper's version, such as 3.9.6 (on Debian sh ensemble/install.sh --zookeeper 3.9.6 installs it), its jar, or the folder of an Apache release; default $$ZKVERIFY_ZOOKEEPER, then $$ZOOKEEPER_HOME, then the system's package. Of simulated servers: ${simulated}." placeholder:"VERSION"`
}

// ports returns the client ports of the servers.
func (k *keeperFlags) ports() []int {
	if len(k.ClientPorts) > 0 {
		return k.ClientPorts
	}
	var ports []int
	for i := range max(0, k.Voters+k.Observers) {
		ports = append(ports, 2181+i)
	}
	return ports
}

func (k *keeperFlags) servers() serversFlags {
	return serversFlags{
		SessionTimeout: 10 * time.Second,
		ensembleFlags: ensembleFlags{
			Ensemble: k.Ensemble, Voters: k.Voters, Observers: k.Observers, ClientPorts: k.ports(),
			Tick: k.Tick, SyncLimit: k.SyncLimit, hereFlags: hereFlags{Java: k.Java}, ZooKeeper: k.ZooKeeper,
			unlinked: true, // they meet no faults, and listen on loopback alone
		},
	}
}

// Validate is called by kong.
func (k *keeperFlags) Validate() error {
	f := k.servers()
	return f.validate()
}

func (upCmd) Help() string {
	return words.WithExamples("",
		"zkverify ensemble up --client-ports 12181,12182,12183")
}

func (u *upCmd) Run(ctx context.Context, con *console) error {
	if k, _, err := running(); err == nil {
		return usage("an ensemble is running already: %s", addresses(k.Servers))
	} else if !errors.Is(err, errNoEnsemble) {
		return err
	}
	dir, err := stateDir()
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(dir, "keeper.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ports := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(u.ports())), ","), "[]")
	cmd := exec.Command(self, "ensemble", "keep", "--ensemble", u.Ensemble, "--client-ports", ports,
		"--voters", fmt.Sprint(u.Voters), "--observers", fmt.Sprint(u.Observers), "--tick", u.Tick.String(),
		"--sync-limit", fmt.Sprint(u.SyncLimit), "--java", u.Java, "--zookeeper", u.ZooKeeper)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // so that a Ctrl-C here does not reach it
	if err := cmd.Start(); err != nil {
		return err
	}
	// The keeper writes the state file when it is ready, and exits when it fails.
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // ends with the keeper or with this process
	for {
		select {
		case err := <-ended:
			text, _ := os.ReadFile(log.Name())
			con.say("%s", strings.TrimSpace(string(text)))
			var exit *exec.ExitError
			if errors.As(err, &exit) && exit.ExitCode() == exitUsage {
				return usage("the servers did not start")
			}
			return fmt.Errorf("the servers did not start: %w", errNoEnsemble)
		case <-ctx.Done():
			cmd.Process.Signal(syscall.SIGTERM)
			<-ended
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
		if k, _, err := running(); err == nil && k.PID == cmd.Process.Pid {
			fmt.Fprintf(con.out, "%s %s serves at %s\nlogs: %s\nstop it with zkverify ensemble down\n", k.name(), k.Version, addresses(k.Servers), k.Dir)
			return nil
		}
	}
}

func addresses(servers []ensemble.Server) string {
	var a []string
	for _, s := range servers {
		a = append(a, s.Addr)
	}
	return strings.Join(a, ",")
}

type downCmd struct{}

func (downCmd) Help() string {
	return words.WithExamples("",
		"zkverify ensemble down")
}

func (downCmd) Run(ctx context.Context, con *console) error {
	k, file, err := running()
	if err != nil {
		return err
	}
	if err := syscall.Kill(k.PID, syscall.SIGTERM); err != nil {
		return err
	}
	for {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintln(con.out, "stopped")
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

type statusCmd struct{}

func (statusCmd) Help() string {
	return words.WithExamples("",
		"zkverify ensemble status")
}

func (statusCmd) Run(ctx context.Context, con *console) error {
	k, _, err := running()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(con.out, 0, 0, 3, ' ', 0)
	for _, s := range k.Servers {
		mode := "not serving"
		if status, _, err := ensemble.AskStatus(ctx, s); err == nil && status.Serving() {
			mode = status.Mode
		}
		fmt.Fprintf(w, "server %d\t%s\t%s\n", s.ID, s.Addr, mode)
	}
	return w.Flush()
}

type keepCmd struct {
	keeperFlags `embed:""`
}

func (k *keepCmd) Run(ctx context.Context, con *console) (err error) {
	dir, err := stateDir()
	if err != nil {
		return err
	}
	flags := k.servers()
	env, err := flags.open(ctx, con, dir, "")
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "keeper.json")
	defer func() { err = errors.Join(err, env.Close(), os.Remove(file)) }()
	text, err := json.Marshal(keeper{
		PID: os.Getpid(), Kind: env.ensemble.Kind(), Version: env.ensemble.Version(), Servers: env.ensemble.Servers(), Dir: dir,
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		return err
	}
	if err := os.Rename(file+".new", file); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
