package mutants

import "github.com/zkverify/zkverify/histories"

// pauseDefects mishandle a pause of their process.
var pauseDefects = []Defect{
	{"mutant-forgives-pause", histories.Mutex, "loss is told",
		"a pause that is taken for a slip of the clock",
		"a client that wakes long after the deadline of its lease tells of the loss a session timeout later"},
}

// pauseEdits are the edits of pauseDefects.
var pauseEdits = []edit{
	{"internal/session/locked.go", "// Over reports", `// Timeout is the session timeout.
func (l Locked) Timeout() time.Duration { return l.s.timeout }

// Over reports`},

	// mutant-forgives-pause
	{"hold.go", "	close(h.lost)\n", `	if slip := s.Timeout(); h.S.Defect() == "mutant-forgives-pause" && s.Remaining() < -slip/2 {
		time.AfterFunc(slip, func() { close(h.lost) })
	} else {
		close(h.lost)
	}
`},
}
