package facts

import "iter"

// Held are the holds that a process has, in the order in which they began. One of a million is
// found and removed as fast as one of two.
type Held struct {
	all holds
	of  map[string]*holds // by lock
}

// holds are holds in order, with gaps where some have ended.
type holds struct {
	list []*Hold
	at   map[*Hold]int
}

// All are all of them. Some may be removed meanwhile.
func (h *Held) All() iter.Seq[*Hold] { return h.all.each() }

// Of are those of a lock. Some may be removed meanwhile.
func (h *Held) Of(lock string) iter.Seq[*Hold] {
	if of := h.of[lock]; of != nil {
		return of.each()
	}
	return func(func(*Hold) bool) {}
}

func (h *Held) any() bool { return len(h.all.at) > 0 }

func (h *Held) add(hold *Hold) {
	if h.of == nil {
		h.of = make(map[string]*holds)
	}
	if h.of[hold.Lock] == nil {
		h.of[hold.Lock] = new(holds)
	}
	h.all.add(hold)
	h.of[hold.Lock].add(hold)
}

func (h *Held) remove(hold *Hold) {
	h.all.remove(hold)
	if of := h.of[hold.Lock]; of != nil {
		if of.remove(hold); len(of.at) == 0 {
			delete(h.of, hold.Lock)
		}
	}
}

func (s *holds) each() iter.Seq[*Hold] {
	list := s.list
	return func(yield func(*Hold) bool) {
		for _, hold := range list {
			if hold != nil && !yield(hold) {
				return
			}
		}
	}
}

func (s *holds) add(hold *Hold) {
	if s.at == nil {
		s.at = make(map[*Hold]int)
	}
	s.at[hold] = len(s.list)
	s.list = append(s.list, hold)
}

// remove leaves a gap. When half of them are gaps, those that are left move to a list of their own:
// whoever goes through the old one goes on in it.
func (s *holds) remove(hold *Hold) {
	i, ok := s.at[hold]
	if !ok {
		return
	}
	delete(s.at, hold)
	s.list[i] = nil
	const few = 16
	if len(s.list) < few || len(s.at) > len(s.list)/2 {
		return
	}
	var list []*Hold
	for _, left := range s.list {
		if left != nil {
			s.at[left] = len(list)
			list = append(list, left)
		}
	}
	s.list = list
}
