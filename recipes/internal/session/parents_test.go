package session

import (
	"strings"
	"testing"
)

func TestLockPaths(t *testing.T) {
	t.Parallel()
	for path, good := range map[string]bool{
		"/a": true, "/a/b.c": true, "/..a": true,
		"/a b": true, "/ä": true, "/\ud7ff": true, "/\uf900": true, "/\uffef": true, "/" + strings.Repeat("a", maxPath-1): true,
		"": false, "/": false, "a": false, "/a/": false, "/a//b": false, "/a/./b": false, "/a/..": false, "/a\x00": false,
		"/\x1f": false, "/\x7f": false, "/\u009f": false, "/\ue000": false, "/\uf8ff": false, "/\ufff0": false, "/\ufffd": false,
		"/\U00010000": false, "/\x80": false, "/" + strings.Repeat("a", maxPath): false,
	} {
		if (CheckPath(path) == nil) != good {
			t.Errorf("checkPath(%q) = %v", path, CheckPath(path))
		}
	}
}
