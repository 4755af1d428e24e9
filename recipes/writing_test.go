package recipes

import (
	"strings"
	"testing"
)

// A guarded request that is made when a lease is over returns how the lease ended, and is not
// counted as under way for the other leases.
func TestAWriteOfALeaseThatIsOverIsNotBegun(t *testing.T) {
	for name, c := range map[string]struct {
		lost bool
		want error
	}{"lost": {true, ErrLeaseLost}, "given back": {false, ErrNotHeld}} {
		t.Run(name, func(t *testing.T) {
			held, ended := new(hold), &hold{over: true, isLost: c.lost}
			_, err := writing([]*Lease{{hold: held}, {hold: ended}})
			if err != c.want {
				t.Errorf("got %v, want %v", err, c.want)
			}
			held.writes.Wait()
			over, err := writing([]*Lease{{hold: held}})
			if err != nil {
				t.Fatal(err)
			}
			over()
			over() // a second call: the caller and the answer both call over
			held.writes.Wait()
		})
	}
}

// The checks of all members fit into a request of the servers' default size.
func TestSoManyMembersFitIntoOneTransaction(t *testing.T) {
	for _, path := range []string{"/b", "/" + strings.Repeat("b", 1000)} {
		const packet = 1<<20 - 1<<12
		check := 4 + 1 + 4 + 4 + 4 + len(path) + 1 + 36 // type, done, error, length and version; path, slash and name
		if n := maxMembers(path); n*check > packet || (n+1)*check <= packet {
			t.Errorf("%d members of a barrier whose path has %d bytes take %d bytes of %d", n, len(path), n*check, packet)
		}
	}
}
