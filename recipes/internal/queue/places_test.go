package queue

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"github.com/zkverify/zkverify/recipes/internal/session"
	"pgregory.net/rapid"
)

func names(entries []Place) []string {
	var s []string
	for _, e := range entries {
		s = append(s, e.Node)
	}
	return s
}

func TestQueueOrder(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name           string
		children, want []string
	}{
		{"CURATOR-43: foreign children are no contenders",
			[]string{"_c_b-lock-0000000002", "readme", "lock-", "lock-x", "_c_a-lock-0000000001", "lock-99999999999",
				"_c_", "_c_-lock-", "block-0000000000", "lock-0", "lock-+000000001", "lock- 000000001", "lock-0000000001x",
				"lock-00000000001", "lock--0000000001", "lock--0500000000", "lock--2147483649", "lock-2147483648", "lock-0x00000001", "lock-0000_00001"},
			[]string{"_c_a-lock-0000000001", "_c_b-lock-0000000002"}},
		{"ZOOKEEPER-2931: the order is by sequence, not by name",
			[]string{"_c_a-lock-0000000009", "_c_z-lock-0000000001", "lock-0000000005"},
			[]string{"_c_z-lock-0000000001", "lock-0000000005", "_c_a-lock-0000000009"}},
		{"ZOOKEEPER-4372: the sequence wraps to negative numbers",
			[]string{"_c_d-lock--2147483647", "_c_b-lock-2147483647", "_c_c-lock--2147483648", "_c_a-lock-2147483646"},
			[]string{"_c_a-lock-2147483646", "_c_b-lock-2147483647", "_c_c-lock--2147483648", "_c_d-lock--2147483647"}},
		{"and from negative numbers to positive ones",
			[]string{"_c_b-lock-0000000000", "_c_a-lock--000000001"},
			[]string{"_c_a-lock--000000001", "_c_b-lock-0000000000"}},
		{"nobody", nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := names(Places(test.children, Locks)); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestQueueOrderIsThatOfCreation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.Int32().Draw(t, "first")
		n := rapid.IntRange(1, 50).Draw(t, "n")
		seed := rapid.Uint64().Draw(t, "seed")
		var created []string
		for i := range n {
			created = append(created, fmt.Sprintf("_c_%s-lock-%010d", session.NewGUID(), first+int32(i))) // as PrepRequestProcessor formats it
		}
		shuffled := slices.Clone(created)
		rand.New(rand.NewPCG(seed, 0)).Shuffle(n, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if got := names(Places(shuffled, Locks)); !slices.Equal(got, created) {
			t.Fatalf("got %q, want %q", got, created)
		}
	})
}

func TestNodeNamesAreCurators(t *testing.T) {
	t.Parallel()
	name := session.ProtectedName(session.NewGUID(), Lock)
	if !regexp.MustCompile(`^_c_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}-lock-$`).MatchString(name) {
		t.Errorf("%q", name)
	}
}
