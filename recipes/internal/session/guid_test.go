package session

import "testing"

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
