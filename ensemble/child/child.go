// Package child starts processes that do not outlive this one, of programs that are trusted
// ([Process]) or not ([Piped]), and stops, continues and kills them.
package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// ErrEnded is returned for a process that has ended.
var ErrEnded = errors.New("the process has ended")

// Process is a child process, from its start to its end.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended and been waited for
	err  error         // the error of the process's end; set before done is closed
}

// PID returns the process's number.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err returns the error with which the process ended, nil if it ended well. Done must be
// closed.
func (p *Process) Err() error { return p.err }

// Kill ends the process at once, with its group, and waits for its end. A
// process that is stopped by a signal dies of SIGKILL too.
func (p *Process) Kill() {
	_ = syscall.Kill(-p.PID(), syscall.SIGKILL) // gone already is fine
	<-p.done
}

// Alive reports whether the process has not ended.
func (p *Process) Alive() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// signal sends sig to the process unless it has ended: its number may belong to another
// process then. os.Process guards against that.
func (p *Process) signal(sig syscall.Signal) error {
	err := p.cmd.Process.Signal(sig)
	if errors.Is(err, os.ErrProcessDone) {
		return ErrEnded
	}
	return err
}

// SignalGroup sends a signal to the process and its group.
func (p *Process) SignalGroup(sig syscall.Signal) error {
	if !p.Alive() {
		return ErrEnded
	}
	return syscall.Kill(-p.PID(), sig)
}

// Stop stops the process with SIGSTOP and returns when it stands still.
func (p *Process) Stop(ctx context.Context) error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !Stopped(p.PID()) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	return nil
}

// Continue resumes a stopped process. It leaves any other process as it is.
func (p *Process) Continue() error { return p.signal(syscall.SIGCONT) }

// Spawner starts processes from one thread that lives as long as the spawner.
// On Linux a child can ask for a signal when its parent dies, but "parent" is
// the thread that started it: from a goroutine on any thread the child would be
// killed whenever the Go runtime retires that thread.
type Spawner struct {
	requests chan func()
	once     sync.Once
}

// NewSpawner returns a spawner, which its owner must Close.
func NewSpawner() *Spawner {
	s := &Spawner{requests: make(chan func())}
	// Ends at Close. The thread is never unlocked, so it ends with the
	// goroutine, after the children: their owner kills them before Close.
	go func() {
		runtime.LockOSThread()
		for request := range s.requests {
			request()
		}
	}()
	return s
}

// Close ends the spawner. Its children must have ended.
func (s *Spawner) Close() { s.once.Do(func() { close(s.requests) }) }

// Start starts cmd in a process group of its own. The process does not outlive
// this one.
func (s *Spawner) Start(cmd *exec.Cmd) (*Process, error) {
	cmd.SysProcAttr = childAttributes()
	started := make(chan error)
	s.requests <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	p := &Process{cmd: cmd, done: make(chan struct{})}
	release := leash(cmd.Process.Pid)
	// Ends with the process, which its owner kills at the latest when it closes.
	go func() {
		p.err = cmd.Wait()
		release()
		close(p.done)
	}()
	return p, nil
}
