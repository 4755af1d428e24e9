package barrier

import (
	"slices"
	"strings"
	"testing"
)

// A member's name is a UUID, in whichever case: Curator's are. Nothing else counts.
func TestWhoIsAMemberOfARound(t *testing.T) {
	const lower, upper, mixed = "01234567-89ab-cdef-0123-456789abcdef", "01234567-89AB-CDEF-0123-456789ABCDEF", "af09AF00-0000-4000-8000-00000000fF9a"
	foreign := []string{"", "readme", lower[1:], lower + "0", strings.Replace(lower, "-", "0", 1), "0123456789ab-cdef-0123-456789abcdef01234"[:36]}
	for _, c := range "/:@G`g-_ " { // the neighbors of digits and letters
		foreign = append(foreign, string(c)+lower[1:], lower[:35]+string(c))
	}
	members, ready := roll(append([]string{upper, mixed, lower}, foreign...))
	if want := []string{upper, lower, mixed}; !slices.Equal(members, want) || ready {
		t.Errorf("members %q, %v", members, ready)
	}
	if members, ready := roll([]string{lower, readyName}); len(members) != 1 || !ready {
		t.Errorf("with a node ready: %q, %v", members, ready)
	}
}
