package wire

// ID is an identity: its scheme, and its name in that scheme.
type ID struct {
	Scheme string
	ID     string
}

// Fields implements Record.
func (r *ID) Fields(c *Codec) { c.String(&r.Scheme); c.String(&r.ID) }

// ACL is a permission of an identity.
type ACL struct {
	Perms int32
	ID    ID
}

// Fields implements Record.
func (r *ACL) Fields(c *Codec) { c.Int32(&r.Perms); r.ID.Fields(c) }

func acls(c *Codec, v *[]ACL) { list(c, v, func(a *ACL) { a.Fields(c) }) }

// Stat is the stat of a node.
type Stat struct {
	Czxid, Mzxid                int64
	Ctime, Mtime                int64 // ms since 1970
	Version, Cversion, Aversion int32
	EphemeralOwner              int64
	DataLength, NumChildren     int32
	Pzxid                       int64
}

// Fields implements Record.
func (r *Stat) Fields(c *Codec) {
	c.Int64(&r.Czxid)
	c.Int64(&r.Mzxid)
	c.Int64(&r.Ctime)
	c.Int64(&r.Mtime)
	c.Int32(&r.Version)
	c.Int32(&r.Cversion)
	c.Int32(&r.Aversion)
	c.Int64(&r.EphemeralOwner)
	c.Int32(&r.DataLength)
	c.Int32(&r.NumChildren)
	c.Int64(&r.Pzxid)
}

// ConnectRequest is the first frame of a connection. Clients before 3.4 send none of
// ReadOnly.
type ConnectRequest struct {
	ProtocolVersion int32
	LastZxidSeen    int64
	Timeout         int32 // ms
	Session         int64 // 0 for a new one
	Password        []byte
	ReadOnly        bool
	HasReadOnly     bool // not encoded: whether ReadOnly is
}

// Fields implements Record.
func (r *ConnectRequest) Fields(c *Codec) {
	c.Int32(&r.ProtocolVersion)
	c.Int64(&r.LastZxidSeen)
	c.Int32(&r.Timeout)
	c.Int64(&r.Session)
	c.Bytes(&r.Password)
	r.HasReadOnly = optional(c, &r.ReadOnly, r.HasReadOnly)
}

// optional is a last field that may be missing.
func optional(c *Codec, v *bool, has bool) bool {
	if c.decoding {
		has = len(c.buf) > 0
	}
	if has {
		c.Bool(v)
	}
	return has
}

// ConnectResponse answers a ConnectRequest. A timeout of 0 means that the session has
// expired.
type ConnectResponse struct {
	ProtocolVersion int32
	Timeout         int32 // ms, as negotiated
	Session         int64
	Password        []byte
	ReadOnly        bool
	HasReadOnly     bool // not encoded: whether ReadOnly is
}

// Fields implements Record.
func (r *ConnectResponse) Fields(c *Codec) {
	c.Int32(&r.ProtocolVersion)
	c.Int32(&r.Timeout)
	c.Int64(&r.Session)
	c.Bytes(&r.Password)
	r.HasReadOnly = optional(c, &r.ReadOnly, r.HasReadOnly)
}

// RequestHeader begins each later frame of a client.
type RequestHeader struct {
	Xid int32
	Op  Op
}

// Fields implements Record.
func (r *RequestHeader) Fields(c *Codec) { c.Int32(&r.Xid); c.Int32((*int32)(&r.Op)) }

// ReplyHeader begins each later frame of a server.
type ReplyHeader struct {
	Xid  int32
	Zxid int64
	Err  Code
}

// Fields implements Record.
func (r *ReplyHeader) Fields(c *Codec) {
	c.Int32(&r.Xid)
	c.Int64(&r.Zxid)
	c.Int32((*int32)(&r.Err))
}

// WatcherEvent is the body of a notification.
type WatcherEvent struct {
	Type  EventType
	State int32 // 3: connected
	Path  string
}

// Fields implements Record.
func (r *WatcherEvent) Fields(c *Codec) {
	c.Int32((*int32)(&r.Type))
	c.Int32(&r.State)
	c.String(&r.Path)
}
