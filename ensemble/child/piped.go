package child

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// Piped is a process of a program that is not trusted. Its owner talks with it through
// pipes, a log keeps the beginning and the end of its standard error, and Kill also ends
// the processes that it has started.
type Piped struct {
	*Process
	In  *os.File // its standard input, which the owner closes
	Out *os.File // its standard output, which the owner closes

	mark   string
	logged chan struct{} // closed when the log has all of its standard error
}

// DrainWithin is the time that the last output of a process may take to arrive after the
// process has ended: a program that it has started may keep the output open.
const DrainWithin = 500 * time.Millisecond

// StartPiped starts cmd as Start does, with its standard error in a log, which must stay open until
// Kill returns.
func (s *Spawner) StartPiped(cmd *exec.Cmd, log *Log) (*Piped, error) {
	// Pipes of our own: exec closes its pipes when the process has ended, and the last output
	// would be lost.
	var mine, its [3]*os.File
	closeAll := func(files [3]*os.File) {
		for _, f := range files {
			_ = f.Close() // closing a nil file is an error, which is fine
		}
	}
	defer func() { closeAll(its) }()
	for i := range mine {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(mine)
			return nil, err
		}
		if mine[i], its[i] = r, w; i == 0 {
			mine[i], its[i] = w, r
		}
	}
	mark := rand.Text()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = its[0], its[1], its[2]
	cmd.Env = append(cmd.Environ(), markName+"="+mark)
	process, err := s.Start(cmd)
	if err != nil {
		closeAll(mine)
		return nil, err
	}
	p := &Piped{Process: process, In: mine[0], Out: mine[1], mark: mark, logged: make(chan struct{})}
	// Ends soon after the process.
	go func() {
		<-p.Done()
		until := time.Now().Add(DrainWithin)
		_ = errors.Join(mine[1].SetReadDeadline(until), mine[2].SetReadDeadline(until))
	}()
	// Ends with its standard error, at the latest by the deadline above.
	go func() {
		defer close(p.logged)
		defer mine[2].Close()
		log.drain(mine[2])
	}()
	return p, nil
}

// Kill ends the process with its group, and the processes that it has started and that
// left the group. It waits until the log has their output. The error names the processes
// that could not be ended.
func (p *Piped) Kill() error {
	p.Process.Kill()
	left := killMarked(p.mark)
	<-p.logged
	if len(left) > 0 {
		return fmt.Errorf("it has left processes that cannot be killed: %d", left)
	}
	return nil
}

// markName is an environment variable of the process, which every process that it starts
// inherits. Kill finds them by it in any group or session and under any parent.
const markName = "ZKVERIFY_STARTED"
