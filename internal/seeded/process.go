package seeded

// Process is a group of goroutines of a bubble that can be paused together, as the
// operating system stops a process: they do not run, time goes on, and what they wait for
// comes all the same. It needs a seeded runtime; on the standard one Pause does nothing.
//
// A goroutine is stopped where it blocks or wakes another one, not in between. It may hold
// what others wait for, such as a mutex, only while it does not block: a bubble's clock
// stands still while a goroutine waits for a mutex.
type Process struct{ number int }

// NewProcess returns one that runs and has no goroutine.
func NewProcess() *Process { return &Process{runtimeNewProcess()} }

// Within calls do as part of the process, and with it the goroutines and timers that do
// starts, those that these start, and so on.
func (p *Process) Within(do func()) {
	before := runtimeEnter(p.number)
	defer func() { runtimeEnter(before) }() // not itself: the linker cannot report that it is missing
	do()
}

// Pause stops the process. A caller that is part of it goes on until it blocks.
func (p *Process) Pause() { runtimePause(p.number) }

// Resume lets the process go on, whether or not it stands still.
func (p *Process) Resume() { runtimeResume(p.number) }
