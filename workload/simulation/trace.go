package simulation

import (
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"
	"slices"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/live"
	"github.com/zkverify/zkverify/ensemble/txnlog"
	"github.com/zkverify/zkverify/internal/seeded"
)

// Branch makes a run go on otherwise: all choices behind one of its messages come from another seed,
// the faults stay. A Seed of 0 changes nothing.
type Branch struct {
	Message int // 0: the beginning; else the first choice is how long this message takes
	Seed    uint64
}

// TraceFile is the name of the file with the messages of a run that was traced.
const TraceFile = "trace.txt"

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

// fork reseeds the run's choices at the message of its branch.
func (t *trace) fork() {
	if t.branch.Seed != 0 && t.branch.Message == t.count {
		seeded.Branch(t.branch.Seed)
	}
}

func (t *trace) sum() string { return hex.EncodeToString(t.hash.Sum(nil))[:16] }

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
