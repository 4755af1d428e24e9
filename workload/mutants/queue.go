package mutants

import "github.com/zkverify/zkverify/histories"

// queueDefects misread the queue.
var queueDefects = []Defect{
	{"mutant-name-order", histories.Mutex, "mutual exclusion",
		"ZOOKEEPER-2931",
		"orders the queue by the whole names of its nodes, random part included"},
	{"mutant-numbers-as-text", histories.Mutex, "mutual exclusion",
		"ZOOKEEPER-4706, kazoo #606",
		"orders the queue by its numbers as text, so that 10 comes before 9"},
	{"mutant-number-wraps", histories.Mutex, "mutual exclusion",
		"ZOOKEEPER-4372, kazoo #730",
		"reads the numbers of the queue into a type that is too small, where they wrap to negative ones"},
	{"mutant-foreign-child", histories.Mutex, "progress",
		"CURATOR-43",
		"takes every node in the lock's directory for a contender"},
	{"mutant-restarted-sequence", histories.Mutex, "mutual exclusion",
		"zk-ruby #34",
		"knows its node by the number, which comes again when the directory of an idle lock is deleted: a stale owner goes on deleting others' nodes"},
	{"mutant-sequence-token", histories.Mutex, "fencing",
		"zk-ruby #34, ZOOKEEPER-4372",
		"takes the number of the node for a fencing token, and deletes the directory of an idle lock"},
	{"mutant-missing-parent", histories.Mutex, "progress",
		"CURATOR-180, kazoo #61, #563",
		"makes the directory of a lock once; when it was reaped, every acquire fails"},
}

// queueEdits are the edits of queueDefects.
var queueEdits = []edit{
	// mutant-name-order, mutant-numbers-as-text, mutant-number-wraps, mutant-latch-name-order
	{"internal/queue/judge.go", "	ahead := c.rule(places, i)\n", `	if wrong := wrongOrders[q.s.Defect()]; wrong != nil {
		places = slices.Clone(places)
		slices.SortFunc(places, wrong)
		i = slices.IndexFunc(places, func(p Place) bool { return p.Node == c.Node })
	}
	ahead := c.rule(places, i)
`},
	{"internal/queue/places.go", "// Places returns the contenders of these kinds", `// wrongOrders are those of defects.
var wrongOrders = map[string]func(a, b Place) int{
	"mutant-name-order": func(a, b Place) int { return cmp.Compare(a.Node, b.Node) },
	"mutant-latch-name-order": func(a, b Place) int {
		if a.Kind != Latch {
			return order(a, b)
		}
		return cmp.Compare(a.Node, b.Node)
	},
	"mutant-numbers-as-text": func(a, b Place) int {
		return cmp.Compare(strconv.Itoa(int(a.Sequence)), strconv.Itoa(int(b.Sequence)))
	},
	"mutant-number-wraps": func(a, b Place) int { return cmp.Compare(int8(a.Sequence<<2), int8(b.Sequence<<2)) }, // at 32
}

// Places returns the contenders of these kinds`},

	// mutant-foreign-child
	{"internal/queue/lists.go", "	places := Places(children, q.kinds)\n", `	places := Places(children, q.kinds)
	if q.s.Defect() == "mutant-foreign-child" {
		for _, child := range children {
			if _, ok := ParsePlace(child, q.kinds); !ok {
				places = slices.Insert(places, 0, Place{Node: child, Kind: q.kinds[0], Sequence: -1})
			}
		}
	}
`},

	// mutant-restarted-sequence, mutant-sequence-token, mutant-missing-parent
	{"internal/queue/contender.go", "	c.q.gone(c.Node)\n", `	switch c.S.Defect() {
	case "mutant-restarted-sequence", "mutant-sequence-token", "mutant-missing-parent":
		_ = c.S.Conn.Delete(c.q.dir, -1) // refused while a contender is in the queue
	}
	c.q.gone(c.Node)
`},
	{"lease.go", "	if lost {\n", `	if lost {
		if h.S.Defect() == "mutant-restarted-sequence" {
			stubbornly(h.registry.sessions, func(conn *zk.Conn) error {
				own, _ := queue.ParsePlace(h.Nodes[0][len(l.Path())+1:], queue.Locks)
				for range 100 { // it cannot know that it is done
					children, _, err := conn.Children(l.Path())
					for _, p := range queue.Places(children, queue.Locks) {
						if p.Sequence == own.Sequence {
							err = errors.Join(err, conn.Delete(l.Path()+"/"+p.Node, -1))
						}
					}
					if err != nil && !errors.Is(err, zk.ErrNoNode) {
						return err
					}
					time.Sleep(20 * time.Millisecond)
				}
				return nil
			})
		}
`},
	{"internal/queue/enqueue.go", "				c.enqueued(paths[i], zxid)\n", `				if s.Defect() == "mutant-sequence-token" {
					p, _ := ParsePlace(paths[i][strings.LastIndexByte(paths[i], '/')+1:], c.q.kinds)
					zxid = int64(p.Sequence) + 1
				}
				c.enqueued(paths[i], zxid)
`},
	{"internal/queue/enqueue.go", "	var parents session.Parents\n", `	if s.Defect() == "mutant-missing-parent" {
		if _, made := s.Stale.LoadOrStore(all[0].q.dir, true); !made {
			if err := new(session.Parents).Create(ctx, s, all[0].q.dir); err != nil {
				return err
			}
		}
	}
	var parents session.Parents
`},
	{"internal/queue/enqueue.go", "		case errors.Is(err, zk.ErrNoNode):\n			var dirs []string\n", `		case errors.Is(err, zk.ErrNoNode):
			if s.Defect() == "mutant-missing-parent" {
				return err
			}
			var dirs []string
`},
}
