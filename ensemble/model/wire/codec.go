package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrMalformed is returned by Decode for bytes that are not the record.
var ErrMalformed = errors.New("malformed record")

// Record is a part of a frame.
type Record interface {
	// Fields passes each field to the codec, in the order of the encoding.
	Fields(c *Codec)
}

// Codec encodes a record's fields into bytes, or decodes them from bytes. After the first
// error it does nothing more.
type Codec struct {
	buf      []byte // encoding: the bytes written; decoding: the bytes left
	decoding bool
	err      error
}

// Encode returns the records' encodings, one after the other.
func Encode(records ...Record) []byte {
	c := &Codec{}
	for _, r := range records {
		r.Fields(c)
	}
	return c.buf
}

// Frame returns the records' encodings behind their length, as they are sent.
func Frame(records ...Record) []byte {
	c := &Codec{buf: make([]byte, 4, 128)}
	for _, r := range records {
		r.Fields(c)
	}
	binary.BigEndian.PutUint32(c.buf, uint32(len(c.buf)-4))
	return c.buf
}

// Decode reads records from bytes and returns the bytes behind them. Its errors match
// ErrMalformed.
func Decode(data []byte, records ...Record) (rest []byte, err error) {
	c := &Codec{buf: data, decoding: true}
	for _, r := range records {
		r.Fields(c)
		if c.err != nil {
			return nil, fmt.Errorf("%T: %w", r, c.err)
		}
	}
	return c.buf, nil
}

// Decoding reports whether the codec reads.
func (c *Codec) Decoding() bool { return c.decoding }

// Left returns the number of bytes left to decode.
func (c *Codec) Left() int { return len(c.buf) }

// take returns the next n bytes that are decoded, nil if there are fewer.
func (c *Codec) take(n int) []byte {
	if c.err != nil {
		return nil
	}
	if n > len(c.buf) {
		c.err = fmt.Errorf("%w: %d bytes are left where %d are wanted", ErrMalformed, len(c.buf), n)
		return nil
	}
	b := c.buf[:n:n]
	c.buf = c.buf[n:]
	return b
}

// Bool encodes a byte, 0 or 1.
func (c *Codec) Bool(v *bool) {
	if !c.decoding {
		b := byte(0)
		if *v {
			b = 1
		}
		c.buf = append(c.buf, b)
		return
	}
	if b := c.take(1); b != nil {
		*v = b[0] == 1
	}
}

// Int32 encodes four bytes, the highest first.
func (c *Codec) Int32(v *int32) {
	if !c.decoding {
		c.buf = binary.BigEndian.AppendUint32(c.buf, uint32(*v))
		return
	}
	if b := c.take(4); b != nil {
		*v = int32(binary.BigEndian.Uint32(b))
	}
}

// Int64 encodes eight bytes, the highest first.
func (c *Codec) Int64(v *int64) {
	if !c.decoding {
		c.buf = binary.BigEndian.AppendUint64(c.buf, uint64(*v))
		return
	}
	if b := c.take(8); b != nil {
		*v = int64(binary.BigEndian.Uint64(b))
	}
}

// Bytes encodes a length and as many bytes. A nil slice has the length -1, an empty slice
// the length 0.
func (c *Codec) Bytes(v *[]byte) {
	n := int32(len(*v))
	if *v == nil {
		n = -1
	}
	c.Int32(&n)
	if !c.decoding {
		c.buf = append(c.buf, *v...)
		return
	}
	*v = nil
	if n < 0 {
		if n < -1 && c.err == nil {
			c.err = fmt.Errorf("%w: a length of %d", ErrMalformed, n)
		}
		return
	}
	if b := c.take(int(n)); b != nil {
		*v = b
	}
}

// String encodes a length and a text in UTF-8. It decodes the length -1 as "".
func (c *Codec) String(v *string) {
	if !c.decoding {
		n := int32(len(*v))
		c.Int32(&n)
		c.buf = append(c.buf, *v...)
		return
	}
	var b []byte
	c.Bytes(&b)
	*v = string(b)
}

// list encodes the number of a list's elements, and each element by each. A list of
// length -1 is nil.
func list[T any](c *Codec, v *[]T, each func(*T)) {
	n := int32(len(*v))
	if *v == nil && !c.decoding {
		n = -1
	}
	c.Int32(&n)
	if !c.decoding {
		for i := range *v {
			each(&(*v)[i])
		}
		return
	}
	*v = nil
	if n < 0 || c.err != nil {
		return
	}
	// An element has at least one byte, so a length beyond the bytes left is malformed.
	if int(n) > len(c.buf) {
		c.err = fmt.Errorf("%w: %d elements in %d bytes", ErrMalformed, n, len(c.buf))
		return
	}
	*v = make([]T, n)
	for i := range *v {
		if each(&(*v)[i]); c.err != nil {
			return
		}
	}
}

// Strings encodes a list of strings.
func (c *Codec) Strings(v *[]string) { list(c, v, c.String) }
