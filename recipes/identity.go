package recipes

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxIdentity is the longest identity, in bytes. A host's name has at most 255.
const maxIdentity = 512

// checkIdentity returns an error for an identity that cannot be printed in one line.
func checkIdentity(identity string) error {
	switch {
	case len(identity) > maxIdentity:
		return fmt.Errorf("%w: an identity of %d bytes, more than %d", ErrBadOption, len(identity), maxIdentity)
	case !utf8.ValidString(identity):
		return fmt.Errorf("%w: the identity %q is not UTF-8", ErrBadOption, identity)
	case strings.ContainsFunc(identity, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("%w: the identity %q has a character that cannot be printed", ErrBadOption, identity)
	}
	return nil
}

// hostAndProcess returns the default identity. It has "unknown" in place of a host name that is
// missing or not a valid identity.
func hostAndProcess() string {
	process := "/" + strconv.Itoa(os.Getpid())
	if host, err := os.Hostname(); err == nil && checkIdentity(host+process) == nil {
		return host + process
	}
	return "unknown" + process
}
