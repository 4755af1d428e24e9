package histories

import (
	"bytes"
	"time"
)

// reader decodes the lines that Encode writes, without reflection: encoding/json
// would take most of the time of judging a long history. It leaves lines of any
// other form to encoding/json, which also reports the errors.
type reader struct {
	line []byte
	at   int
	bad  bool

	// Equal strings of a history share their memory.
	strings map[string]string
}

// maxShared bounds the strings that a reader remembers.
const maxShared = 1 << 16

// event reads one line into e. It reports false for a line that encoding/json must decode.
func (r *reader) event(line []byte, e *Event) bool {
	*e = Event{}
	r.line, r.at, r.bad = line, 0, false
	var seen uint32
	r.skip('{')
	for !r.bad {
		bit := r.field(r.key(), e)
		if bit == 0 || r.bad || seen&bit != 0 {
			return false
		}
		seen |= bit
		if r.next() == '}' {
			const required = 1<<0 | 1<<1 | 1<<2
			return !r.bad && r.at == len(r.line) && seen&required == required
		}
	}
	return false
}

// field reads the value of a field into e and returns the field's bit, or 0 for a field
// that it does not know.
func (r *reader) field(name []byte, e *Event) (bit uint32) {
	switch string(name) { // compared, not copied
	case "time":
		bit, e.Time = 1<<0, time.Duration(r.number(63))
	case "type":
		bit, e.Type = 1<<1, Type(r.text())
	case "process":
		bit, e.Process = 1<<2, int(r.number(31))
	case "op":
		bit, e.Op = 1<<3, Op(r.text())
	case "lock":
		bit, e.Lock = 1<<4, r.text()
	case "mode":
		bit, e.Mode = 1<<5, Mode(r.text())
	case "permits":
		bit, e.Permits = 1<<6, int(r.number(31))
	case "owner":
		bit, e.Owner = 1<<7, r.text()
	case "session":
		bit, e.Session = 1<<8, r.text()
	case "token":
		bit, e.Token = 1<<9, r.token()
	case "position":
		bit, e.Position = 1<<10, int(r.number(31))
	case "sequence":
		bit, e.Sequence = 1<<11, int(r.number(31))
	case "depth":
		bit, e.Depth = 1<<12, int(r.number(31))
	case "store":
		bit, e.Store = 1<<13, r.text()
	case "value":
		bit, e.Value = 1<<14, r.number(63)
	case "size":
		bit, e.Size = 1<<15, int(r.number(31))
	case "generation":
		bit, e.Generation = 1<<16, int(r.number(31))
	case "since":
		bit, e.Since = 1<<19, time.Duration(r.number(63))
	case "late":
		bit, e.Late = 1<<20, time.Duration(r.number(63))
	case "saying":
		bit, e.Saying = 1<<17, r.saying()
	case "refused":
		bit, e.Refused = 1<<18, r.yes()
	case "unexplained":
		bit, e.Unexplained = 1<<21, r.yes()
	}
	return bit
}

// skip reads the byte c.
func (r *reader) skip(c byte) {
	if r.at >= len(r.line) || r.line[r.at] != c {
		r.bad = true
		return
	}
	r.at++
}

// next reads the comma or the brace after a value.
func (r *reader) next() byte {
	if r.at < len(r.line) {
		if c := r.line[r.at]; c == ',' || c == '}' {
			r.at++
			return c
		}
	}
	r.bad = true
	return 0
}

// quoted reads a string of printable ASCII without escapes.
func (r *reader) quoted() []byte {
	r.skip('"')
	if r.bad {
		return nil
	}
	n := bytes.IndexByte(r.line[r.at:], '"')
	if n < 0 {
		r.bad = true
		return nil
	}
	s := r.line[r.at : r.at+n]
	for _, c := range s {
		if c < ' ' || c > '~' || c == '\\' {
			r.bad = true
			return nil
		}
	}
	r.at += n + 1
	return s
}

