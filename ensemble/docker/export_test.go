package docker

// BelongTo lets what is started from now on belong to another process, and
// returns the one before.
func BelongTo(process int) (before int) {
	before, pid = pid, process
	return before
}
