package fault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/zkverify/zkverify/internal/wait"

	"golang.org/x/sync/errgroup"

	"github.com/zkverify/zkverify/ensemble"
)

// serverHealWithin bounds the time for a server's fault to begin, and to heal: a
// process has to start and to catch up, on a busy machine.
const serverHealWithin = 40 * time.Second

// serverPoll is the interval at which a server that comes back is asked whether it serves.
const serverPoll = 50 * time.Millisecond

// ServersFree returns ErrNobody while another fault of servers is in force.
func (s Scene) ServersFree() error {
	if s.ServersBusy {
		return fmt.Errorf("%w: another fault of servers is in force", ErrNobody)
	}
	return nil
}

// Server picks the server to hit: the server that the schedule names, else any.
func (s Scene) Server() (int, error) {
	ids := s.Others()
	drawn := ids[s.Rand.IntN(len(ids))]
	if err := s.ServersFree(); err != nil {
		return 0, err
	}
	switch s.Pick.Server {
	case "":
		return drawn, nil
	case TheLeader:
		return s.Leader, nil
	case AFollower:
		followers := s.Voters(s.Leader)
		return followers[drawn%len(followers)], nil
	case AnObserver:
		observers := s.Others(s.Voters()...)
		if len(observers) == 0 {
			return 0, errors.New("there is no observer")
		}
		return observers[drawn%len(observers)], nil
	}
	id, _ := strconv.Atoi(string(s.Pick.Server))
	if !slices.Contains(ids, id) {
		return 0, fmt.Errorf("there is no server %d among %d", id, len(ids))
	}
	return id, nil
}

// Follower picks the server to hit among the followers. An observer is no follower.
func (s Scene) Follower() (int, error) {
	id, err := s.Server()
	if followers := s.Voters(s.Leader); err == nil && !slices.Contains(followers, id) {
		id = followers[0]
	}
	return id, err
}

// Voter picks the server to hit among the servers that vote.
func (s Scene) Voter() (int, error) {
	id, err := s.Server()
	if voters := s.Voters(); err == nil && !slices.Contains(voters, id) {
		id = voters[0]
	}
	return id, err
}

// Voters returns the servers that vote, except the given ones.
func (s Scene) Voters(but ...int) (ids []int) {
	for _, server := range s.Ensemble().Servers() {
		if !server.Observer && !slices.Contains(but, server.ID) {
			ids = append(ids, server.ID)
		}
	}
	return ids
}

// Others returns the servers except the given ones.
func (s Scene) Others(but ...int) (ids []int) {
	for _, server := range s.Ensemble().Servers() {
		if !slices.Contains(but, server.ID) {
			ids = append(ids, server.ID)
		}
	}
	return ids
}

// SetRole records the role of a server when it is hit.
func (s Scene) SetRole(f *Fault, id int) {
	if f.Params == nil {
		f.Params = make(map[string]string)
	}
	switch {
	case id == s.Leader:
		f.Params["role"] = string(TheLeader)
	case slices.Contains(s.Voters(), id):
		f.Params["role"] = string(AFollower)
	default:
		f.Params["role"] = string(AnObserver)
	}
}

// Servers are the processes of an ensemble.
type Servers struct {
	ensemble.Processes
	ensemble.Ensemble
}

// OnServers completes a fault of servers' processes. Every such fault heals in the same way:
// it resumes the processes that are paused, and restarts the servers that do not serve.
func (s Scene) OnServers(f Fault, ids []int, start func(context.Context, Servers) error) (Fault, error) {
	processes, ok := s.Ensemble().(ensemble.Processes)
	if !ok {
		return Fault{}, fmt.Errorf("fault %s needs %s, which this ensemble (%s) does not give", f.Name, NeedsProcesses, s.Ensemble().Kind())
	}
	p := Servers{processes, s.Ensemble()}
	f.Servers = ids
	for _, id := range ids {
		f.Targets = append(f.Targets, ServerName(id))
	}
	if len(ids) == 1 {
		s.SetRole(&f, ids[0])
	}
	f.HealWithin = serverHealWithin
	f.Start = func(ctx context.Context) error { return start(ctx, p) }
	f.Stop = func(ctx context.Context) error {
		return p.Each(ids, func(id int) error { return p.bringBack(ctx, id) })
	}
	return f, nil
}

// Each calls do for several servers at once: servers that were killed can serve only
// together.
func (p Servers) Each(ids []int, do func(id int) error) error {
	errs := make([]error, len(ids))
	var g errgroup.Group
	for i, id := range ids {
		g.Go(func() error {
			errs[i] = do(id)
			return nil
		})
	}
	_ = g.Wait() // all errors are in errs
	return errors.Join(errs...)
}

// backWithin is the time in which a server whose process runs must serve by itself.
const backWithin = 15 * time.Second

// bringBack returns when the server serves. It starts a server whose process has ended
// again. It first waits for a server whose process runs, paused or starting.
func (p Servers) bringBack(ctx context.Context, id int) error {
	if err := p.Resume(ctx, id); err != nil {
		return err
	}
	if p.Running(id) {
		patient, cancel := context.WithTimeout(ctx, backWithin)
		defer cancel()
		if p.serves(patient, id) {
			return nil
		}
	}
	return p.Restart(ctx, id)
}

// serves waits until the server serves. It reports false if ctx or the server's process
// ends first.
func (p Servers) serves(ctx context.Context, id int) bool {
	for _, s := range p.Servers() {
		if s.ID != id {
			continue
		}
		for p.Running(id) {
			bounded, cancel := context.WithTimeout(ctx, time.Second)
			status, _, err := ensemble.AskStatus(bounded, s)
			cancel()
			if err == nil && status.Serving() {
				return true
			}
			if !wait.For(ctx, serverPoll) {
				return false
			}
		}
	}
	return false
}

// ServerName returns the name of a server in histories.
func ServerName(id int) string { return fmt.Sprintf("server %d", id) }
