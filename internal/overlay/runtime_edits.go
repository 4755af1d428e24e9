package overlay

// runtimeEdits are the changes of a seeded runtime, to files below GOROOT/src. The comment
// of each group names the cause of different runs that the group removes.
var runtimeEdits = []Edit{
	// The random numbers of goroutines: maps, math/rand, maphash. The generator of each
	// thread would depend on which thread runs the goroutine.
	{"runtime/rand.go", "\tmp := getg().m\n\tc := &mp.chacha8\n", "\tif true {\n\t\treturn seededRand()\n\t}\n\tmp := getg().m\n\tc := &mp.chacha8\n", 1},
	// The random numbers of the runtime itself, such as hash keys. They are apart from rand's:
	// threads draw them when the kernel lets them.
	{"runtime/rand.go", "\tglobalRand.state.Init(*seed)\n", "\t*seed = [32]byte{1}\n\tglobalRand.state.Init(*seed)\n", 1},
	{"runtime/rand.go", "\tmp.cheaprand = rand()\n", "\tmp.cheaprand = bootstrapRand()\n", 1},

	// Choices that the runtime draws for goroutines with the thread's cheap generator:
	// cases of a select, timers due at one instant, waiters of a lock, and caches of
	// interface methods, which lie on the heap.
	{"runtime/select.go", "cheaprandn(", "randn(", 1},
	{"runtime/time.go", "t.rand = cheaprand()", "t.rand = uint32(rand())", 1},
	// A select adds the timers of its cases in the order in which it locks their channels,
	// by address, and each draws when it is added. Here they are added in the order of the
	// cases.
	{"runtime/select.go", "\t\tif c.timer != nil {\n\t\t\tblockTimerChan(c)\n\t\t}\n\t}\n", "\t}\n\tfor i := range scases {\n\t\tif c := scases[i].c; c != nil && c.timer != nil {\n\t\t\tblockTimerChan(c)\n\t\t}\n\t}\n", 1},
	{"runtime/sema.go", "cheaprand()", "uint32(rand())", 1},
	{"runtime/iface.go", "cheaprand()", "uint32(rand())", 4},

	// Time: without its monitor the runtime preempts no goroutine, takes no processor
	// from a system call, and starts neither a collection nor the scavenger by the clock.
	{"runtime/proc.go", "const haveSysmon = GOARCH != \"wasm\"", "const haveSysmon = false", 1},
	// A goroutine that is woken runs next or queues, depending on the seed: this explores
	// orders, and two goroutines that wake each other starve no third.
	{"runtime/proc.go", "\tif !haveSysmon && next {\n", "\tif false && !haveSysmon && next {\n", 1},
	{"runtime/proc.go", "const randomizeScheduler = raceenabled", "const randomizeScheduler = true", 1},
	{"runtime/proc.go", "j := cheaprandn(i + 1)", "j := randn(i + 1)", 2},
	// A lock turns to starvation mode after a millisecond of waiting; 0 would mean that a
	// waiter is new.
	{"runtime/sema.go", "func internal_sync_nanotime() int64 {\n\treturn nanotime()\n", "func internal_sync_nanotime() int64 {\n\treturn 1\n", 1},

	// Threads: each thread that starts allocates, and addresses decide orders (maps keyed by
	// pointers, the locks of a select). While packages initialize, the main goroutine is
	// locked to its thread and hands the processor to others and back, through one thread
	// or two.
	{"runtime/proc.go", "\tlockOSThread()\n\n\tif mp != &m0 {", "\tif mp != &m0 {", 1},
	{"runtime/proc.go", "\tneedUnlock := true\n", "\tneedUnlock := false\n", 1},
	{"runtime/proc.go", "\tneedUnlock = false\n\tunlockOSThread()\n", "\tneedUnlock = false\n", 1},
	{"runtime/proc.go", "procs = defaultGOMAXPROCS(numCPUStartup)", "procs = 1\n\t\tsched.customGOMAXPROCS = true", 1},

	// The heap: not collected before main can disable the collector, and at the usual address. A
	// random base would be constant too, but the kernel may have mapped something there.
	{"runtime/malloc.go", "randomizeHeapBase = goexperiment.", "randomizeHeapBase = false && goexperiment.", 1},
	{"runtime/mgcpacer.go", "\t\treturn int32(n)\n\t}\n\treturn 100\n", "\t\treturn int32(n)\n\t}\n\treturn -1\n", 1},

	// Without collections, which measure it, the runtime does not learn how large the stacks of
	// goroutines become, and copied most of them three times as they grew: a tenth of a run.
	{"runtime/stack.go", "var startingStackSize uint32 = fixedStack\n", "var startingStackSize uint32 = 8 * fixedStack\n", 1},

	// A context cancels its children in the order of a map that is keyed by pointers. The memory
	// that packages allocate as they initialize depends on the machine, and with it the addresses.
	// With these edits it cancels its children in the order in which they were made.
	{"context/context.go", "\tchildren map[canceler]struct{} // ", "\tlast     uint64 // the number of the latest child\n\tchildren map[canceler]uint64 // ", 1},
	{"context/context.go", "p.children = make(map[canceler]struct{})", "p.children = make(map[canceler]uint64)", 1},
	{"context/context.go", "\t\t\tp.children[child] = struct{}{}\n", "\t\t\tp.last++\n\t\t\tp.children[child] = p.last\n", 1},
	{"context/context.go", "\tfor child := range c.children {\n", "\tfor _, child := range inOrder(c.children) {\n", 1},
	{"context/context.go", "// cancel closes c.done,", "func inOrder(children map[canceler]uint64) []canceler {\n\tall := make([]canceler, 0, len(children))\n\tfor child := range children {\n\t\tall = append(all, child)\n\t}\n\tslices.SortFunc(all, func(a, b canceler) int { return cmp.Compare(children[a], children[b]) })\n\treturn all\n}\n\n// cancel closes c.done,", 1},
	{"context/context.go", "import (\n\t\"errors\"\n", "import (\n\t\"cmp\"\n\t\"errors\"\n\t\"slices\"\n", 1},

	// Pauses of processes: a goroutine knows its process, as do the goroutines and
	// the timers that it starts. Those of a paused process do not run.
	{"runtime/runtime2.go", "\tbubble  *synctestBubble\n", "\tbubble  *synctestBubble\n\tprocess *seededProcess\n", 1},
	{"runtime/time.go", "\targ    any\n\tseq    uintptr\n\n\t// If non-nil,", "\targ    any\n\tseq    uintptr\n\n\tprocess *seededProcess // of the goroutine that made it\n\n\t// If non-nil,", 1},
	{"runtime/proc.go", "\t\tnewg.bubble = callergp.bubble\n", "\t\tnewg.bubble = callergp.bubble\n\t\tnewg.process = callergp.process\n", 1},
	{"runtime/proc.go", "\tgp.bubble = nil\n\tgp.fipsOnlyBypass = false\n", "\tgp.bubble = nil\n\tgp.process = nil\n\tgp.fipsOnlyBypass = false\n", 1},
	{"runtime/proc.go", "\tif sched.disable.user && !schedEnabled(gp) {\n\t\t// Scheduling of this", "\tif seededStands(gp) {\n\t\tgoto top\n\t}\n\tif sched.disable.user && !schedEnabled(gp) {\n\t\t// Scheduling of this", 1},
	{"runtime/time.go", "\tif bubble := getg().bubble; bubble != nil {\n\t\tt.isFake = true\n\t}\n", "\tif bubble := getg().bubble; bubble != nil {\n\t\tt.isFake = true\n\t}\n\tt.process = getg().process\n", 1},
	{"runtime/time.go", "\t\tgp.bubble = bubble\n\t\tbubble.changegstatus(gp, _Gdead, _Grunning)\n", "\t\tgp.bubble = bubble\n\t\tgp.process = t.process\n\t\tbubble.changegstatus(gp, _Gdead, _Grunning)\n", 1},
	{"runtime/time.go", "\t\tgp.bubble = nil\n", "\t\tgp.bubble = nil\n\t\tgp.process = nil\n", 1},

	// crypto/rand, which reads from the operating system otherwise.
	{"crypto/internal/sysrand/rand.go", "func Read(b []byte) {\n", "func Read(b []byte) {\n\tif true {\n\t\tfor i := range b {\n\t\t\tb[i] = byte(seededRand())\n\t\t}\n\t\treturn\n\t}\n", 1},
	{"crypto/internal/sysrand/rand.go", "//go:linkname fatal\n", "//go:linkname seededRand runtime.rand\nfunc seededRand() uint64\n\n//go:linkname fatal\n", 1},
}

// cheap counts the calls of the thread's cheap generator that stay, by file of package
// runtime. Their numbers reach no goroutine: samples of profiles and metrics, caches of
// stack walks, contended locks of the runtime, work stolen from other processors, the
// collector. A call that is not counted here may decide an order.
var cheap = map[string]int{
	"lock_spinbit.go":       2,
	"malloc.go":             1,
	"mbitmap.go":            2,
	"mgcmark_greenteagc.go": 1,
	"mgcpacer.go":           1,
	"mprof.go":              5,
	"os_linux.go":           1,
	"proc.go":               2,
	"rand.go":               6,
	"symtab.go":             1,
}
