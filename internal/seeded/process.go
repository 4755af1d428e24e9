package seeded

// Process is a group of goroutines of a bubble that can be paused together, as the
// operating system stops a process: they do not run, but time goes on, and messages for
// them still arrive. It needs a seeded runtime; on the standard one Pause does nothing.
//
// A goroutine is stopped where it blocks or wakes another one, not in between. It may hold
// a resource that others wait for, such as a mutex, only while it does not block: a
// bubble's clock stands still while a goroutine waits for a mutex.
type Process struct{ number int }

// NewProcess returns a process that runs and has no goroutine.
func NewProcess() *Process { return &Process{runtimeNewProcess()} }

// Within calls do as part of the process. The goroutines and timers that do starts, and all
// that these start, belong to the process too.
func (p *Process) Within(do func()) {
	before := runtimeEnter(p.number)
	defer func() { runtimeEnter(before) }() // a closure: the linker could not report that runtimeEnter itself is missing
	do()
}

// Pause stops the process. A caller that is part of it goes on until it blocks.
func (p *Process) Pause() { runtimePause(p.number) }

// Resume lets the process go on. It may also be called when the process is not paused.
func (p *Process) Resume() { runtimeResume(p.number) }
