package session

import (
	"encoding/hex"
	"regexp"
	"strings"
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

// Each bit is random, except the bits of the version and the variant.
func TestTheBitsOfAGUIDAreDrawn(t *testing.T) {
	const times = 200
	ones, same := [128]int{}, map[[2]int]int{} // how often a bit is 1; how often six bits of two bytes agree
	for range times {
		b, err := hex.DecodeString(strings.ReplaceAll(NewGUID(), "-", ""))
		if err != nil {
			t.Fatal(err)
		}
		for i := range ones {
			ones[i] += int(b[i/8]>>(7-i%8)) & 1
		}
		for i := range b {
			for j := range i {
				if b[i]&0x3f == b[j]&0x3f {
					same[[2]int{i, j}]++
				}
			}
		}
	}
	for i, n := range ones {
		fixed := i >= 48 && i < 52 || i >= 64 && i < 66 // the version and the variant
		if (n == 0 || n == times) != fixed {
			t.Errorf("bit %d is 1 in %d of %d", i, n, times)
		}
	}
	for pair, n := range same {
		if n > times/2 {
			t.Errorf("byte %d is byte %d in %d of %d", pair[0], pair[1], n, times)
		}
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
