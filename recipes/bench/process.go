package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a peer in a process of its own, a driver. It writes
//
//	ready VERSION
//
// once and then answers each line of its standard input with one line:
//
//	run WORK     →  ok NANOSECONDS      what the work took (see work.String)
//	park WORK    →  ok 0                the lock is held, the contenders started
//	unpark       →  ok 0                each of them has had the lock
//	disconnect   →  ok 0                all sessions are closed
//
// or with "error" and a text. It opens the sessions that a work needs, if they are not
// open, and keeps them. It ends at the end of its input, also in the middle of a work, so
// it never outlives this process, even if this one is killed.
type process struct {
	cmd     *exec.Cmd
	input   io.WriteCloser
	answers chan string // closed when the process has ended
	noise   *tail
	version string
}

// startProcess starts a driver and waits until it is ready.
func startProcess(ctx context.Context, program string, args ...string) (*process, error) {
	cmd := exec.Command(program, args...)
	// The driver is in a group of its own: Ctrl-C at the terminal reaches only this process.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p := &process{cmd: cmd, answers: make(chan string), noise: &tail{}}
	cmd.Stderr = p.noise
	var err error
	if p.input, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	// Ends with the process, which close ends.
	go func() {
		lines := bufio.NewScanner(output)
		for lines.Scan() {
			p.answers <- lines.Text()
		}
		_ = cmd.Wait() // why it ended is in its noise
		close(p.answers)
	}()
	answer, err := p.answer(ctx)
	if err == nil {
		var ready bool
		if p.version, ready = strings.CutPrefix(answer, "ready "); !ready {
			err = fmt.Errorf("it said %q instead of being ready", answer)
		}
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// answer waits for the driver's next line.
func (p *process) answer(ctx context.Context) (string, error) {
	select {
	case line, ok := <-p.answers:
		if !ok {
			return "", fmt.Errorf("its process ended: %s", p.noise)
		}
		return line, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// command sends a line and returns the figure in the answer.
func (p *process) command(ctx context.Context, line string) (time.Duration, error) {
	if _, err := io.WriteString(p.input, line+"\n"); err != nil {
		return 0, fmt.Errorf("%w: %s", err, p.noise)
	}
	answer, err := p.answer(ctx)
	if err != nil {
		return 0, err
	}
	return parseAnswer(answer)
}

func parseAnswer(answer string) (time.Duration, error) {
	word, rest, _ := strings.Cut(answer, " ")
	switch word {
	case "ok":
		ns, err := strconv.ParseInt(rest, 10, 64)
		if err != nil || ns < 0 {
			return 0, fmt.Errorf("bad answer %q", answer)
		}
		return time.Duration(ns), nil
	case "error":
		return 0, errors.New(rest)
	}
	return 0, fmt.Errorf("bad answer %q", answer)
}

func (p *process) run(ctx context.Context, w work) (result, error) {
	elapsed, err := p.command(ctx, "run "+w.String())
	return result{elapsed: elapsed}, err
}

func (p *process) park(ctx context.Context, w work) error {
	_, err := p.command(ctx, "park "+w.String())
	return err
}

func (p *process) unpark(ctx context.Context) error {
	_, err := p.command(ctx, "unpark")
	return err
}

func (p *process) disconnect(ctx context.Context) error {
	_, err := p.command(ctx, "disconnect")
	return err
}

// close ends the process and waits for its end.
func (p *process) close() {
	_ = p.input.Close()
	late := time.AfterFunc(2*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer late.Stop()
	for range p.answers {
	}
}

// tail keeps the last bytes that are written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailLength = 2000

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-tailLength):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.text) == 0 {
		return "it left no message"
	}
	return oneLine(string(t.text))
}

// oneLine makes one line of at most 300 characters from the output of a program.
func oneLine(text string) string {
	const limit = 300
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > limit {
		runes = append(runes[:limit], '…')
	}
	return string(runes)
}
