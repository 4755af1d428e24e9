package collection

import "iter"

// List is a doubly linked list of values, in the order in which they were added. A value that
// is in several lists has a Node for each. The zero List is empty, and a copy of a List is valid
// until the list changes.
type List[T any] struct{ First, last *Node[T] }

// Node is the position of a value in a list.
type Node[T any] struct {
	Value         *T
	before, After *Node[T]
}

// Add adds x at the end, at the node n, which must be in no list.
func (l *List[T]) Add(n *Node[T], x *T) {
	*n = Node[T]{Value: x, before: l.last}
	if l.last == nil {
		l.First = n
	} else {
		l.last.After = n
	}
	l.last = n
}

// Remove removes a node of the list, in constant time.
func (l *List[T]) Remove(n *Node[T]) {
	if n.before == nil {
		l.First = n.After
	} else {
		n.before.After = n.After
	}
	if n.After == nil {
		l.last = n.before
	} else {
		n.After.before = n.before
	}
	*n = Node[T]{}
}

// Last returns the value that was added last, or nil if the list is empty.
func (l List[T]) Last() *T {
	if l.last == nil {
		return nil
	}
	return l.last.Value
}

// All yields the values. The value that is yielded may be removed meanwhile.
func (l List[T]) All() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for n := l.First; n != nil; {
			after := n.After
			if !yield(n.Value) {
				return
			}
			n = after
		}
	}
}
