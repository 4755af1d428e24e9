package docker

// BelongTo makes new containers and networks belong to another process, and returns the
// previous one.
func BelongTo(process int) (before int) {
	before, pid = pid, process
	return before
}
