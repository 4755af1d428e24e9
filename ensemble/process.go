package ensemble

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
)

// process is one run of a server: from its start to its end.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended and been waited for
}

// kill ends the process at once and waits for its end. A process that is
// stopped by a signal dies of SIGKILL too.
func (p *process) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // its whole group; gone already is fine
	<-p.done
}

// alive tells whether the process has not ended.
func (p *process) alive() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// signal sends sig to the process, which must be alive: the number of one that
// has ended may belong to a stranger. os.Process guards against that.
func (p *process) signal(sig syscall.Signal) error {
	err := p.cmd.Process.Signal(sig)
	if errors.Is(err, os.ErrProcessDone) {
		return ErrNotRunning
	}
	return err
}

// spawner starts processes from one thread that lives as long as the spawner.
// On Linux a child can ask for a signal when its parent dies, but "parent" is
// the thread that started it: from a goroutine on any thread the child would be
// killed whenever the Go runtime retires that thread.
type spawner struct {
	requests chan func()
	once     sync.Once
}

func newSpawner() *spawner {
	s := &spawner{requests: make(chan func())}
	// Ends at close. The thread is never unlocked, so it ends with the
	// goroutine, after the children: their owner kills them before close.
	go func() {
		runtime.LockOSThread()
		for request := range s.requests {
			request()
		}
	}()
	return s
}

func (s *spawner) close() { s.once.Do(func() { close(s.requests) }) }

// start runs a program with its output appended to the file log. The process
// does not outlive this one.
func (s *spawner) start(dir, log, program string, args ...string) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.SysProcAttr = childAttributes()
	started := make(chan error)
	s.requests <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	release := leash(cmd.Process.Pid)
	// Ends with the process, which its owner kills at the latest in Close.
	go func() {
		_ = cmd.Wait() // how it ended is in its log
		release()
		close(p.done)
	}()
	return p, nil
}

// lastLines returns the last n lines of a log file, indented.
func lastLines(log string, n int) string {
	text, err := os.ReadFile(log)
	if err != nil {
		return "  (" + err.Error() + ")"
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return "  " + strings.Join(lines, "\n  ")
}
