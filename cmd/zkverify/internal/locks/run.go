package locks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/zkverify/zkverify/ensemble/child"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/recipes"
)

// runCmd runs a command under a lock.
type runCmd struct {
	Path      string        `arg:"" help:"The lock, a mutex unless --semaphore is given."`
	Command   []string      `arg:"" help:"The command and its arguments, behind --."`
	Try       bool          `help:"Do not wait for the lock."`
	Wait      time.Duration `help:"Wait for the lock for so long at most; default without a limit." placeholder:"DURATION"`
	Semaphore int           `help:"Take a permit of a semaphore with N permits; default a mutex." placeholder:"N"`
	Grace     time.Duration `default:"3s" help:"How long before the lease's deadline the command gets SIGTERM."`

	Servers serversFlags `embed:""`
}

// The variables of the command's environment.
const (
	tokenVariable = "ZKVERIFY_LOCK_TOKEN"
	pathVariable  = "ZKVERIFY_LOCK_PATH"
)

func (runCmd) Help() string {
	return words.WithExamples("The command finds the fencing token in $ZKVERIFY_LOCK_TOKEN, and the path in $ZKVERIFY_LOCK_PATH. It has this command's input, unless that is a terminal, and gets its signals. When the servers do not confirm the lease any more, it gets SIGTERM before the lease's deadline, and SIGKILL at the deadline; when the lock is taken away, SIGKILL at once. All processes of its group end with it. Exit status: that of the command, 128 and the signal's number if a signal ended it; 2 if the lease was lost, 75 if the lock was not acquired, 126 or 127 if the command cannot be started.",
		"zkverify locks run --try /locks/nightly -- ./backup.sh --full",
		"zkverify locks run --wait 30s --semaphore 3 /locks/builds -- make")
}

// Validate is called by kong.
func (c *runCmd) Validate() error {
	switch {
	case c.Wait < 0:
		return fmt.Errorf("--wait must not be negative, not %v", c.Wait)
	case c.Try && c.Wait > 0:
		return errors.New("--try does not wait: --wait does not go with it")
	case c.Semaphore < 0:
		return fmt.Errorf("--semaphore must be positive, not %d", c.Semaphore)
	case c.Grace < 0 || c.Grace > sessionTimeout/2:
		return fmt.Errorf("--grace must be between 0 and %v, not %v", sessionTimeout/2, c.Grace)
	}
	return nil
}

// Run is called by kong.
func (c *runCmd) Run(ctx context.Context, con *Console) error {
	program, err := exec.LookPath(c.Command[0])
	if err != nil {
		return notStarted(err)
	}
	// An interrupt ends the wait for the lock. After that it is the command's, and the session goes
	// on until the command has ended.
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	hand := context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })
	s, err := c.Servers.open(life)
	if err != nil {
		return err
	}
	defer s.close()
	lease, err := c.acquire(life, s)
	if err != nil {
		return err
	}
	defer release(con, lease)
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	defer signal.Stop(signals)
	if !hand() {
		return interrupted(ctx)
	}
	cmd := exec.Command(program, c.Command[1:]...)
	cmd.Args[0] = c.Command[0]
	cmd.Stdout, cmd.Stderr = behind(con.Out), behind(con.Err)
	if !con.Asks { // a group in the background cannot read from the terminal
		cmd.Stdin = con.In
	}
	cmd.Env = append(os.Environ(), tokenVariable+"="+lease.Token().String(), pathVariable+"="+c.Path)
	const closing = time.Second // for what a process of the group may hold open
	cmd.WaitDelay = closing
	spawner := child.NewSpawner()
	defer spawner.Close()
	p, err := spawner.Start(cmd)
	if err != nil {
		return notStarted(err)
	}
	defer p.Kill() // also what is left of its group
	return c.attend(con, lease, p, signals)
}

// behind returns the file behind the door to a terminal: what the command writes is its own.
func behind(w io.Writer) io.Writer {
	if door, ok := w.(*words.Door); ok {
		return door.Behind()
	}
	return w
}

// notStarted returns the error, with the exit status that shells have for it.
func notStarted(err error) error {
	const cannot, unknown = 126, 127
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return &Exit{unknown, err}
	}
	return &Exit{cannot, err}
}

