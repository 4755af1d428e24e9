package simulation

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"slices"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/live"
	"github.com/zkverify/zkverify/ensemble/txnlog"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/seeded"
)

// trace records the messages of clients and servers.
type trace struct {
	hash     hash.Hash
	count    int      // messages
	messages [][]sent // in pieces, full but for the last
	chosen   int      // choices of the order of messages
	first    int      // the number of the first server
	branch   Branch

	txns []txnlog.Txn // of the servers, once the run is over

	// end is called with the first message after until, if that is not 0. A timer, or a deadline
	// of the run's context, would change the order of other timers, and with that the run.
	began time.Time
	until time.Duration
	end   func()
}

// sent is a message, and when it was sent on the history's clock.
type sent struct {
	live.Message
	at time.Duration
}

// sentAtATime is the number of messages in a piece of a trace.
const sentAtATime = 4096

// all returns the messages in their order.
func (t *trace) all() []sent { return slices.Concat(t.messages...) }

// note implements live.Live.Trace.
func (t *trace) note(m live.Message) {
	head := binary.BigEndian.AppendUint64(make([]byte, 0, 32), uint64(m.At))
	head = append(head, byte(m.Server), byte(m.Conn), byte(len(m.Data)))
	if m.Reply {
		head = append(head, 1)
	}
	t.hash.Write(head)
	_, _ = io.WriteString(t.hash, m.Client)
	t.hash.Write(m.Data)
	t.count++
	t.fork()
	at := time.Since(t.began)
	if t.until > 0 && at >= t.until {
		t.end()
	}
	last := len(t.messages) - 1
	if last < 0 || len(t.messages[last]) == sentAtATime {
		t.messages = append(t.messages, make([]sent, 0, sentAtATime))
		last++
	}
	t.messages[last] = append(t.messages[last], sent{m, at})
}

// fork lets the run go on otherwise if this is where it should.
func (t *trace) fork() {
	if t.branch.Seed != 0 && t.branch.Message == t.count {
		seeded.Branch(t.branch.Seed)
	}
}

func (t *trace) sum() string { return hex.EncodeToString(t.hash.Sum(nil))[:16] }

// write writes a line for each message: its time and its number, what it says, and its bytes. The
// history of the run, if there is one, tells which client an address belongs to.
func (t *trace) write(path string, kept *histories.Kept) error {
	var b bytes.Buffer
	s := newSpeech(t, kept)
	for i, m := range t.all() {
		fmt.Fprintf(&b, "%15.9f s%8d  %s\t%x\n", m.at.Seconds(), i+1, s.tell(m.Message), m.Data)
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// framing puts the frames of one direction of a connection together.
type framing struct{ rest []byte }

const longestFrame = 1 << 24

// take returns the frames that further bytes complete, without their lengths. Word has bytes that are no
// frame, but a word of four letters.
func (f *framing) take(data []byte) (frames [][]byte, word []byte) {
	if len(f.rest) > 0 {
		data = append(f.rest, data...)
	}
	for len(data) >= 4 {
		n := uint64(binary.BigEndian.Uint32(data))
		if n > longestFrame {
			data, word = nil, data
			break
		}
		if uint64(len(data)-4) < n {
			break
		}
		frames, data = append(frames, data[4:4+n]), data[4+n:]
	}
	f.rest = slices.Clip(data)
	return frames, word
}
