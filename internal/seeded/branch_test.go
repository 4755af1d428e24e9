package seeded_test

import (
	"math/rand/v2"
	"testing"

	"github.com/zkverify/zkverify/internal/seeded"
)

func TestABranchLetsEveryGeneratorGoOnOtherwise(t *testing.T) {
	draws := func(r *rand.Rand) (all [4]uint64) {
		for i := range all {
			all[i] = r.Uint64()
		}
		return all
	}
	one, same, plain := seeded.Rand(1, 2), seeded.Rand(1, 2), rand.New(rand.NewPCG(1, 2))
	begins := draws(plain)
	if a, b := draws(one), draws(same); a != begins || b != begins {
		t.Errorf("before any branch they draw %v and %v, not %v", a, b, begins)
	}
	goesOn := draws(plain)
	seen := map[[4]uint64]bool{begins: true, goesOn: true}
	for _, seed := range []uint64{7, 8} {
		seeded.Branch(seed)
		a, b, fresh := draws(one), draws(same), draws(seeded.Rand(1, 2))
		if a != b {
			t.Errorf("branch %d: two of one state draw %v and %v", seed, a, b)
		}
		if seen[a] || seen[fresh] || a == fresh {
			t.Errorf("branch %d: an old one draws %v and a new one %v, as before or alike", seed, a, fresh)
		}
		seen[a], seen[fresh] = true, true
	}
}
