package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/inprocess"
	"github.com/zkverify/zkverify/workload/internal/servers"
	"github.com/zkverify/zkverify/workload/lock"
)

// Deletes and watch removals are asynchronous, and so is the end of
// goroutines: the census looks again until nothing is left, but not for ever. The nodes of a client
// that crashed as the faults ended are there for a session timeout more.
const (
	settleNodes = 2 * time.Second

	readLogsWithin = 10 * time.Second // of servers in containers, whose logs are copied
)

// countOnServers counts the nodes and watches that idle clients have left on the servers, and
// compares the servers' trees. diverged counts, for each server, the times that it had found
// its own tree wrong before the run. Watches count only if the locks are settled: that removes
// the watches that abandoned waits may leave.
func (r *run) countOnServers(diverged servers.Divergences, settled bool) {
	c := &r.result.Census
	if err := r.countNodes(r.Life, c); err != nil {
		r.warn("not all nodes and watches could be counted: %v", err)
	}
	if !settled {
		c.Watched, c.Watches = nil, 0
	}
	r.countKept(r.Life, c)
	var err error
	if c.Disagreements, err = servers.Compare(r.Life, r.cfg.Ensemble.Servers(), r.cfg.Auth, r.Observer.Root); err != nil {
		r.warn("not all servers could be compared: %v", err)
	}
	if _, c.Diverged, err = r.zxids.DivergedServers(r.Life, r.cfg.Ensemble, r.Journal.Elapsed(), diverged); err != nil {
		r.warn("not all servers' output could be read: %v", err)
	}
	logs, how, err := r.zxids.DivergedLogs(r.Life, r.cfg.Ensemble)
	if err != nil {
		r.warn("the servers' logs could not be compared: %v", err)
	}
	if how != "" {
		r.warn("%s", how)
	}
	c.Diverged = append(c.Diverged, logs...)
}

// readService reads from the servers' logs what they did with locks and sessions. All clients
// are closed.
func (r *run) readService() {
	ctx, cancel := context.WithTimeout(context.Background(), readLogsWithin) // also after an interrupt
	defer cancel()
	var err error
	r.result.Service, err = servers.Service(ctx, r.cfg.Ensemble, r.Observer.LockRoot(), r.Observer.Presence(), r.clock.Again(r.Journal.Elapsed()))
	if err != nil {
		r.warn("what the servers did could not be read from their logs: %v", err)
	}
}

// countNodes counts the contender nodes and watches that are left under the locks. The clients
// are idle, but connected.
func (r *run) countNodes(ctx context.Context, c *histories.Census) (err error) {
	root := r.Observer.LockRoot()
	wait.Until(ctx, r.cfg.SessionTimeout+settleNodes, func() bool {
		var nodesErr, watchesErr error
		c.Contenders, nodesErr = r.Observer.Ephemerals(root)
		c.Watched, watchesErr = watched(ctx, r.cfg.Ensemble, root)
		c.Watches = len(c.Watched)
		c.Uncounted = uncounted(nodesErr, watchesErr)
		err = errors.Join(nodesErr, watchesErr)
		if err != nil {
			return false
		}
		return len(c.Contenders)+c.Watches == 0
	})
	return err
}

// uncounted says why contender nodes or watches could not be counted, nil if they were.
func uncounted(nodes, watches error) map[string]string {
	if nodes == nil && watches == nil {
		return nil
	}
	why := make(map[string]string)
	if nodes != nil {
		why["contender node"] = nodes.Error()
	}
	if watches != nil {
		why["watch"] = watches.Error()
	}
	return why
}

// watched lists the paths under root that have watches on the servers of e, once for each
// session that watches.
func watched(ctx context.Context, e ensemble.Ensemble, root string) (paths []string, err error) {
	for _, s := range e.Servers() {
		text, err := ensemble.Four(ctx, s, "wchp")
		if err != nil {
			return nil, err
		}
		if strings.Contains(text, "not in the whitelist") {
			return nil, fmt.Errorf("%s does not allow wchp", s.Addr)
		}
		paths = append(paths, watchedPaths(text, root)...)
	}
	slices.Sort(paths)
	return paths, nil
}

// watchedPaths reads wchp: a line for each path, and below it an indented line
// for each session that watches it.
func watchedPaths(wchp, root string) (paths []string) {
	path := ""
	for line := range strings.Lines(wchp) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "/"):
			path = ""
			if line == root || strings.HasPrefix(line, root+"/") {
				path = line
			}
		case path != "" && strings.TrimSpace(line) != "":
			paths = append(paths, path)
		}
	}
	return paths
}

// judgeLateness records how late notifications of losses may have been and when workers were
// silent, and warns if the notifications are too late to blame the lock.
func (r *run) judgeLateness(c *histories.Census) {
	if r.Workers == nil {
		return
	}
	late := r.Workers.Lateness()
	c.Late = late.Worst
	slack := histories.Slack(r.cfg.SessionTimeout)
	if late.Worst > slack {
		r.warn("a line of a worker was under way for %v, and no more than %v is allowed for: this machine is too busy for a violation to be held against the lock", late.Worst.Round(time.Millisecond), slack)
	}
	elapsed := r.Journal.Elapsed()
	for _, s := range late.Silences {
		c.Silences = append(c.Silences, histories.Silence{Worker: s.Worker, From: max(0, elapsed-time.Since(s.From)), To: max(0, elapsed-time.Since(s.To))})
	}
	if n := len(late.Silences); n > 0 {
		r.warn("worker processes were silent for more than %v, though they were asked whether they run, %s, for %v at most: something other than the run stopped them, or this machine is too busy", slack, words.Times(n), late.Silent.Round(time.Millisecond))
	}
}

// countGoroutines lists the goroutines that run the target's code and did not
// exist before the run. Its clients are closed.
func (r *run) countGoroutines(ctx context.Context, c *histories.Census) {
	c.Goroutines = append(inprocess.GoroutinesLeft(ctx, r.before, []lock.Target{r.cfg.Target}), r.stacks...)
}

// countKept counts the goroutines of idle clients that are still open, and compares them with
// the number that as many clients had when they were opened.
func (r *run) countKept(ctx context.Context, c *histories.Census) {
	open := 0
	apps := client.ApplicationsOf(r.clients)
	for _, a := range apps {
		if target, _ := a.Current(); target != nil {
			open++
		}
	}
	if r.Workers != nil || open == 0 || open != len(apps) {
		return
	}
	c.Clients = open
	c.Kept = max(0, inprocess.GoroutinesKept(ctx, r.before, []lock.Target{r.cfg.Target}, r.idle+open)-r.idle)
}

// countConnects records how often clients have tried to connect. The attempts counted in a
// worker process that was killed are not known.
func (r *run) countConnects(c *histories.Census) {
	for _, a := range client.ApplicationsOf(r.clients) {
		for _, connected := range a.Connects() {
			if connected.Attempts > 0 {
				connected.Client = a.First()
				c.Connects = append(c.Connects, connected)
			}
		}
	}
}
