package wire

import "fmt"

// NewRequest returns an empty body for a request, nil for an operation that is unknown or
// has no body.
func NewRequest(op Op) Record {
	switch op {
	case Create, Create2, CreateContainer:
		return &CreateRequest{}
	case CreateTTL:
		return &CreateTTLRequest{}
	case Delete, Check:
		return &PathVersion{}
	case Exists, GetData, GetChildren, GetChildren2:
		return &PathWatch{}
	case SetData:
		return &SetDataRequest{}
	case SetACL:
		return &SetACLRequest{}
	case GetACL, Sync, GetEphemerals, GetAllChildrenNumber, DeleteContainer:
		return &Path{}
	case Multi, MultiRead:
		return &MultiRequest{}
	case Reconfig:
		return &ReconfigRequest{}
	case CheckWatches, RemoveWatches:
		return &PathWatcherType{}
	case AddWatch:
		return &AddWatchRequest{}
	case Auth:
		return &AuthRequest{}
	case SASL:
		return &SASLToken{}
	case SetWatches:
		return &SetWatchesRequest{}
	case SetWatches2:
		return &SetWatches2Request{}
	}
	return nil
}

// CreateRequest is a create without a time to live.
type CreateRequest struct {
	Path  string
	Data  []byte
	ACL   []ACL
	Flags int32
}

// Fields implements Record.
func (r *CreateRequest) Fields(c *Codec) {
	c.String(&r.Path)
	c.Bytes(&r.Data)
	acls(c, &r.ACL)
	c.Int32(&r.Flags)
}

// CreateTTLRequest is a create with a time to live.
type CreateTTLRequest struct {
	CreateRequest
	TTL int64 // ms
}

// Fields implements Record.
func (r *CreateTTLRequest) Fields(c *Codec) { r.CreateRequest.Fields(c); c.Int64(&r.TTL) }

// PathVersion is a delete or a check: version -1 matches any.
type PathVersion struct {
	Path    string
	Version int32
}

// Fields implements Record.
func (r *PathVersion) Fields(c *Codec) { c.String(&r.Path); c.Int32(&r.Version) }

// PathWatch is a read that may leave a watch.
type PathWatch struct {
	Path  string
	Watch bool
}

// Fields implements Record.
func (r *PathWatch) Fields(c *Codec) { c.String(&r.Path); c.Bool(&r.Watch) }

// Path is a request, or a reply, that is a path and nothing else.
type Path struct{ Path string }

// Fields implements Record.
func (r *Path) Fields(c *Codec) { c.String(&r.Path) }

// SetDataRequest sets a node's data, if it has that version: -1 matches any.
type SetDataRequest struct {
	Path    string
	Data    []byte
	Version int32
}

// Fields implements Record.
func (r *SetDataRequest) Fields(c *Codec) { c.String(&r.Path); c.Bytes(&r.Data); c.Int32(&r.Version) }

// SetACLRequest sets a node's ACL, if that has the version: -1 matches any.
type SetACLRequest struct {
	Path    string
	ACL     []ACL
	Version int32
}

// Fields implements Record.
func (r *SetACLRequest) Fields(c *Codec) { c.String(&r.Path); acls(c, &r.ACL); c.Int32(&r.Version) }

// ReconfigRequest changes the ensemble's members.
type ReconfigRequest struct {
	Joining, Leaving, Members string
	Config                    int64
}

// Fields implements Record.
func (r *ReconfigRequest) Fields(c *Codec) {
	c.String(&r.Joining)
	c.String(&r.Leaving)
	c.String(&r.Members)
	c.Int64(&r.Config)
}

// PathWatcherType is a CheckWatches or RemoveWatches.
type PathWatcherType struct {
	Path string
	Type WatcherType
}

// Fields implements Record.
func (r *PathWatcherType) Fields(c *Codec) { c.String(&r.Path); c.Int32((*int32)(&r.Type)) }

// AddWatchRequest sets a watch that stays.
type AddWatchRequest struct {
	Path string
	Mode int32
}

// Fields implements Record.
func (r *AddWatchRequest) Fields(c *Codec) { c.String(&r.Path); c.Int32(&r.Mode) }

// AuthRequest adds an identity to the connection.
type AuthRequest struct {
	Type   int32
	Scheme string
	Auth   []byte
}

// Fields implements Record.
func (r *AuthRequest) Fields(c *Codec) { c.Int32(&r.Type); c.String(&r.Scheme); c.Bytes(&r.Auth) }

// SASLToken carries a client's token to authenticate, and the server's answer to it.
type SASLToken struct{ Token []byte }

// Fields implements Record.
func (r *SASLToken) Fields(c *Codec) { c.Bytes(&r.Token) }

// SetWatchesRequest sets a client's watches at its next server, which reports at once the
// changes since RelativeZxid.
type SetWatchesRequest struct {
	RelativeZxid       int64
	Data, Exist, Child []string
}

// Fields implements Record.
func (r *SetWatchesRequest) Fields(c *Codec) {
	c.Int64(&r.RelativeZxid)
	c.Strings(&r.Data)
	c.Strings(&r.Exist)
	c.Strings(&r.Child)
}

// SetWatches2Request is a SetWatchesRequest with persistent watches as well.
type SetWatches2Request struct {
	SetWatchesRequest
	Persistent, PersistentRecursive []string
}

// Fields implements Record.
func (r *SetWatches2Request) Fields(c *Codec) {
	r.SetWatchesRequest.Fields(c)
	c.Strings(&r.Persistent)
	c.Strings(&r.PersistentRecursive)
}

// MultiRequest is several operations: changes that take place together or not at all
// (Multi), or reads (MultiRead).
type MultiRequest struct{ Parts []Part }

// Part is one operation of a MultiRequest.
type Part struct {
	Op   Op
	Body Record
}

// multiHeader precedes each part of a multi, and follows the last.
type multiHeader struct {
	Op   Op
	Done bool
	Err  Code
}

func (r *multiHeader) Fields(c *Codec) {
	c.Int32((*int32)(&r.Op))
	c.Bool(&r.Done)
	c.Int32((*int32)(&r.Err))
}

var multiEnd = multiHeader{Op: -1, Done: true, Err: -1}

// Fields implements Record.
func (r *MultiRequest) Fields(c *Codec) {
	if !c.decoding {
		for _, p := range r.Parts {
			h := multiHeader{p.Op, false, -1}
			h.Fields(c)
			p.Body.Fields(c)
		}
		end := multiEnd
		end.Fields(c)
		return
	}
	r.Parts = nil
	for c.err == nil {
		var h multiHeader
		if h.Fields(c); h.Done || c.err != nil {
			return
		}
		switch h.Op {
		case Create, Create2, CreateContainer, CreateTTL, Delete, SetData, Check, GetData, GetChildren:
		default:
			c.err = fmt.Errorf("%w: operation %d in a multi", ErrMalformed, h.Op)
			return
		}
		p := Part{h.Op, NewRequest(h.Op)}
		p.Body.Fields(c)
		r.Parts = append(r.Parts, p)
	}
}
