package mutants

import "github.com/zkverify/zkverify/histories"

var revocationDefects = []Defect{
	{"mutant-revocation-before-watch", histories.Revocation, "revocation",
		"Curator's revocation",
		"does not look for a request when it sets its watch: one that came before is lost"},
	{"mutant-revocation-of-all", histories.Revocation, "revocation",
		"Curator's revocation",
		"asks those who wait for the lock as well"},
	{"mutant-revocation-data-stays", histories.Revocation, "revocation",
		"Curator's revocation",
		"does not put the data of the lock back: a second request looks like the first"},
	{"mutant-revocation-disarmed", histories.Revocation, "revocation",
		"Curator's revocation",
		"the release of one lease takes away the listeners of the next one on the same lock"},
	{"mutant-revocation-forces", histories.Revocation, "revocation",
		"a revocation that does not ask",
		"deletes the node of the holder instead of asking it"},
	{"mutant-revocation-of-previous", histories.Revocation, "revocation",
		"Curator's revocation",
		"tells the client's previous lease on the same lock, which was given back, as well"},
}

var revocationEdits = []edit{
	// mutant-revocation-before-watch
	{"hold.go", "	watched  bool             // for revocation\n", "	watched  bool             // for revocation\n	looked   bool             // at the data, once\n"},
	{"revocation.go", "	n, err := readNode(ctx, h.S, path)", `	if h.S.Defect() == "mutant-revocation-before-watch" && !h.looked {
		h.looked = true
		return watch, nil
	}
	n, err := readNode(ctx, h.S, path)`},

	// mutant-revocation-of-all
	{"revocation.go", "		// A repetition after a lost reply is the same request.\n", `		if c.cfg.Defect == "mutant-revocation-of-all" {
			dir := path[:strings.LastIndexByte(path, '/')]
			children, _, _ := s.Conn.Children(dir)
			for _, child := range children {
				_, _ = s.Conn.Set(dir+"/"+child, []byte(revokeData), -1)
			}
		}
		// A repetition after a lost reply is the same request.
`},

	// mutant-revocation-data-stays
	{"revocation.go", "	if !h.over && n.version > last {", `	if !h.over && n.version > last && !(h.asked && h.S.Defect() == "mutant-revocation-data-stays") {`},
	{"revocation.go", "	// A request that comes in between is not overwritten", `	if h.S.Defect() == "mutant-revocation-data-stays" {
		return watch, nil
	}
	// A request that comes in between is not overwritten`},

	// mutant-revocation-disarmed
	{"lease.go", "		s.Remove(h)\n		h.timer.Stop()", `		if h.S.Defect() == "mutant-revocation-disarmed" {
			h.S.Kept.Store(h.key.path, true)
		}
		s.Remove(h)
		h.timer.Stop()`},
	{"revocation.go", "	id := new(byte)\n", `	if _, off := h.S.Kept.Load(h.key.path); off {
		return func() {}
	}
	id := new(byte)
`},

	// mutant-revocation-forces
	{"revocation.go", "		_, err = session.Retry(ctx, s, func() (*zk.Stat, error) { return s.Conn.Set(path, []byte(revokeData), -1) })\n", `		_, err = session.Retry(ctx, s, func() (*zk.Stat, error) {
			if c.cfg.Defect == "mutant-revocation-forces" {
				return nil, s.Conn.Delete(path, -1)
			}
			return s.Conn.Set(path, []byte(revokeData), -1)
		})
`},

	// mutant-revocation-of-previous
	{"hold.go", "	answered int32            // the version up to which there is no request to the leader of an election\n", "	answered int32            // the version up to which there is no request to the leader of an election\n	before   *hold            // the one that the client had before\n"},
	{"revocation.go", "	h.revoke[id] = listener\n", `	h.revoke[id] = listener
	if h.S.Defect() == "mutant-revocation-of-previous" {
		if before, ok := h.S.Kept.Swap("listened "+h.key.path, h); ok && before != h {
			h.before = before.(*hold)
		}
	}
`},
	{"revocation.go", "		for id := range h.revoke {\n			h.registry.post", `		if before := h.before; before != nil {
			h.registry.post(func() {
				for _, id := range slices.Collect(maps.Keys(before.revoke)) {
					before.tell(id)
				}
			})
		}
		for id := range h.revoke {
			h.registry.post`},
	{"revocation.go", "	\"errors\"\n", "	\"errors\"\n	\"maps\"\n	\"slices\"\n"},
}
