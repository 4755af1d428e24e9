package zkconn

import (
	"encoding/binary"
	"fmt"
)

// EventXid is the number in the header of a watch event, in place of the number of a request.
const EventXid = -1

// layouts holds the layout of the answer to each operation, in ZooKeeper's jute records: s
// a string, b bytes, t a stat, n names, a access rules, m the results of a transaction.
var layouts = map[int32]string{
	1: "s", 15: "st", 19: "s", 21: "s", // create, create2, createContainer, createTTL
	3: "t", 5: "t", 7: "t", // exists, setData, setACL
	4: "bt", 6: "at", 16: "bt", // getData, getACL, reconfig
	8: "n", 12: "nt", // getChildren, getChildren2
	9: "s", 14: "m", // sync, multi
}

// event is the layout of a watch event: a type, a state and a path.
const event = "iis"

// CheckAnswer returns an error if the answer to a successful operation is shorter than it claims.
// body is the answer without its header. More bytes are no error: newer servers may add
// fields.
func CheckAnswer(op int32, body []byte) error { return checkAnswer(layouts[op], body) }

// CheckEvent is CheckAnswer for the body of a watch event.
func CheckEvent(body []byte) error { return checkAnswer(event, body) }

func checkAnswer(layout string, body []byte) error {
	r := answerReader{rest: body}
	for _, part := range layout {
		switch part {
		case 'i':
			r.take(4)
		case 's':
			r.text()
		case 'b':
			r.bytes()
		case 't':
			r.take(statSize)
		case 'n':
			for range r.count(4) {
				r.text()
			}
		case 'a':
			for range r.count(12) {
				r.take(4) // permissions
				r.text()  // scheme
				r.text()  // id
			}
		case 'm':
			r.results()
		}
		if r.err != nil {
			return fmt.Errorf("it sent an answer of %d bytes that %w", len(body), r.err)
		}
	}
	return nil
}

const statSize = 68

// reader reads a body. After an error it reads nothing more.
type answerReader struct {
	rest []byte
	err  error
}

func (r *answerReader) take(n int) []byte {
	if r.err == nil && n > len(r.rest) {
		r.err = fmt.Errorf("breaks off: %d bytes are left where %d are expected", len(r.rest), n)
	}
	if r.err != nil {
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *answerReader) int() int {
	if b := r.take(4); b != nil {
		return int(int32(binary.BigEndian.Uint32(b)))
	}
	return 0
}

// text skips a string. No server answers with a string that is null, of −1 bytes.
func (r *answerReader) text() { r.atLeast(0) }

// bytes skips bytes, which may be null.
func (r *answerReader) bytes() { r.atLeast(-1) }

func (r *answerReader) atLeast(least int) {
	n := r.int()
	if n < least && r.err == nil {
		r.err = fmt.Errorf("has a text of %d bytes", n)
	}
	r.take(max(n, 0))
}

// count returns the number of elements of a vector. least is the least size of an element
// in bytes.
func (r *answerReader) count(least int) int {
	n := r.int()
	if r.err == nil && (n < 0 || n > len(r.rest)/least) {
		r.err = fmt.Errorf("has a list of %d, with %d bytes for them", n, len(r.rest))
	}
	if r.err != nil {
		return 0
	}
	return n
}

// results skips the results of a transaction. It does not read on after a result of an
// unknown kind, like go-zookeeper.
func (r *answerReader) results() {
	for r.err == nil {
		kind := r.int()
		if done := r.take(1); done == nil || done[0] != 0 {
			r.take(4)
			return
		}
		r.take(4) // an error code
		switch kind {
		case -1: // a failure
			r.take(4)
		case 1: // create
			r.text()
		case 15: // create2
			r.text()
			r.take(statSize)
		case 5: // setData
			r.take(statSize)
		case 2, 13: // delete, check
		default:
			return
		}
	}
}
