// Package conformance checks whether a worker process, in any language, does as
// docs/worker.md requires. It starts the worker anew for each step, provokes one
// reaction, and reports the expected and the actual one.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/child"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/internal/protocol"
	"github.com/zkverify/zkverify/workload/lock"
)

// Config configures a check. Command, Ensemble and Logs are required.
type Config struct {
	Command  []string          // starts the worker
	Ensemble ensemble.Ensemble // stays open
	Auth     ensemble.Credentials
	Logs     string // folder for the worker's standard error
	// Target is the lock to ask for if the worker hosts none of its own; default recipes.
	Target string
	// SessionTimeout is the timeout of the clients; default 4 s. The servers must allow it.
	SessionTimeout time.Duration
	// Patience is the time that an answer may take; default 10 s.
	Patience time.Duration
	// Steps names the steps to make after hello; default all.
	Steps []string
	// Told is called with each step as soon as it is over. It may be nil.
	Told func(Step)
}

// Step is one test of the worker.
type Step struct {
	Name  string        // "cancel"
	Does  string        // the required behavior, in a sentence
	Took  time.Duration // from the start of the process
	Wrong []Wrong       // the deviations in this step; empty if there is none
	// Missing is the reason why the step was not made. It is no fault of the worker.
	Missing string
}

// Wrong is one deviation of the worker.
type Wrong struct {
	Sent     string // the last command, "" if it does not matter
	Expected string
	Came     string
	Stderr   string // the end of the worker's standard error, if there is any
}

// OK reports whether the worker did nothing wrong.
func (s Step) OK() bool { return len(s.Wrong) == 0 }

// check is a check under way.
type check struct {
	Config
	spawner  *child.Spawner
	observer *lock.Connection // the check's own, to see the nodes on the servers
	root     string           // of all nodes that the check creates
	hosts    protocol.Hosts   // the lock that the worker hosts
	promises histories.Promises

	mu    sync.Mutex
	lines map[string]Wrong // wrong lines, the first of each kind
}

// Check checks a worker, step by step. It returns an error if the check could not be made:
// [workload.ErrNoEnsemble] if the servers fail, or the cause of ctx's end. The steps have the
// deviations of the worker. If the worker does not say hello there is no other step.
func Check(ctx context.Context, cfg Config) (steps []Step, err error) {
	c := &check{Config: cfg, spawner: child.NewSpawner(), lines: make(map[string]Wrong)}
	defer c.spawner.Close()
	if c.Target == "" {
		c.Target = "recipes"
	}
	if c.SessionTimeout == 0 {
		c.SessionTimeout = 4 * time.Second
	}
	if c.Patience == 0 {
		c.Patience = 10 * time.Second
	}
	if err := c.connect(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", workload.ErrNoEnsemble, err)
	}
	defer func() {
		c.remove(c.root)
		c.observer.Crash()
	}()
	tell := func(s Step) {
		steps = append(steps, s)
		if c.Told != nil {
			c.Told(s)
		}
	}
	hello := c.make(ctx, helloStep)
	if ctx.Err() == nil {
		tell(hello)
	}
	if ctx.Err() != nil {
		return steps, context.Cause(ctx)
	}
	if !hello.OK() {
		if lines := c.linesStep(); !lines.OK() {
			tell(lines)
		}
		return steps, nil
	}
	all, err := c.chosen()
	if err != nil {
		return steps, err
	}
	for _, s := range all {
		made := c.make(ctx, s)
		if ctx.Err() != nil {
			return steps, context.Cause(ctx) // half a step shows nothing
		}
		tell(made)
	}
	tell(c.linesStep())
	return steps, nil
}

