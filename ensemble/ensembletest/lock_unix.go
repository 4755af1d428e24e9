//go:build unix

package ensembletest

import (
	"os"
	"syscall"
)

// lockFile waits until no other open file has the lock. The lock ends with the process.
func lockFile(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != syscall.EINTR {
			return err
		}
	}
}
