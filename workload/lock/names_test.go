package lock

import "testing"

func TestTheNumberOfANodeIsRead(t *testing.T) {
	for node, want := range map[string]int{
		"_c_01234567-0123-0123-0123-0123456789ab-lock-0000000012":  12,
		"_c_01234567-0123-0123-0123-0123456789ab-lock--2147483648": -2147483648,
	} {
		if got := Sequence(node); got != want {
			t.Errorf("%s: %d, want %d", node, got, want)
		}
	}
}
