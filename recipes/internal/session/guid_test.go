package session

import (
	"regexp"
	"testing"
)

func TestAGUIDIsARandomUUID(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for range 100 {
		guid := NewGUID()
		if !form.MatchString(guid) || seen[guid] {
			t.Errorf("%q is no UUID of version 4, or came twice", guid)
		}
		seen[guid] = true
	}
}

func TestTheGUIDInANodesName(t *testing.T) {
	guid := NewGUID()
	for name, want := range map[string]string{
		ProtectedName(guid, "lock-") + "0000000003": guid,
		"_c_" + guid:                  guid,
		"_c_" + guid[:len(guid)-1]:    "",
		"_c_0":                        "",
		"_c_":                         "",
		"":                            "",
		"lock-0000000003":             "",
		"a" + ProtectedName(guid, ""): "",
	} {
		if got := GUIDOf(name); got != want {
			t.Errorf("of %q it is %q, want %q", name, got, want)
		}
	}
}
