package holding

// leftmost holds a number for each position of a row. It finds the first that is negative, and adds to
// all of a range, in steps that grow with the logarithm of the length.
type leftmost struct {
	width int   // a power of two, the length or more
	least []int // of each node of a binary tree, below it, without what the nodes above it add
	added []int // to all below a node
}

func newLeftmost(values []int) *leftmost {
	s := &leftmost{width: 1}
	for s.width < len(values) {
		s.width *= 2
	}
	s.least, s.added = make([]int, 2*s.width), make([]int, 2*s.width)
	copy(s.least[s.width:], values)
	for i := s.width - 1; i > 0; i-- {
		s.least[i] = min(s.least[2*i], s.least[2*i+1])
	}
	return s
}

// add adds to the positions from one up to another.
func (l *leftmost) add(from, to, n int) {
	if from >= to {
		return
	}
	for i, j := from+l.width, to+l.width; i < j; i, j = i/2, j/2 {
		if i%2 == 1 {
			l.plus(i, n)
			i++
		}
		if j%2 == 1 {
			j--
			l.plus(j, n)
		}
	}
	l.correct(from + l.width)
	l.correct(to - 1 + l.width)
}

func (l *leftmost) plus(node, n int) {
	l.least[node] += n
	l.added[node] += n
}

// correct computes the nodes above one anew.
func (l *leftmost) correct(node int) {
	for node /= 2; node > 0; node /= 2 {
		l.least[node] = min(l.least[2*node], l.least[2*node+1]) + l.added[node]
	}
}

// at returns the number at a position.
func (l *leftmost) at(position int) int {
	node := position + l.width
	n := l.least[node]
	for node /= 2; node > 0; node /= 2 {
		n += l.added[node]
	}
	return n
}

// negative returns the first position with a negative number, -1 if there is none.
func (l *leftmost) negative() int {
	if l.least[1] >= 0 {
		return -1
	}
	node, above := 1, 0
	for node < l.width {
		above += l.added[node]
		if node *= 2; l.least[node]+above >= 0 {
			node++
		}
	}
	return node - l.width
}
