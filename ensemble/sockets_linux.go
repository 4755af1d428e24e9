package ensemble

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// dialledPorts returns the remote ports of the TCP connections that process pid
// holds.
func dialledPorts(pid int) (map[int]bool, error) {
	held, err := heldSockets(pid)
	if err != nil {
		return nil, err
	}
	ports := map[int]bool{}
	for _, table := range []string{"tcp", "tcp6"} {
		file, err := os.Open(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if errors.Is(err, fs.ErrNotExist) {
			continue // a kernel without IPv6
		}
		if err != nil {
			return nil, err
		}
		for lines := bufio.NewScanner(file); lines.Scan(); {
			// sl local_address rem_address st tx:rx tr:tm retrnsmt uid timeout inode
			fields := strings.Fields(lines.Text())
			if len(fields) < 10 || !held[fields[9]] {
				continue
			}
			_, hex, _ := strings.Cut(fields[2], ":")
			if port, err := strconv.ParseUint(hex, 16, 16); err == nil && port != 0 {
				ports[int(port)] = true
			}
		}
		file.Close()
	}
	return ports, nil
}

// heldSockets returns the inodes of the sockets that the process has open.
func heldSockets(pid int) (map[string]bool, error) {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	held := map[string]bool{}
	for _, entry := range entries {
		target, err := os.Readlink(dir + "/" + entry.Name())
		if err != nil {
			continue // closed meanwhile
		}
		if inode, found := strings.CutPrefix(target, "socket:["); found {
			held[strings.TrimSuffix(inode, "]")] = true
		}
	}
	return held, nil
}
