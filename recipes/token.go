package recipes

import (
	"cmp"
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
)

// Token is a fencing token. Every later grant of a lock has a greater token, also after its parent
// node was deleted and created again, and after sequence numbers wrapped. Send it along with every
// write to the resource that the lock protects, and let the resource refuse older tokens (see
// [Fence]).
//
// Tokens are comparable with == and ordered by [Token.Compare]. The zero Token is older than every
// token that is ever issued. As text and in JSON a Token has the form that String returns and
// [ParseToken] reads; in a database that of [Token.Value].
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
// it is not zero: "0x10000002a", "0x10000002a.3".
func (t Token) String() string {
	if t.Sub == 0 {
		return fmt.Sprintf("0x%x", t.Zxid)
	}
	return fmt.Sprintf("0x%x.%d", t.Zxid, t.Sub)
}

// ParseToken parses text that String or Value has written: "0x", at most 16 hexadecimal digits in
// lower case, and, after a dot, at most 10 decimal digits. Numbers out of range are no token. Two
// texts are the same token if they differ only in leading zeros of a number.
func ParseToken(text string) (Token, error) {
	digits, ok := strings.CutPrefix(text, "0x")
	digits, sub, dotted := strings.Cut(digits, ".")
	if !ok || !isNumber(digits, 16, "0123456789abcdef") || dotted && !isNumber(sub, 10, "0123456789") {
		return Token{}, badToken(text)
	}
	var t Token
	var err error
	if t.Zxid, err = strconv.ParseInt(digits, 16, 64); err != nil {
		return Token{}, badToken(text)
	}
	if dotted {
		n, err := strconv.ParseInt(sub, 10, 32)
		if err != nil {
			return Token{}, badToken(text)
		}
		t.Sub = int32(n)
	}
	return t, nil
}

// isNumber reports whether text has one to most characters, all of them digits.
func isNumber(text string, most int, digits string) bool {
	return len(text) > 0 && len(text) <= most && strings.Trim(text, digits) == ""
}

// badToken returns an error that quotes the beginning of the text.
func badToken(text string) error { return fmt.Errorf("%w: %.40q", ErrBadToken, text) }

// check returns an error for a token that no lease has, and that ParseToken would not accept.
func (t Token) check() error {
	if t.Zxid < 0 || t.Sub < 0 {
		return badToken(t.String())
	}
	return nil
}

// MarshalText implements [encoding.TextMarshaler], and so JSON: the text is that of String.
func (t Token) MarshalText() ([]byte, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	return []byte(t.String()), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler], and so JSON, as ParseToken does. An error
// leaves the token unchanged.
func (t *Token) UnmarshalText(text []byte) error {
	parsed, err := ParseToken(string(text))
	if err == nil {
		*t = parsed
	}
	return err
}

// Value implements [driver.Valuer]. A token in a database is text of 29 bytes, both numbers
// with all their zeros: "0x000000010000002a.0000000003". The order of such text, byte by
// byte or by a collation that has digits before letters, is that of Compare, so that a
// statement can refuse an old token:
//
//	UPDATE accounts SET balance = ?, token = ? WHERE id = ? AND token <= ?
func (t Token) Value() (driver.Value, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	return fmt.Sprintf("0x%016x.%010d", t.Zxid, t.Sub), nil
}

// Scan implements [sql.Scanner] for values that Value or String has written, as text or as bytes.
// NULL is the zero Token, which is older than every other; in SQL no value is older than NULL, so
// make such a column NOT NULL. An error leaves the token unchanged.
//
// [sql.Scanner]: https://pkg.go.dev/database/sql#Scanner
func (t *Token) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*t = Token{}
		return nil
	case string:
		return t.UnmarshalText([]byte(v))
	case []byte:
		return t.UnmarshalText(v)
	}
	return fmt.Errorf("%w: a value of type %T", ErrBadToken, value)
}
