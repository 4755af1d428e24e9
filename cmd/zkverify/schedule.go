package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/nemesis/faults"
)

// scheduleCmd writes a schedule.
type scheduleCmd struct {
	From string `arg:"" optional:"" name:"dir-or-file" help:"Folder of a run, or a history file, whose faults are wanted. Without it a schedule is drawn."`

	Duration       time.Duration `default:"60s" help:"How long faults come and go."`
	SessionTimeout time.Duration `default:"2s" help:"Session timeout of the clients, the measure of how long faults last."`
	Faults         []string      `default:"all" help:"Faults, comma-separated, or all; see zkverify list faults." placeholder:"NAME"`
	Clients        int           `default:"10" help:"Clients: four of ten are hit at once."`
	Ensemble       string        `enum:"local,docker,external,simulated" default:"local" help:"local, docker, simulated, or external: without faults of servers." placeholder:"KIND"`
	Workers        bool          `help:"With faults of worker processes, as of zkverify run --workers."`
	Upgrade        bool          `help:"With the fault rolling-upgrade of local servers, as of zkverify run --upgrade-to."`
	Reconfig       bool          `help:"With the fault reconfig of local servers and without faults of the links between them, as of zkverify run --reconfig."`
	Seed           *int64        `help:"Seed of the draw; default drawn, and written down."`

	Bounds readFlags `embed:"" group:"What it may cost to read a history:"`
}

// able stands for local servers that can do what the options say.
type able struct {
	*ensemble.Local
	upgrade, reconfig bool
}

// CanUpgrade returns the value of --upgrade.
func (a able) CanUpgrade() bool { return a.upgrade }

// CanReconfigure returns the value of --reconfig.
func (a able) CanReconfigure() bool { return a.reconfig }

func (scheduleCmd) Help() string {
	return words.WithExamples("What zkverify run --seed 7 draws by itself is what zkverify schedule --seed 7 writes, with the same duration, session timeout and faults. docs/schedules.md has the format.",
		"zkverify schedule --seed 7 --duration 30s > faults.yaml",
		"zkverify schedule runs/20260102-150405-recipes > faults.yaml")
}

// Validate is called by kong.
func (s *scheduleCmd) Validate() error {
	if s.Duration <= 0 || s.SessionTimeout <= 0 {
		return fmt.Errorf("--duration and --session-timeout must be positive, not %v and %v", s.Duration, s.SessionTimeout)
	}
	if (s.Upgrade || s.Reconfig) && s.Ensemble != "local" {
		return fmt.Errorf("--upgrade and --reconfig go with --ensemble local, not %s", s.Ensemble)
	}
	if s.Clients < 1 {
		return fmt.Errorf("--clients must be at least 1, not %d", s.Clients)
	}
	return nil
}

func (s *scheduleCmd) Run(ctx context.Context, con *console) error {
	if s.From != "" {
		return s.Bounds.within(ctx, func(ctx context.Context) error { return s.recorded(ctx, con) })
	}
	servers := ensembles[s.Ensemble]
	if s.Upgrade || s.Reconfig {
		servers = able{upgrade: s.Upgrade, reconfig: s.Reconfig}
	}
	kinds, err := faults.List().Select(s.Faults, servers, s.Workers)
	if err != nil {
		return usageError{err}
	}
	seed := nemesis.DrawSeed()
	if s.Seed != nil {
		seed = *s.Seed
	}
	drawn := nemesis.Draw(nemesis.Plan{Seed: seed, Duration: s.Duration, SessionTimeout: s.SessionTimeout, Kinds: kinds, Clients: s.Clients})
	return drawn.WriteYAML(con.out, fmt.Sprintf("drawn from seed %d for %v, sessions of %v, %s, faults %s", seed, s.Duration, s.SessionTimeout, words.Count(s.Clients, "client"), strings.Join(s.Faults, ",")))
}

// recorded writes the schedule with which a history was recorded.
func (s *scheduleCmd) recorded(ctx context.Context, con *console) error {
	file, h, err := s.Bounds.readHistory(ctx, s.From)
	if err != nil {
		return err
	}
	schedule, err := nemesis.FromHistory(h, faults.List())
	if err != nil {
		return usage("%s: %w", file, err)
	}
	return schedule.WriteYAML(con.out, fmt.Sprintf("of %s %s, seed %d, %s", h.Header.Target, h.Header.Recipe, h.Header.Seed, h.Header.Started.Format(time.RFC3339)))
}
