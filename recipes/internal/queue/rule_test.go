package queue

import (
	"fmt"
	"slices"
	"testing"

	"github.com/zkverify/zkverify/recipes/internal/session"
	"pgregory.net/rapid"
)

// model is a queue as the servers have it. Its contenders come, are granted the lock by
// their rules and go, in any order.
type model struct {
	next   int32
	places []Place
	rules  map[string]Rule
	holds  map[string]bool
}

func (m *model) come(kind string, rule Rule) {
	p := Place{Node: fmt.Sprintf("_c_%s-%s%010d", session.NewGUID(), kind, m.next), Kind: kind, Sequence: m.next}
	m.next++ // wraps, as the servers' counter does
	m.insert(p, rule)
}

func (m *model) insert(p Place, rule Rule) {
	m.places = append(m.places, p)
	slices.SortFunc(m.places, order)
	m.rules[p.Node] = rule
}

// downgrade puts a reader behind a writer that holds the lock.
func (m *model) downgrade(writer Place) {
	m.insert(Place{Node: "_c_" + session.NewGUID() + "-" + Read, Kind: Read, Sequence: writer.Sequence}, Shared)
}

func (m *model) grant(i int) {
	if m.rules[m.places[i].Node](m.places, i) == granted {
		m.holds[m.places[i].Node] = true
	}
}

func (m *model) leave(i int) {
	delete(m.holds, m.places[i].Node)
	m.places = slices.Delete(m.places, i, i+1)
}

// holders counts the holders of one kind.
func (m *model) holders(kind string) (n int) {
	for _, p := range m.places {
		if m.holds[p.Node] && p.Kind == kind {
			n++
		}
	}
	return n
}

// held reports whether any contender holds the lock or may be granted it.
func (m *model) held() bool {
	for i, p := range m.places {
		if m.holds[p.Node] || m.rules[p.Node](m.places, i) == granted {
			return true
		}
	}
	return len(m.places) == 0
}

func drawModel(t *rapid.T) *model {
	return &model{
		next:  rapid.SampledFrom([]int32{0, 7, 1<<31 - 3, -2}).Draw(t, "first sequence"),
		rules: make(map[string]Rule), holds: make(map[string]bool),
	}
}

func index(t *rapid.T, m *model) int {
	if len(m.places) == 0 {
		t.Skip("no contender")
	}
	return rapid.IntRange(0, len(m.places)-1).Draw(t, "who")
}

func TestTheExclusiveRuleNeverAdmitsTwoNorNobody(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		t.Repeat(map[string]func(*rapid.T){
			"come":  func(*rapid.T) { m.come(Lock, Exclusive) },
			"grant": func(t *rapid.T) { m.grant(index(t, m)) },
			"leave": func(t *rapid.T) { m.leave(index(t, m)) },
			"": func(t *rapid.T) {
				if n := m.holders(Lock); n > 1 {
					t.Fatalf("%d holders", n)
				}
				if !m.held() {
					t.Fatal("everyone waits")
				}
			},
		})
	})
}

func TestReadersAndWritersAreNeverAdmittedTogetherNorNobody(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		family := map[string]string{} // reader to the writer it was downgraded from
		t.Repeat(map[string]func(*rapid.T){
			"read":  func(*rapid.T) { m.come(Read, Shared) },
			"write": func(*rapid.T) { m.come(Write, Exclusive) },
			"grant": func(t *rapid.T) { m.grant(index(t, m)) },
			"leave": func(t *rapid.T) { m.leave(index(t, m)) },
			"downgrade": func(t *rapid.T) {
				i := slices.IndexFunc(m.places, func(p Place) bool { return p.Kind == Write && m.holds[p.Node] })
				if i < 0 {
					t.Skip("no writer")
				}
				w := m.places[i]
				m.downgrade(w)
				for _, p := range m.places {
					if p.Kind == Read && p.Sequence == w.Sequence {
						family[p.Node] = w.Node
						if j := slices.IndexFunc(m.places, func(q Place) bool { return q.Node == p.Node }); Shared(m.places, j) != granted {
							t.Fatal("a writer's own read lock is not granted at once")
						}
					}
				}
			},
			"": func(t *rapid.T) {
				writers := m.holders(Write)
				if writers > 1 {
					t.Fatalf("%d writers", writers)
				}
				for _, w := range m.places {
					for _, r := range m.places {
						if w.Kind == Write && m.holds[w.Node] && r.Kind == Read && m.holds[r.Node] && family[r.Node] != w.Node {
							t.Fatal("a reader beside a writer that is not its own")
						}
					}
				}
				if !m.held() {
					t.Fatal("everyone waits")
				}
			},
		})
	})
}

// A rule waits for no contender behind (kazoo #649). The local queue relies on this: a
// contender that waits also waits with more contenders ahead.
func TestARuleWaitsForNobodyBehindAndMoreAheadNeverAdmit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		for range rapid.IntRange(1, 12).Draw(t, "n") {
			if rapid.Bool().Draw(t, "read") {
				m.come(Read, Shared)
			} else {
				m.come(Write, Exclusive)
			}
		}
		for i, p := range m.places {
			rule := m.rules[p.Node]
			if rule(m.places, i) >= i {
				t.Fatalf("%d waits for %d", i, rule(m.places, i))
			}
			var fewer []Place
			for j, q := range m.places {
				if j == i || rapid.Bool().Draw(t, "kept") {
					fewer = append(fewer, q)
				}
			}
			j := slices.IndexFunc(fewer, func(q Place) bool { return q.Node == p.Node })
			if rule(fewer, j) != granted && rule(m.places, i) == granted {
				t.Fatal("more contenders ahead admit")
			}
		}
	})
}
