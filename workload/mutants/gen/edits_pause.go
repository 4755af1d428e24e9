package main

// pauseEdits are defects in what a lock makes of a pause of its process.
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
