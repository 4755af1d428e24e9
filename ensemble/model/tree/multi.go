package tree

import "github.com/zkverify/zkverify/ensemble/model/wire"

// multi checks the parts, each on the draft of the earlier ones. The first part that
// fails becomes an Error, and so do all after it, which are not checked. A multi that the
// server cannot read fails as a whole.
func (d *draft) multi(r Request) (Change, wire.Code) {
	body, ok := r.Body.(*wire.MultiRequest)
	if !ok {
		return nil, wire.MarshallingError
	}
	var m Multi
	failed := false
	ops, code := partOps(d.tree.release, body.Parts)
	if code != wire.OK {
		return nil, code
	}
	for i, p := range body.Parts {
		if failed {
			m.Parts = append(m.Parts, Part{wire.ErrorOp, Error{wire.RuntimeInconsistency}})
			continue
		}
		record, ok := partBody(ops[i], p.Body)
		if !ok {
			return nil, wire.MarshallingError
		}
		change, code := d.change(ops[i], record, r.Auth)
		if failed = code != wire.OK; failed {
			m.Parts = append(m.Parts, Part{wire.ErrorOp, Error{code}})
			continue
		}
		m.Parts = append(m.Parts, Part{ops[i], change})
	}
	return m, wire.OK
}

// partOps returns the operations as which the server treats the parts. Those of creates
// come from their flags: a Create with the flag of a container is a CreateContainer here.
func partOps(release Release, parts []wire.Part) ([]wire.Op, wire.Code) {
	ops := make([]wire.Op, len(parts))
	for i, p := range parts {
		var flags int32
		switch b := p.Body.(type) {
		case *wire.CreateRequest:
			flags = b.Flags
			if release == V39 && !readable39(b) {
				return nil, wire.MarshallingError
			}
		case *wire.CreateTTLRequest:
			flags = b.Flags
		case *wire.PathVersion, *wire.SetDataRequest:
			ops[i] = p.Op
			continue
		default:
			return nil, wire.MarshallingError // a read, or a part that was not decoded
		}
		switch {
		case flags == wire.FlagContainer:
			ops[i] = wire.CreateContainer
		case flags == wire.FlagPersistentTTL || flags == wire.FlagPersistentSequentialTTL:
			ops[i] = wire.CreateTTL
		case release == V38 || p.Op == wire.CreateTTL:
			ops[i] = wire.Create // change refuses unknown flags
		default:
			ops[i] = p.Op
		}
	}
	return ops, wire.OK
}

// readable39 reports whether 3.9 accepts a create in a multi before it looks at any part:
// it needs known flags that need no time to live, and a list of ACLs, which may be empty.
func readable39(r *wire.CreateRequest) bool {
	return r.Flags >= wire.FlagPersistent && r.Flags <= wire.FlagContainer && r.ACL != nil
}

// partBody returns the body that the operation has. A time to live is dropped where the
// flags have none; where they need one that the part lacks, the server cannot go on.
func partBody(op wire.Op, body wire.Record) (wire.Record, bool) {
	switch b := body.(type) {
	case *wire.CreateTTLRequest:
		if op != wire.CreateTTL {
			return &b.CreateRequest, true
		}
	case *wire.CreateRequest:
		return b, op != wire.CreateTTL
	}
	return body, true
}
