package child

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// childAttributes puts a child into a process group of its own, so that Ctrl-C
// at the terminal reaches this process alone, and has the kernel kill it when
// this process dies, however it dies.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// leash does nothing here: systems with Pdeathsig need no leash.
func leash(int) (release func()) { return func() {} }

// Stopped reports whether a signal has stopped the process. When kill returns, SIGSTOP
// has been sent but perhaps not carried out.
func Stopped(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true // ended: as quiet as can be
	}
	// "pid (name) state …"; the name may hold anything, parentheses too.
	_, after, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')'):], []byte(") "))
	return len(after) > 0 && (after[0] == 'T' || after[0] == 't')
}
