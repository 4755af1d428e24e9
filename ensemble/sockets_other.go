//go:build !linux

package ensemble

// dialledPorts cannot be seen here: other systems do not list a process's
// connections in files.
func dialledPorts(int) (map[int]bool, error) { return nil, nil }
