package wire

import "fmt"

// NewReply returns an empty body for the reply to a successful request, nil for a reply
// that has no body.
func NewReply(op Op) Record {
	switch op {
	case Create, Sync:
		return &Path{}
	case Create2, CreateContainer, CreateTTL:
		return &CreateReply{}
	case Exists, SetData, SetACL:
		return &Stat{}
	case GetData, Reconfig:
		return &DataReply{}
	case GetACL:
		return &ACLReply{}
	case GetChildren:
		return &ChildrenReply{}
	case GetChildren2:
		return &Children2Reply{}
	case Multi, MultiRead:
		return &MultiReply{}
	case GetEphemerals:
		return &ChildrenReply{}
	case GetAllChildrenNumber:
		return &NumberReply{}
	case WhoAmI:
		return &WhoAmIReply{}
	case AddWatch:
		return &ErrorReply{}
	}
	return nil
}

// CreateReply is a node's path and stat.
type CreateReply struct {
	Path string
	Stat Stat
}

// Fields implements Record.
func (r *CreateReply) Fields(c *Codec) { c.String(&r.Path); r.Stat.Fields(c) }

// DataReply is a node's data and stat.
type DataReply struct {
	Data []byte
	Stat Stat
}

// Fields implements Record.
func (r *DataReply) Fields(c *Codec) { c.Bytes(&r.Data); r.Stat.Fields(c) }

// ACLReply is a node's ACL and stat.
type ACLReply struct {
	ACL  []ACL
	Stat Stat
}

// Fields implements Record.
func (r *ACLReply) Fields(c *Codec) { acls(c, &r.ACL); r.Stat.Fields(c) }

// ChildrenReply has names, or the paths of a session's ephemeral nodes.
type ChildrenReply struct{ Children []string }

// Fields implements Record.
func (r *ChildrenReply) Fields(c *Codec) { c.Strings(&r.Children) }

// Children2Reply has names and the stat of their parent.
type Children2Reply struct {
	Children []string
	Stat     Stat
}

// Fields implements Record.
func (r *Children2Reply) Fields(c *Codec) { c.Strings(&r.Children); r.Stat.Fields(c) }

// NumberReply has the number of all nodes below one.
type NumberReply struct{ Number int32 }

// Fields implements Record.
func (r *NumberReply) Fields(c *Codec) { c.Int32(&r.Number) }

// WhoAmIReply lists the identities of a connection, without their secrets.
type WhoAmIReply struct{ IDs []ID }

// Fields implements Record.
func (r *WhoAmIReply) Fields(c *Codec) { list(c, &r.IDs, func(i *ID) { i.Fields(c) }) }

// ErrorReply is the body of a part of a multi that failed, or was not carried out because
// another part failed (RuntimeInconsistency), or would have succeeded (OK). An AddWatch
// that succeeds has one too.
type ErrorReply struct{ Err Code }

// Fields implements Record.
func (r *ErrorReply) Fields(c *Codec) { c.Int32((*int32)(&r.Err)) }

// MultiReply has a result for each part.
type MultiReply struct{ Results []Result }

// Result is the result of one part. In a multi that failed each is an ErrorOp.
type Result struct {
	Op   Op
	Err  Code
	Body Record // nil for a delete and a check
}

// Fields implements Record.
func (r *MultiReply) Fields(c *Codec) {
	if !c.decoding {
		for _, p := range r.Results {
			h := multiHeader{p.Op, false, p.Err}
			h.Fields(c)
			if p.Body != nil {
				p.Body.Fields(c)
			}
		}
		end := multiEnd
		end.Fields(c)
		return
	}
	r.Results = nil
	for c.err == nil {
		var h multiHeader
		if h.Fields(c); h.Done || c.err != nil {
			return
		}
		p := Result{Op: h.Op, Err: h.Err}
		switch h.Op {
		case ErrorOp:
			p.Body = &ErrorReply{}
		case Delete, Check:
		case Create, Create2, CreateContainer, CreateTTL, SetData, GetData, GetChildren:
			p.Body = NewReply(h.Op)
		default:
			c.err = fmt.Errorf("%w: operation %d in the reply to a multi", ErrMalformed, h.Op)
			return
		}
		if p.Body != nil {
			p.Body.Fields(c)
		}
		r.Results = append(r.Results, p)
	}
}
