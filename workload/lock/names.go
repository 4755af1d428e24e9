package lock

import (
	"fmt"
	"strconv"
	"strings"
)

// SessionName formats a session ID as ZooKeeper does, and 0 as the empty string.
func SessionName(id int64) string {
	if id == 0 {
		return ""
	}
	return fmt.Sprintf("0x%016x", uint64(id))
}

// Sequence reads ZooKeeper's sequence number from the name of a sequential node. It is negative
// when the numbers have wrapped, and 0 for any other node.
func Sequence(node string) int {
	i := strings.LastIndexByte(node, '-')
	if i > 0 && node[i-1] == '-' {
		i-- // of a negative number
	}
	n, _ := strconv.Atoi(node[i+1:])
	return n
}
