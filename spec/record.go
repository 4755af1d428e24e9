package spec

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// RecordFile is the name of the file with the record of a run.
const RecordFile = "model.jsonl"

// Step is a line of a record: a step of a run that spec/mutex.pml speaks of. Fields that do not
// apply are zero.
type Step struct {
	Time    time.Duration `json:"at"` // since the run began
	Kind    Kind          `json:"step"`
	Lock    string        `json:"lock,omitempty"`
	Process int           `json:"process"` // the contender; -1 for a transaction of which it is not known
	Session string        `json:"session,omitempty"`
	Node    int64         `json:"node,omitempty"`    // the transaction that created the node
	Clients []int         `json:"clients,omitempty"` // of a session that begins: the contenders that use it
	Forced  bool          `json:"forced,omitempty"`  // of an end: neither the client nor the servers ended it
	Nodes   []int64       `json:"nodes,omitempty"`   // of an acquire: those that it is known to have created; of a take: see there
	Granted bool          `json:"granted,omitempty"` // of an acquire: it succeeds
	// Together is of an acquire of several locks: a node that it has lost in one of them is lost in all, and it has
	// others created.
	Together bool  `json:"together,omitempty"`
	Read     bool  `json:"read,omitempty"`    // of a read-write lock: of a reader
	Left     bool  `json:"left,omitempty"`    // of a loss: the process believes nothing any more; its client may give Lock back
	Sub      int32 `json:"sub,omitempty"`     // of a grant: how often Node had been handed on
	Writer   int64 `json:"writer,omitempty"`  // of a create by a downgrade: the writer's node
	Permits  int   `json:"permits,omitempty"` // of a take: those that are out then; of a resize: the size
}

// Kind is the kind of a Step.
type Kind string

// The kinds. The first seven are of the servers, in the order of their transactions.
const (
	Session  Kind = "session"  // is used by Clients; stands before its first transaction
	Create   Kind = "create"   // Session creates Node in the queue of Lock
	Delete   Kind = "delete"   // Session deletes Node, or a permit that stands for it
	Take     Kind = "take"     // Session puts permits of the semaphore Lock in place of Nodes
	Resize   Kind = "resize"   // the semaphore Lock has another size, or its first one
	Write    Kind = "write"    // Session writes, guarded by Node
	End      Kind = "end"      // Session ends, and its nodes
	Acquire  Kind = "acquire"  // a client asks for Lock
	Grant    Kind = "grant"    // it believes that it holds Lock, by Node
	Loss     Kind = "loss"     // it is told that it does not hold Lock any more, or ends
	Release  Kind = "release"  // it gives Lock back
	Released Kind = "released" // it is told that it has
	Over     Kind = "over"     // all clients have left
)

// ErrRecord is wrapped by the error for a file that is no record of a run.
var ErrRecord = errors.New("not a record for spec/mutex.pml")

// WriteRecord writes steps, a line each.
func WriteRecord(w io.Writer, steps []Step) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	var err error
	for i := range steps {
		err = errors.Join(err, enc.Encode(&steps[i]))
	}
	return errors.Join(err, out.Flush())
}

// readRecord reads a file.
func readRecord(path string) (steps []Step, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var s Step
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return nil, fmt.Errorf("%s:%d: %w: %w", path, len(steps)+1, ErrRecord, err)
		}
		if n := len(steps); n > 0 && s.Time < steps[n-1].Time {
			return nil, fmt.Errorf("%s:%d: %w: it is earlier than the line before", path, n+1, ErrRecord)
		}
		steps = append(steps, s)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w: %w", path, len(steps)+1, ErrRecord, err)
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("%s: %w: it has no line", path, ErrRecord)
	}
	return steps, nil
}
