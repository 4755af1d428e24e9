package recipes_test

import (
	"testing"

	"github.com/zkverify/zkverify/recipes"
)

// A Set whose reply is lost is sent again, and another client may have set the count in
// between. Then the second request must not change the count. Otherwise the count would be 3, 4
// and 3 again, which no order of two Sets explains.
func TestASetWhoseReplyIsLostChangesTheCountOnce(t *testing.T) {
	for name, c := range map[string]struct {
		carriedOut, another bool
		want                int
	}{
		"it was carried out, then another one": {true, true, 4},
		"it was carried out":                   {true, false, 3},
		"it was lost":                          {false, false, 3},
		"it was lost, and another one came":    {false, true, 4},
	} {
		t.Run(name, func(t *testing.T) {
			var wire intercept
			path := uniquePath(t)
			ours := recipes.NewSharedCount(connect(t, addrsOf(t), recipes.WithDialer(wire.dial)), path, 0)
			other := recipes.NewSharedCount(connect(t, addrsOf(t)), path, 0)
			if _, err := ours.Get(within(t)); err != nil { // makes the node
				t.Fatal(err)
			}
			cutOff := once(opSetData, func() bool {
				if c.another {
					if err := other.Set(within(t), 4); err != nil {
						t.Error(err)
					}
				}
				return cut()
			})
			if c.carriedOut {
				wire.on(nil, cutOff)
			} else {
				wire.on(cutOff, nil)
			}
			if err := ours.Set(within(t), 3); err != nil {
				t.Fatal(err)
			}
			wire.on(nil, nil)
			if n, err := ours.Get(within(t)); n != c.want || err != nil {
				t.Errorf("the count is %d, %v; want %d", n, err, c.want)
			}
		})
	}
}

// A Set that loses a race with another client's Set, and knows that it was not carried out, is
// made again.
func TestASetThatIsOvertakenIsMadeAgain(t *testing.T) {
	var wire intercept
	path := uniquePath(t)
	ours := recipes.NewSharedCount(connect(t, addrsOf(t), recipes.WithDialer(wire.dial)), path, 0)
	other := recipes.NewSharedCount(connect(t, addrsOf(t)), path, 0)
	if _, err := ours.Get(within(t)); err != nil {
		t.Fatal(err)
	}
	wire.on(once(opSetData, func() bool {
		if err := other.Set(within(t), 4); err != nil {
			t.Error(err)
		}
		return true
	}), nil)
	if err := ours.Set(within(t), 3); err != nil {
		t.Fatal(err)
	}
	if n, err := ours.Get(within(t)); n != 3 || err != nil {
		t.Errorf("the count is %d, %v; want 3", n, err)
	}
}

// A Set that finds no count creates it. Another client may create it at that moment: then the Set
// is not carried out yet, and is made again.
func TestASetThatMeetsTheCountsCreationIsMadeAgain(t *testing.T) {
	var wire intercept
	path := uniquePath(t)
	ours := recipes.NewSharedCount(connect(t, addrsOf(t), recipes.WithDialer(wire.dial)), path, 0)
	other := recipes.NewSharedCount(connect(t, addrsOf(t)), path, 4)
	if _, err := recipes.NewSharedCount(connect(t, addrsOf(t)), path+"-beside", 0).Get(within(t)); err != nil { // makes the parents
		t.Fatal(err)
	}
	wire.on(once(opCreate, func() bool {
		if n, err := other.Get(within(t)); n != 4 || err != nil {
			t.Errorf("the other's count is %d, %v", n, err)
		}
		return true
	}), nil)
	if err := ours.Set(within(t), 3); err != nil {
		t.Fatal(err)
	}
	if n, err := ours.Get(within(t)); n != 3 || err != nil {
		t.Errorf("the count is %d, %v; want 3", n, err)
	}
}
