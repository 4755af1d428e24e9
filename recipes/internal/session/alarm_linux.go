package session

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

// bootAlarm is a timer of the kernel on CLOCK_BOOTTIME. Go's poller waits for it. If its
// time comes while the machine sleeps, it rings when the machine wakes.
type bootAlarm struct{ file *os.File }

// NewAlarm implements Clock. Without such timers (before Linux 3.15, or with no file
// descriptor left) there is no alarm: losses are then told when Go's timers are due.
func (bootClock) NewAlarm() Alarm {
	fd, _, errno := syscall.Syscall(syscall.SYS_TIMERFD_CREATE, clockBoottime, syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if errno != 0 {
		return nil
	}
	return bootAlarm{os.NewFile(fd, "timerfd")}
}

// Set implements Alarm.
func (a bootAlarm) Set(after time.Duration) {
	timer := struct{ interval, value syscall.Timespec }{
		value: syscall.NsecToTimespec(int64(max(after, 1))), // 0 would mean never
	}
	conn, err := a.file.SyscallConn()
	if err != nil {
		return // closed
	}
	// Control holds the descriptor open, so that it cannot belong to another file by now.
	_ = conn.Control(func(fd uintptr) {
		_, _, _ = syscall.Syscall6(syscall.SYS_TIMERFD_SETTIME, fd, 0, uintptr(unsafe.Pointer(&timer)), 0, 0, 0)
	})
}

// Wait implements Alarm.
func (a bootAlarm) Wait() bool {
	var rung [8]byte // how often the timer rang since the last Wait
	_, err := a.file.Read(rung[:])
	return err == nil
}

// Close implements Alarm.
func (a bootAlarm) Close() { _ = a.file.Close() }
