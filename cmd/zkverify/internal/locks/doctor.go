package locks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/recipes/inspect"
)

// doctorCmd looks for problems with locks.
type doctorCmd struct {
	Paths   []string          `arg:"" name:"path" help:"Examine the locks at and below it."`
	Long    time.Duration     `default:"5m" help:"A holder whose node is older, while others wait, is a finding."`
	Size    map[string]string `help:"The size of a semaphore, which its nodes do not tell: a number, or the path of its shared count; default not checked." placeholder:"PATH=SIZE"`
	Observe time.Duration     `default:"3s" help:"What is found is looked at again after this time, and is a finding if it is still so."`
	Packet  int               `name:"jute-max-buffer" default:"1048575" help:"The servers' jute.maxbuffer, in bytes: what has used half of it is a finding." placeholder:"BYTES"`
	Unused  time.Duration     `default:"0s" help:"Nodes without data that are older and never had a child are findings: acquires that gave up may have left them. 0: not looked for." placeholder:"AGE"`
	Remove  bool              `help:"Delete what --unused finds."`
	JSON    bool              `name:"json" help:"Print JSON."`

	Servers serversFlags `embed:""`
}

func (doctorCmd) Help() string {
	return words.WithExamples("Exit status 0 if there is nothing to find, 1 if there is, 2 if nothing was found but something could not be read.",
		"zkverify locks doctor /locks",
		"zkverify locks doctor --long 30s --size /locks/pool=8 /locks",
		"zkverify locks doctor --unused 1h --remove /locks")
}

// Validate is called by kong.
func (c *doctorCmd) Validate() error {
	switch {
	case c.Long <= 0:
		return fmt.Errorf("--long must be positive, not %v", c.Long)
	case c.Observe < 0:
		return fmt.Errorf("--observe must not be negative, not %v", c.Observe)
	case c.Packet < 1:
		return fmt.Errorf("--jute-max-buffer must be positive, not %d", c.Packet)
	case c.Unused < 0:
		return fmt.Errorf("--unused must not be negative, not %v", c.Unused)
	case c.Remove && c.Unused == 0:
		return errors.New("--remove needs --unused")
	}
	for lock, size := range c.Size {
		if n, err := strconv.Atoi(size); !strings.HasPrefix(lock, "/") || !strings.HasPrefix(size, "/") && (err != nil || n < 1) {
			return fmt.Errorf("--size: %s=%s is not a path and a number or another path", lock, size)
		}
	}
	return nil
}

