package main

// pauseEdits are defects in what a lock makes of a pause of its process.
var pauseEdits = []edit{
	// mutant-forgives-pause
	{"lease.go", "	close(h.lost)\n", `	if slip := h.s.timeout; h.client.cfg.defect == "mutant-forgives-pause" && time.Since(h.s.deadlineLocked()) > slip/2 {
		time.AfterFunc(slip, func() { close(h.lost) })
	} else {
		close(h.lost)
	}
`},
}