func (r *reader) key() []byte {
	k := r.quoted()
	r.skip(':')
	return k
}

func (r *reader) text() string {
	b := r.quoted()
	if s, ok := r.strings[string(b)]; ok {
		return s
	}
	return r.share(string(b))
}

// share returns s, or the equal string that was read before.
func (r *reader) share(s string) string {
	if known, ok := r.strings[s]; ok {
		return known
	}
	if r.strings == nil {
		r.strings = map[string]string{}
	}
	if len(r.strings) < maxShared {
		r.strings[s] = s
	}
	return s
}

// yes reads true or false.
func (r *reader) yes() bool {
	yes := r.truth()
	return yes != nil && *yes
}

// number reads an integer of at most the given number of bits, without the sign bit.
func (r *reader) number(bits int) int64 {
	negative := r.at < len(r.line) && r.line[r.at] == '-'
	if negative {
		r.at++
	}
	from, n := r.at, int64(0)
	for ; r.at < len(r.line) && r.at-from < 18; r.at++ {
		c := r.line[r.at] - '0'
		if c > 9 {
			break
		}
		n = 10*n + int64(c)
	}
	switch digits := r.at - from; {
	case digits == 0, digits > 1 && r.line[from] == '0', digits == 18, n>>bits != 0:
		r.bad = true // or it has more digits than are sure to fit
	case negative && n == 0:
		r.bad = true
	case negative:
		return -n
	}
	return n
}

func (r *reader) token() (t Token) {
	r.skip('{')
	if string(r.key()) != "zxid" {
		r.bad = true
	}
	t.Zxid = r.number(63)
	if r.next() == '}' {
		return t
	}
	if string(r.key()) != "sub" {
		r.bad = true
	}
	t.Sub = int32(r.number(31))
	r.skip('}')
	return t
}

// saying reads a saying that has only the most frequent fields.
func (r *reader) saying() *Saying {
	s := &Saying{}
	var seen uint32
	r.skip('{')
	for !r.bad {
		field := r.key()
		bit := uint32(0)
		switch string(field) {
		case "asked":
			bit, s.Asked = 1<<0, time.Duration(r.number(63))
		case "valid":
			bit, s.Valid = 1<<1, r.truth()
		case "left":
			left := time.Duration(r.number(63))
			bit, s.Left = 1<<2, &left
		case "least":
			least := time.Duration(r.number(63))
			bit, s.Least = 1<<7, &least
		case "depth":
			bit, s.Depth = 1<<3, int(r.number(31))
		case "ended":
			bit, s.Ended = 1<<4, r.truth()
		case "held":
			bit, s.Held = 1<<5, r.truth()
		case "told":
			bit, s.Told = 1<<6, r.text()
		case "state":
			bit, s.State = 1<<8, r.text()
		case "connection":
			bit, s.Connection = 1<<9, r.text()
		case "client":
			bit, s.Client = 1<<10, int(r.number(31))
		case "firm":
			firm := r.truth()
			bit, s.Firm = 1<<11, firm != nil && *firm
		}
		if r.bad || bit == 0 || seen&bit != 0 {
			break
		}
		seen |= bit
		if r.next() == '}' {
			return s
		}
	}
	r.bad = true
	return nil
}

// truth reads a truth value.
func (r *reader) truth() *bool {
	for _, word := range []string{"true", "false"} {
		if bytes.HasPrefix(r.line[r.at:], []byte(word)) {
			r.at += len(word)
			yes := word == "true"
			return &yes
		}
	}
	r.bad = true
	return nil
}

// intern makes equal strings of a history share memory.
func (r *reader) intern(e *Event) {
	for _, s := range []*string{&e.Lock, &e.Owner, &e.Session, &e.Store, &e.Error, (*string)(&e.Op), (*string)(&e.Type), (*string)(&e.Mode)} {
		if *s != "" {
			*s = r.share(*s)
		}
	}
	for i := range e.Parts {
		e.Parts[i].Lock = r.share(e.Parts[i].Lock)
	}
}
