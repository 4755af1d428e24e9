package recipes

import (
	"cmp"
	"fmt"
)

// Token is a fencing token. Every later grant of a lock has a greater token,
// also after its parent node was deleted and made anew, and after sequence
// numbers wrapped. Send it along with every write to the resource that the
// lock protects, and let the resource refuse older ones (see [Fence]).
//
// Tokens are comparable with == and ordered by [Token.Compare]. The zero Token
// is older than every token that is ever issued.
type Token struct {
	// Zxid is the czxid of the lock node: the ZooKeeper transaction that
	// created it.
	Zxid int64
	// Sub orders leases that share a transaction.
	Sub int32
}

// Compare returns a negative number when t is older than u, zero when they are
// equal, a positive number when t is newer.
func (t Token) Compare(u Token) int {
	if c := cmp.Compare(t.Zxid, u.Zxid); c != 0 {
		return c
	}
	return cmp.Compare(t.Sub, u.Sub)
}

// IsZero reports whether t is the zero Token.
func (t Token) IsZero() bool { return t == Token{} }

// String returns the zxid in hexadecimal, as ZooKeeper prints it, and Sub if
// it is not zero.
func (t Token) String() string {
	if t.Sub == 0 {
		return fmt.Sprintf("0x%x", t.Zxid)
	}
	return fmt.Sprintf("0x%x.%d", t.Zxid, t.Sub)
}
