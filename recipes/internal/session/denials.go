package session

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync"

	"github.com/go-zookeeper/zk"
)

// noAuth is the code of a server's answer to a client without a permission. The answer
// names neither the node nor the permission.
const noAuth = -102

// Further operations whose path is read.
const (
	opExists       = 3
	opGetData      = 4
	opSetACL       = 7
	opGetChildren  = 8
	opGetChildren2 = 12
	opCheck        = 13
	opCreate2      = 15
	opCreateTTL    = 21
)

// requestPart is one operation of a request.
type requestPart struct {
	op   int32
	path string
}

// denial is a permission that a server has refused.
type denial struct{ node, permission string }

// denials holds the latest denials of a client, oldest first.
type denials struct {
	mu     sync.Mutex
	latest []denial
}

// keptDenials is the number of denials that are remembered: those of requests that are
// under way together.
const keptDenials = 64

func (d *denials) add(p requestPart) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.latest) == keptDenials {
		d.latest = append(d.latest[:0], d.latest[1:]...)
	}
	d.latest = append(d.latest, p.needs())
}

// needs returns the permission that an operation needs. Creating and deleting a node needs
// a permission of its parent.
func (p requestPart) needs() denial {
	parent := p.path[:max(1, strings.LastIndexByte(p.path, '/'))]
	switch p.op {
	case opCreate, opCreate2, opCreateContainer, opCreateTTL:
		return denial{parent, "create"}
	case opDelete:
		return denial{parent, "delete"}
	case opSetData:
		return denial{p.path, "write"}
	case opSetACL:
		return denial{p.path, "admin"}
	}
	return denial{p.path, "read"}
}

// about returns the latest denial that concerns one of the paths, or a node above or below
// one.
func (d *denials) about(paths []string) (denial, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := len(d.latest) - 1; i >= 0; i-- {
		node := d.latest[i].node
		for _, path := range paths {
			if node == "/" || node == path || strings.HasPrefix(path, node+"/") || strings.HasPrefix(node, path+"/") {
				return d.latest[i], true
			}
		}
	}
	return denial{}, false
}

// of adds the permission to an error.
func (d denial) of(err error) error {
	return fmt.Errorf("%w: the client has no permission to %s at %s", err, d.permission, d.node)
}

// Refused adds to the error of a transaction the permission that its failed operation
// lacked. op is one of the operations of zk.Conn.Multi.
func Refused(err error, op any) error {
	var p requestPart
	switch op := op.(type) {
	case *zk.CreateRequest:
		p = requestPart{opCreate, op.Path}
	case *zk.DeleteRequest:
		p = requestPart{opDelete, op.Path}
	case *zk.SetDataRequest:
		p = requestPart{opSetData, op.Path}
	case *zk.CheckVersionRequest:
		p = requestPart{opCheck, op.Path}
	default:
		return err
	}
	return p.needs().of(err)
}

// parts returns the operations of a request, without its header, as far as they can be
// read.
func parts(op int32, body []byte) []requestPart {
	if op != opMulti {
		path, _ := cutString(body)
		return []requestPart{{op, path}}
	}
	var all []requestPart
	for len(body) >= 9 {
		op := int32(binary.BigEndian.Uint32(body))
		path, rest := cutString(body[9:])
		if path == "" {
			break
		}
		all = append(all, requestPart{op, path})
		body = behind(op, rest)
	}
	return all
}

// behind returns the bytes after an operation of a multi whose path has been read.
func behind(op int32, rest []byte) []byte {
	switch op {
	case opCreate, opCreate2, opCreateContainer:
		_, rest = cutString(rest) // data
		if len(rest) < 4 {
			return nil
		}
		n := binary.BigEndian.Uint32(rest)
		for rest = rest[4:]; n > 0 && len(rest) > 4; n-- {
			_, rest = cutString(rest[4:]) // scheme
			_, rest = cutString(rest)     // id
		}
	case opSetData:
		_, rest = cutString(rest)
	}
	return rest[min(4, len(rest)):] // flags, or version
}

// cutString reads a string or a buffer, and returns it and the bytes after it.
func cutString(p []byte) (string, []byte) {
	if len(p) < 4 {
		return "", nil
	}
	n := int(int32(binary.BigEndian.Uint32(p)))
	if p = p[4:]; n < 0 {
		return "", p // null
	} else if n > len(p) {
		return "", nil
	}
	return string(p[:n]), p[n:]
}

// refusedPart returns the operation that a reply refuses for lack of a permission.
func refusedPart(c wireCall, code int32, body []byte) (requestPart, bool) {
	switch {
	case code == noAuth && len(c.parts) == 1 && strings.HasPrefix(c.parts[0].path, "/"):
		return c.parts[0], true
	case code != 0 || c.op != opMulti:
		return requestPart{}, false
	}
	const size = 9 + 4 // of a result that is an error
	for i := 0; i < len(c.parts) && len(body) >= size && int32(binary.BigEndian.Uint32(body)) == -1; i, body = i+1, body[size:] {
		if int32(binary.BigEndian.Uint32(body[9:])) == noAuth {
			return c.parts[i], true
		}
	}
	return requestPart{}, false
}
