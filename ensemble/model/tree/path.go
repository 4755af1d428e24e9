package tree

import (
	"slices"
	"strings"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// validPath is the server's check of a path for all changes but deletes.
func validPath(path string) bool {
	if path == "/" {
		return true
	}
	if !strings.HasPrefix(path, "/") {
		return false
	}
	for name := range strings.SplitSeq(path[1:], "/") {
		if name == "" || name == "." || name == ".." || strings.ContainsFunc(name, invalidRune) {
			return false
		}
	}
	return true
}

// invalidRune also refuses what Java has as two surrogates, and the replacement for
// bytes that are no UTF-8.
func invalidRune(r rune) bool {
	return r <= 0x1f || r >= 0x7f && r <= 0x9f || r >= 0xd800 && r <= 0xf8ff || r >= 0xfff0
}

// hasParent is the first check of a create and a delete: the path has a slash and no NUL.
func hasParent(path string) bool {
	return strings.Contains(path, "/") && !strings.Contains(path, "\x00")
}

// deletable is the check of a path for deletes.
func deletable(path string) wire.Code {
	if !hasParent(path) || slices.Contains([]string{"/", "/zookeeper", "/zookeeper/quota", ConfigPath}, path) {
		return wire.BadArguments
	}
	return wire.OK
}
