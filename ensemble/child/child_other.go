//go:build !linux

package child

import (
	"os/exec"
	"strconv"
	"syscall"
)

// childAttributes puts a child into a process group of its own, so that Ctrl-C
// at the terminal reaches this process alone.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// leash kills process pid when this process dies, however it dies: a shell waits
// for the end of a pipe whose other end only this process holds. release lets
// the process go, and must be called before its number can be given to another.
func leash(pid int) (release func()) {
	shell := exec.Command("/bin/sh", "-c", "read -r word || kill -9 "+strconv.Itoa(pid))
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	end, err := shell.StdinPipe()
	if err != nil || shell.Start() != nil {
		return func() {} // no leash is better than no server
	}
	return func() {
		_, _ = end.Write([]byte("released\n"))
		_ = end.Close()
		_ = shell.Wait()
	}
}

// Stopped returns true: this system does not show it, and SIGSTOP takes effect within
// microseconds.
func Stopped(int) bool { return true }

// killMarked kills no process here: a process that has left the group of its parent goes
// on.
func killMarked(string) []int { return nil }