// watchPause is the time between two looks whether the servers are there.
const watchPause = time.Second

// whileThere returns a context that ends when no server has answered for s.patience. The
// function ends it.
func (s *servers) whileThere(ctx context.Context) (context.Context, func()) {
	there, end := context.WithCancelCause(ctx)
	look := *s
	look.ctx = there
	var looking sync.WaitGroup
	looking.Go(func() { // ends with the context
		for there.Err() == nil {
			if _, _, err := look.Exists("/"); unconnected(err) {
				end(err)
			}
			select {
			case <-time.After(watchPause):
			case <-there.Done():
			}
		}
	})
	return there, func() { end(nil); looking.Wait() }
}

// acquire takes the lock.
func (c *runCmd) acquire(ctx context.Context, s *servers) (*recipes.Lease, error) {
	lock := recipes.Lock(recipes.NewMutex(s.client, s.whole(c.Path)))
	if c.Semaphore > 0 {
		lock = recipes.NewSemaphore(s.client, s.whole(c.Path), c.Semaphore)
	}
	bounded, acquire := ctx, lock.Acquire
	if c.Try {
		acquire = lock.TryAcquire
	}
	if c.Wait > 0 {
		var cancel context.CancelFunc
		bounded, cancel = context.WithTimeout(ctx, c.Wait)
		defer cancel()
	}
	bounded, cancel := s.whileThere(bounded)
	defer cancel()
	lease, err := acquire(bounded)
	var gone *Exit
	switch {
	case err == nil:
		return lease, nil
	case errors.As(context.Cause(bounded), &gone):
		return nil, gone
	case errors.Is(err, recipes.ErrNotAcquired):
		return nil, &Exit{exitBusy, fmt.Errorf("%s is held: the command was not started", pathText(c.Path))}
	case ctx.Err() == nil && bounded.Err() != nil:
		return nil, &Exit{exitBusy, fmt.Errorf("%s was not acquired within %v: the command was not started", pathText(c.Path), c.Wait)}
	}
	return nil, explain(ctx, err)
}

// release gives the lock back, also one that is lost.
func release(con *Console, lease *recipes.Lease) {
	ctx, cancel := context.WithTimeout(context.Background(), sessionTimeout)
	defer cancel()
	if err := lease.Release(ctx); err != nil && !errors.Is(err, recipes.ErrLeaseLost) {
		con.say("the lock is not released, but goes with the session: %v", err)
	}
}

// attend waits for the end of the command, and ends it before the lease does.
func (c *runCmd) attend(con *Console, lease *recipes.Lease, p *child.Process, signals <-chan os.Signal) error {
	grace := min(c.Grace, time.Until(lease.Deadline())/2) // of servers with short sessions
	var kill <-chan time.Time                             // when the command was told to end
	for {
		due := time.NewTimer(time.Until(lease.Deadline()) - grace)
		if kill != nil {
			due.Stop()
		}
		select {
		case <-p.Done():
			due.Stop()
			if kill != nil {
				return &Exit{exitUnsure, errors.New("the servers did not confirm the lease: the command was ended")}
			}
			return statusOf(p.Err())
		case sig := <-signals:
			_ = p.SignalGroup(sig.(syscall.Signal)) //nolint:errcheck // it may have ended
		case <-lease.Lost():
			p.Kill()
			due.Stop()
			return &Exit{exitUnsure, fmt.Errorf("the lease was lost, and the command killed: %w", lease.Err())}
		case <-kill:
			p.Kill()
		case <-due.C:
			if left := time.Until(lease.Deadline()); left <= grace {
				con.say("the servers do not confirm the lease, which ends in %v: the command gets SIGTERM", max(0, left).Round(time.Millisecond))
				_ = p.SignalGroup(syscall.SIGTERM) //nolint:errcheck // it may have ended
				kill = time.After(left)
			}
		}
		due.Stop()
	}
}

// statusOf returns the exit status of a command that has ended.
func statusOf(err error) error {
	var ended *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return nil
	case !errors.As(err, &ended):
		return &Exit{exitUnsure, err}
	}
	if status, ok := ended.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		const signaled = 128
		return &Exit{Status: signaled + int(status.Signal())}
	}
	return &Exit{Status: ended.ExitCode()}
}