// Run is called by kong.
func (c *doctorCmd) Run(ctx context.Context, con *Console) error {
	s, err := c.Servers.open(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	checks := inspect.Checks{Long: c.Long, MaxPacket: c.Packet}
	if checks.Sizes, err = c.sizes(ctx, s); err != nil {
		return err
	}
	first, err := inspect.Find(ctx, s, c.Paths)
	if err != nil {
		return explain(ctx, err)
	}
	checks.Sessions, checks.Now = s.sessions(), con.now()
	findings := inspect.Diagnose(first.Locks, checks)
	if c.Unused > 0 {
		findings = append(findings, inspect.Unused(first.Empty, checks.Now, c.Unused)...)
	}
	if len(findings) > 0 {
		if findings, err = c.again(ctx, s, con, checks, findings); err != nil {
			return err
		}
	}
	if err := c.write(con, first, checks.Sessions, findings); err != nil {
		return err
	}
	if c.Remove {
		if err := c.remove(ctx, s, con, findings); err != nil {
			return err
		}
	}
	unread := unread(con, first)
	if len(findings) > 0 {
		return &Exit{Status: exitFound}
	}
	return unread
}

// sizes returns the semaphore sizes of --size, by path.
func (c *doctorCmd) sizes(ctx context.Context, s *servers) (map[string]int, error) {
	sizes := make(map[string]int)
	for lock, size := range c.Size {
		n, err := strconv.Atoi(size)
		if err != nil {
			if n, err = inspect.ReadCount(ctx, s, size); err != nil {
				return nil, explain(ctx, fmt.Errorf("--size: %w", err))
			}
		}
		sizes[lock] = n
	}
	return sizes, nil
}

// again returns the findings that a second look confirms after a while: sessions end, and
// queues move on, while they are read.
func (c *doctorCmd) again(ctx context.Context, s *servers, con *Console, checks inspect.Checks, findings []inspect.Finding) ([]inspect.Finding, error) {
	select {
	case <-time.After(c.Observe):
	case <-ctx.Done():
		return nil, interrupted(ctx)
	}
	var locks []inspect.Lock
	var still []inspect.Empty
	concerned := make(map[string]bool)
	for _, f := range findings {
		if f.Problem == inspect.UnusedParent {
			e, is, err := inspect.StillEmpty(s, f.Nodes[0])
			if err != nil {
				return nil, explain(ctx, err)
			}
			if is {
				still = append(still, e)
			}
			continue
		}
		for _, lock := range f.Locks {
			concerned[lock] = true
		}
	}
	for _, lock := range slices.Sorted(maps.Keys(concerned)) {
		l, err := inspect.Read(ctx, s, lock)
		if err != nil && ctx.Err() != nil {
			return nil, interrupted(ctx)
		}
		if unconnected(err) {
			return nil, explain(ctx, err)
		}
		if err == nil {
			locks = append(locks, *l)
		} // a lock that cannot be read now is gone
	}
	checks.Sessions, checks.Now = s.sessions(), con.now()
	if ctx.Err() != nil {
		return nil, interrupted(ctx)
	}
	return inspect.Confirmed(findings, append(inspect.Diagnose(locks, checks), inspect.Unused(still, checks.Now, c.Unused)...)), nil
}

// remove deletes the unused nodes among the findings.
func (c *doctorCmd) remove(ctx context.Context, s *servers, con *Console, findings []inspect.Finding) error {
	for _, f := range findings {
		if f.Problem != inspect.UnusedParent {
			continue
		}
		removed, err := inspect.RemoveUnused(ctx, s, f.Nodes[0])
		switch {
		case err != nil:
			return explain(ctx, err)
		case removed:
			con.say("removed %s", pathText(f.Nodes[0]))
		default:
			con.say("%s is used by now, and stays", pathText(f.Nodes[0]))
		}
	}
	return nil
}

// diagnosis is the JSON of doctor.
type diagnosis struct {
	Locks      int               `json:"locks"` // that were examined
	Findings   []findingJSON     `json:"findings"`
	Unreadable []unreadable      `json:"unreadable,omitempty"`
	Unasked    map[string]string `json:"unasked,omitempty"` // servers that did not tell of their sessions, and why
}

type findingJSON struct {
	Problem  inspect.Problem `json:"problem"`
	Locks    []string        `json:"locks"`
	Nodes    []string        `json:"nodes,omitempty"`
	What     string          `json:"what"`
	Means    string          `json:"means"`
	Do       string          `json:"do"`
	Sessions []string        `json:"sessions,omitempty"` // of a deadlock, in the order of the cycle
}

// placeOf names the locks of a finding.
func placeOf(locks []string) string {
	const shown = 10
	switch n := len(locks); {
	case n == 0:
		return "the servers"
	case n > shown:
		return pathText(strings.Join(locks[:shown], ", ")) + fmt.Sprintf(" and %d more", n-shown)
	}
	return pathText(strings.Join(locks, ", "))
}

func (c *doctorCmd) write(con *Console, snapshot *inspect.Snapshot, sessions *inspect.Sessions, findings []inspect.Finding) error {
	d := diagnosis{Locks: len(snapshot.Locks), Findings: []findingJSON{}, Unreadable: unreadables(snapshot), Unasked: make(map[string]string)}
	for addr, err := range sessions.Unasked {
		d.Unasked[addr] = err.Error()
	}
	for i := range findings {
		f := &findings[i]
		w := wordsOf(f, c)
		j := findingJSON{Problem: f.Problem, Locks: append([]string{}, f.Locks...), Nodes: f.Nodes, What: w.what, Means: w.means, Do: w.do}
		for _, wait := range f.Cycle {
			j.Sessions = append(j.Sessions, sessionID(wait.Session))
		}
		d.Findings = append(d.Findings, j)
	}
	if c.JSON {
		return writeJSON(con.Out, d)
	}
	for _, f := range d.Findings {
		con.tell("", placeOf(f.Locks)+": "+f.What)
		const shown = 10
		for i, node := range f.Nodes {
			if i == shown {
				fmt.Fprintf(con.Out, "    and %d more\n", len(f.Nodes)-shown)
				break
			}
			fmt.Fprintf(con.Out, "    %s\n", pathText(node))
		}
		con.tell("  ", "means: "+f.Means+"\ndo: "+f.Do)
		fmt.Fprintln(con.Out)
	}
	for _, addr := range slices.Sorted(maps.Keys(d.Unasked)) {
		con.say("%s does not tell of its sessions: %s", addr, d.Unasked[addr])
	}
	_, err := fmt.Fprintf(con.Out, "%s examined, %s\n", words.Count(d.Locks, "lock"), words.Count(len(findings), "finding"))
	return err
}
