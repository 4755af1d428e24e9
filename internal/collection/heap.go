// Package collection has a heap and a linked list, each of values of one type.
package collection

// Heap holds values of which the first can be taken: the first in its slice. The zero Heap is
// empty.
type Heap[T interface{ Before(T) bool }] []T

// Push adds a value.
func (h *Heap[T]) Push(x T) {
	all := append(*h, x)
	*h = all
	for i := len(all) - 1; i > 0 && all[i].Before(all[(i-1)/2]); i = (i - 1) / 2 {
		all[i], all[(i-1)/2] = all[(i-1)/2], all[i]
	}
}

// Pop removes and returns the first value of a heap that is not empty.
func (h *Heap[T]) Pop() T {
	all, last := *h, len(*h)-1
	first := all[0]
	all[0] = all[last]
	clear(all[last:])
	*h = all[:last]
	for i := 0; ; {
		next := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if all[child].Before(all[next]) {
				next = child
			}
		}
		if next == i {
			return first
		}
		all[i], all[next] = all[next], all[i]
		i = next
	}
}
