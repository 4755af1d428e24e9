package barrier

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// A member's name is a UUID, in upper or lower case: Curator's are. No other name counts.
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

// Members begin a round one after the other. Members that have waited for others begin it
// after the others' turns.
func TestMembersBeginARoundInTurn(t *testing.T) {
	const poll = time.Second
	for _, waited := range []bool{false, true} {
		for rank := range 10 {
			if d := turn(rank+1, waited, poll) - turn(rank, waited, poll); d <= 0 {
				t.Errorf("waited %v: rank %d comes %v after rank %d", waited, rank+1, d, rank)
			}
		}
		if first := turn(0, waited, poll); first < 0 || first > poll/2 {
			t.Errorf("waited %v: the first turn is after %v of %v", waited, first, poll)
		}
	}
	if a, b := turn(50, false, poll), turn(0, true, poll); a >= b {
		t.Errorf("the 51st who has just come begins after %v, the first who has waited after %v", a, b)
	}
}
