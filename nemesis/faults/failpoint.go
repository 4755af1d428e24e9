package faults

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/failpoints"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// failpointKind makes a server wait, fail or end at a point of its own code, each time that it
// reaches the point. So that a server reaches a point of its sync with the leader, it loses its
// leader once, as the fault begins.
func failpointKind() fault.Kind {
	var points, actions []string
	for _, p := range failpoints.Points() {
		points = append(points, p.Name)
	}
	for _, a := range failpoints.Actions() {
		actions = append(actions, string(a))
	}
	return fault.Kind{
		Name: failpointFault, Description: "a server waits, fails or ends at a point of its own code", Needs: fault.NeedsFailpoints, Weight: 1, Server: true,
		// Long enough for a session to expire meanwhile, which one of the points needs. A JVM
		// needs a second to load its first rules.
		Span:   fault.Timeouts(1.2, 2.2),
		Params: []fault.Param{fault.Choice("point", points...), fault.Choice("action", actions...), fault.Duration("delay", time.Millisecond)},
		Together: func(params map[string]string) error {
			if params["delay"] != "" && params["action"] != string(failpoints.Delay) {
				return errors.New("delay is set: want action delay, which the schedule must say too")
			}
			return nil
		},
		Make: makeFailpoint,
	}
}

const failpointFault = "failpoint"

func makeFailpoint(s fault.Scene) (fault.Fault, error) {
	jvms, ok := s.Ensemble().(ensemble.Failpoints)
	if !ok || !jvms.HasFailpoints() {
		return fault.Fault{}, fmt.Errorf("fault %s needs %s, which this ensemble (%s) does not give", failpointFault, fault.NeedsFailpoints, s.Ensemble().Kind())
	}
	f := fault.Fault{Name: failpointFault}
	fp := drawFailpoint(s, &f)
	id, err := failpointServer(s, fp.Point)
	if err != nil {
		return fault.Fault{}, err
	}
	arm := &arming{failpoint: fp, jvms: jvms, id: id, leader: s.Leader, printed: math.MaxInt}
	f, err = s.OnServers(f, []int{id}, func(ctx context.Context, p fault.Servers) error { return arm.start(ctx) })
	if err != nil {
		return fault.Fault{}, err
	}
	arm.processes = s.Ensemble().(ensemble.Processes) // or OnServers had returned an error
	back := f.Stop
	f.Stop = func(ctx context.Context) error {
		// A thread may have reached the point as the rules were removed: its output is
		// counted once the server serves.
		return errors.Join(arm.stop(ctx), back(ctx), arm.count(ctx))
	}
	f.Came = arm.came
	return f, nil
}

// drawFailpoint draws the point and the action. A delay is long at a point that a server reaches
// seldom, and short at a point that it reaches with every transaction.
func drawFailpoint(s fault.Scene, f *fault.Fault) failpoints.Failpoint {
	points := failpoints.Points()
	name := s.Set(f, "point", points[s.Rand.IntN(len(points))].Name)
	var fp failpoints.Failpoint
	fp.Point = points[slices.IndexFunc(points, func(p failpoints.Point) bool { return p.Name == name })] // checked with the schedule
	actions := fp.Point.Drawn()
	action, share := actions[s.Rand.IntN(len(actions))], s.Rand.Float64()
	fp.Action = failpoints.Action(s.Set(f, "action", string(action)))
	if fp.Action == failpoints.Delay {
		least, most := s.SessionTimeout()/4, s.SessionTimeout()
		if fp.Point.Often {
			least, most = 10*time.Millisecond, min(100*time.Millisecond, s.SessionTimeout()/8)
		}
		fp.Delay = s.SetDuration(f, "delay", (least + time.Duration(share*float64(most-least))).Round(time.Millisecond))
	}
	return fp
}

// failpointServer returns a server that reaches the point.
func failpointServer(s fault.Scene, p failpoints.Point) (int, error) {
	switch p.Role {
	case failpoints.Learner:
		return s.Follower()
	case failpoints.Leader:
		id, err := s.Server()
		if err == nil && s.Pick.Server != "" && id != s.Leader {
			return 0, fmt.Errorf("server is %s: the leader alone comes to %s", s.Pick.Server, p.Name)
		}
		return s.Leader, err
	}
	return s.Server()
}

// arming is a failpoint in force in one server.
type arming struct {
	failpoint  failpoints.Failpoint
	jvms       ensemble.Failpoints
	processes  ensemble.Processes
	id, leader int

	loaded  []loaded
	printed int // bytes of the server's output when the fault started; MaxInt before that
	reached int
}

// loaded has rules that were put in force in a server.
type loaded struct {
	server int
	rules  []string
}

func (a *arming) start(ctx context.Context) error {
	output, err := a.processes.Output(ctx, a.id)
	if err != nil {
		return err
	}
	a.printed = len(output)
	rules := []string{a.failpoint.Script()}
	if a.failpoint.Point.Snapshot {
		if err := a.load(ctx, a.leader, failpoints.SendSnapshots()); err != nil {
			return err
		}
	}
	if a.failpoint.Point.Role == failpoints.Learner {
		rules = append(rules, failpoints.Rejoin(time.Now().UnixNano()))
	}
	return a.load(ctx, a.id, rules...)
}

func (a *arming) load(ctx context.Context, id int, rules ...string) error {
	a.loaded = append(a.loaded, loaded{id, rules})
	return a.jvms.Agent(id).Load(ctx, rules...)
}

// stop removes the rules from the servers that have them.
func (a *arming) stop(ctx context.Context) error {
	var errs []error
	for _, l := range slices.Backward(a.loaded) {
		if err := a.unload(ctx, l); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", fault.ServerName(l.server), err))
		}
	}
	return errors.Join(errs...)
}

// count counts how often the server reached the failpoint.
func (a *arming) count(ctx context.Context) error {
	output, err := a.processes.Output(ctx, a.id)
	if err == nil {
		a.reached = failpoints.Reached(output[min(a.printed, len(output)):], a.failpoint.Point.Name)
	}
	return err
}

// unload removes rules from a server. A server that has ended has none; it may end while unload
// asks it. A server that does not answer is started again.
func (a *arming) unload(ctx context.Context, l loaded) error {
	patient, cancel := context.WithTimeout(ctx, unloadWithin)
	defer cancel()
	for {
		err := a.jvms.Agent(l.server).Unload(patient, l.rules...)
		switch {
		case err == nil, errors.Is(err, failpoints.ErrRefused):
			return err
		case !a.processes.Running(l.server):
			return nil
		case !wait.For(patient, 20*time.Millisecond):
			return a.processes.Restart(ctx, l.server)
		}
	}
}

// unloadWithin bounds the time for a server to remove its rules. It needs a tenth of a second.
const unloadWithin = 5 * time.Second

// came returns the results for the record of the fault's end.
func (a *arming) came() map[string]string {
	return map[string]string{histories.Reached: strconv.Itoa(a.reached)}
}
