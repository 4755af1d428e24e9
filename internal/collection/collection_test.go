package collection

import (
	"math/rand/v2"
	"slices"
	"testing"
)

type number int

func (n number) Before(m number) bool { return n < m }

func TestAHeapGivesItsValuesInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for size := range 40 {
		var h Heap[number]
		var want []number
		for range size {
			n := number(r.IntN(size))
			h.Push(n)
			if want = append(want, n); n%3 == 0 {
				slices.Sort(want)
				if got := h.Pop(); got != want[0] {
					t.Fatalf("first of %d: %v, want %v", len(want), got, want[0])
				}
				want = want[1:]
			}
		}
		slices.Sort(want)
		for _, n := range want {
			if got := h.Pop(); got != n {
				t.Fatalf("%v, want %v", got, n)
			}
		}
		if len(h) > 0 {
			t.Errorf("left over: %v", h)
		}
	}
}

// item is in two lists at once.
type item struct {
	n   int
	pos [2]Node[item]
}

func values(l List[item]) (all []int) {
	for x := range l.All() {
		all = append(all, x.n)
	}
	return all
}

func TestAListKeepsTheOrderInWhichValuesWereAdded(t *testing.T) {
	for _, gone := range [][]int{{}, {0}, {2}, {4}, {0, 1}, {4, 3}, {1, 3}, {0, 1, 2, 3, 4}} {
		var all, some List[item]
		items := make([]*item, 5)
		var want []int
		for i := range items {
			items[i] = &item{n: i}
			all.Add(&items[i].pos[0], items[i])
			some.Add(&items[i].pos[1], items[i])
			if !slices.Contains(gone, i) {
				want = append(want, i)
			}
		}
		for _, i := range gone {
			some.Remove(&items[i].pos[1])
		}
		if got := values(some); !slices.Equal(got, want) {
			t.Errorf("without %v: %v", gone, got)
		}
		if last := some.Last(); (last == nil) != (len(want) == 0) || last != nil && last.n != want[len(want)-1] {
			t.Errorf("without %v the last is %v", gone, last)
		}
		if got := values(all); len(got) != len(items) {
			t.Errorf("the other list has %v", got)
		}
		for x := range all.All() {
			all.Remove(&x.pos[0])
		}
		if all.First != nil || all.Last() != nil {
			t.Error("not empty")
		}
	}
}
