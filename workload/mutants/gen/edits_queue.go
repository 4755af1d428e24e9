package main

// queueEdits are defects in how the queue is read.
var queueEdits = []edit{
	// mutant-name-order, mutant-numbers-as-text, mutant-number-wraps
	{"line.go", "	ahead := c.rule(places, i)\n", `	if wrong := wrongOrders[q.s.client.cfg.defect]; wrong != nil {
		places = slices.Clone(places)
		slices.SortFunc(places, wrong)
		i = slices.IndexFunc(places, func(p Place) bool { return p.Node == c.node })
	}
	ahead := c.rule(places, i)
`},
	{"nodes.go", "// queue returns the contenders of these kinds", `// wrongOrders are those of defects.
var wrongOrders = map[string]func(a, b Place) int{
	"mutant-name-order": func(a, b Place) int { return cmp.Compare(a.Node, b.Node) },
	"mutant-numbers-as-text": func(a, b Place) int {
		return cmp.Compare(strconv.Itoa(int(a.Sequence)), strconv.Itoa(int(b.Sequence)))
	},
	"mutant-number-wraps": func(a, b Place) int { return cmp.Compare(int8(a.Sequence<<2), int8(b.Sequence<<2)) }, // at 32
}

// queue returns the contenders of these kinds`},

	// mutant-foreign-child
	{"line.go", "	places := queue(children, q.kinds)\n", `	places := queue(children, q.kinds)
	if q.s.client.cfg.defect == "mutant-foreign-child" {
		for _, child := range children {
			if _, ok := parsePlace(child, q.kinds); !ok {
				places = slices.Insert(places, 0, Place{Node: child, Kind: q.kinds[0], Sequence: -1})
			}
		}
	}
`},

	// mutant-restarted-sequence, mutant-sequence-token, mutant-missing-parent
	{"contender.go", "	c.q.gone(c.node)\n", `	switch c.s.client.cfg.defect {
	case "mutant-restarted-sequence", "mutant-sequence-token", "mutant-missing-parent":
		_ = c.s.conn.Delete(c.q.dir, -1) // refused while anybody is in the queue
	}
	c.q.gone(c.node)
`},
	{"lease.go", "	if lost {\n", `	if lost {
		if h.client.cfg.defect == "mutant-restarted-sequence" {
			stubbornly(h.client, func(conn *zk.Conn) error {
				own, _ := parsePlace(h.place.node, lockKinds)
				for range 100 { // it cannot know that it is done
					children, _, err := conn.Children(l.Path())
					for _, p := range queue(children, lockKinds) {
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
	{"contender.go", "				c.enqueued(paths[i], token)\n", `				if s.client.cfg.defect == "mutant-sequence-token" {
					p, _ := parsePlace(paths[i][strings.LastIndexByte(paths[i], '/')+1:], c.q.kinds)
					token = Token{Zxid: int64(p.Sequence) + 1}
				}
				c.enqueued(paths[i], token)
`},
	{"contender.go", "	abandoned := func(paths []string, err error) {\n", `	if s.client.cfg.defect == "mutant-missing-parent" {
		if _, made := s.client.stale.LoadOrStore(all[0].q.dir, true); !made {
			if err := createParents(ctx, s, all[0].q.dir); err != nil {
				return err
			}
		}
	}
	abandoned := func(paths []string, err error) {
`},
	{"contender.go", "		case errors.Is(err, zk.ErrNoNode):\n			for _, c := range all {\n", `		case errors.Is(err, zk.ErrNoNode):
			if s.client.cfg.defect == "mutant-missing-parent" {
				return err
			}
			for _, c := range all {
`},
}