// connect creates the root of the check, through a session of its own.
func (c *check) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	env := lock.Env{Dial: (&net.Dialer{}).DialContext, SessionTimeout: 20 * time.Second, Auth: c.Auth}
	for _, s := range c.Ensemble.Servers() {
		env.Servers = append(env.Servers, s.Addr)
	}
	var err error
	if c.observer, err = lock.Connect(ctx, env); err != nil {
		return err
	}
	node := ""
	for _, part := range strings.Split(strings.Trim(c.Ensemble.Root(), "/"), "/") {
		node += "/" + part
		if err := c.create(node); err != nil {
			c.observer.Crash()
			return fmt.Errorf("create %s: %w", node, err)
		}
	}
	if c.root, err = c.observer.Conn().Create(node+"/check-", nil, zk.FlagSequence, c.Auth.ACL()); err != nil {
		c.observer.Crash()
		return fmt.Errorf("create a node below %s: %w", node, err)
	}
	return nil
}

func (c *check) create(node string) error {
	if there, _, err := c.observer.Conn().Exists(node); err != nil || there {
		return err
	}
	_, err := c.observer.Conn().Create(node, nil, 0, c.Auth.ACL())
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

// remove deletes a node and all below it, as far as it can.
func (c *check) remove(node string) {
	if node == "" {
		return
	}
	children, _, _ := c.observer.Conn().Children(node)
	for _, child := range children {
		c.remove(path.Join(node, child))
	}
	_ = c.observer.Conn().Delete(node, -1)
}

// scenario is a step before it is made.
type scenario struct {
	name, does string
	play       func(*stage)
}

// gaveUp is the panic of a stage that cannot go on because the worker deviates.
type gaveUp struct{ Wrong }

// make makes a step with a process of its own.
func (c *check) make(ctx context.Context, s scenario) (made Step) {
	made = Step{Name: s.name, Does: s.does}
	begun := time.Now()
	defer func() { made.Took = time.Since(begun) }()
	log := filepath.Join(c.Logs, strings.NewReplacer(" ", "-", "/", "-", ":", "").Replace(s.name)+".log")
	p, err := start(c.spawner, c.Command, log, c.Patience, c.note)
	if err != nil {
		made.Wrong = []Wrong{{Expected: "the command starts", Came: err.Error()}}
		return made
	}
	defer func() {
		if err := p.end(); err != nil {
			made.Wrong = append(made.Wrong, Wrong{Expected: "it ends, and all that it has started", Came: err.Error()})
		}
	}()
	st := &stage{check: c, ctx: ctx, p: p, root: path.Join(c.root, strings.NewReplacer(" ", "-", ":", "").Replace(s.name))}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case gaveUp:
			r.Stderr = p.lastWords()
			made.Wrong = append(made.Wrong, r.Wrong)
		case error:
			if !errors.Is(r, errServers) {
				panic(r)
			}
			made.Missing = r.Error()
		default:
			panic(r)
		}
	}()
	st.prepare()
	s.play(st)
	return made
}

// errServers is wrapped by the panic of a stage whose own session has failed.
var errServers = errors.New("the servers did not answer the check")

// note keeps the first wrong line of a kind, of all steps.
func (c *check) note(kind, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.lines[kind]; !known {
		c.lines[kind] = Wrong{Expected: lineRules[kind], Came: text}
	}
}

// lineRules has the rules that every line must obey.
var lineRules = map[string]string{
	"length":    "lines of at most 1 MiB",
	"flow":      "no more lines than are asked for, and events; see docs/worker.md",
	"names":     fmt.Sprintf("names of at most %d bytes", protocol.MaxName),
	"JSON":      "one JSON object on each line of the standard output, and nothing else there",
	"fields":    "no field that docs/worker.md does not name",
	"at":        `"at" in every line: CLOCK_MONOTONIC in nanoseconds`,
	"clock":     `"at" of CLOCK_MONOTONIC in nanoseconds: between the start of the process and now`,
	"order":     `lines in the order of their times ("at")`,
	"first":     "hello as the first line, and once",
	"answer":    "one answer to each command, with its id",
	"reference": "events of commands, leases and clients that there have been",
	"event":     "an event that docs/worker.md names",
}

// linesStep reports the wrong lines of all steps.
func (c *check) linesStep() Step {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Step{Name: "lines", Does: "every line has its form, its time, and refers to what has been"}
	kinds := make([]string, 0, len(c.lines))
	for kind := range c.lines {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	for _, kind := range kinds {
		s.Wrong = append(s.Wrong, c.lines[kind])
	}
	return s
}
