package tree

import (
	"slices"
	"strings"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// validPath reports whether the server accepts a path in changes other than deletes.
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

// invalidRune also refuses characters that Java stores as two surrogates, and the
// replacement for bytes that are no UTF-8.
func invalidRune(r rune) bool {
	return r <= 0x1f || r >= 0x7f && r <= 0x9f || r >= 0xd800 && r <= 0xf8ff || r >= 0xfff0
}

// hasParent makes the first check of creates and deletes: the path has a slash and no
// NUL.
func hasParent(path string) bool {
	return strings.Contains(path, "/") && !strings.Contains(path, "\x00")
}

// deletable returns the error of a path that cannot be deleted.
func deletable(path string) wire.Code {
	if !hasParent(path) || slices.Contains([]string{"/", "/zookeeper", "/zookeeper/quota", ConfigPath}, path) {
		return wire.BadArguments
	}
	return wire.OK
}
