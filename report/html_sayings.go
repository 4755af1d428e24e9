package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// maxSayings bounds the rows of sayings, which are by far the most frequent events, so that
// they leave room for others. Near violations only the bound of all events applies.
const maxSayings = 5000

// sayings joins the sayings of locks to rows. A lock says the same again and again while it
// is held: that becomes one row, with a count. The notices to an observer that a lease was
// acquired and then that it was released become one row, too.
type sayings struct {
	header *histories.Header
	last   map[string]*sayingRow // by process and lock, answers and notifications apart
	rows   []*sayingRow
}

// sayingRow is one row of the list, with the sayings that joined it.
type sayingRow struct {
	mark     int    // its number
	what     string // the saying, without the time that is left
	told     string
	token    histories.Token
	again    int
	until    time.Duration // the time of the last repetition
	released time.Duration // when an observer was told of the release; 0: never
}

// joining is the result of adding a saying.
type joining int

const (
	joined  joining = iota // it joined an existing row
	listed                 // it has a row of its own
	crowded                // it has no row: there are too many
)

// add adds a saying and returns the result; mark is the number of the row that the saying
// would get. If apart, the saying joins no row.
func (s *sayings) add(e *histories.Event, mark int, apart bool) joining {
	switch e.Saying.Told {
	case histories.ToldAcquiring, histories.ToldGaveUp, histories.ToldUnheard:
		if !apart {
			return joined // to the row of its acquire
		}
	}
	key := fmt.Sprintf("%d %s %t", e.Process, strings.Join(locksOf(e), "+"), e.Saying.Told != "")
	timeless, said := *e, *e.Saying
	said.Left, said.Least, timeless.Saying = nil, nil, &said
	r := &sayingRow{mark: mark, what: tell(s.header, &timeless), told: said.Told, token: e.Token}
	if last := s.last[key]; last != nil && last.token == e.Token && !apart {
		switch {
		case r.told == histories.ToldReleased && last.told == histories.ToldAcquired && last.released == 0:
			last.released = e.Time
			return joined
		case r.told == "" && r.what == last.what:
			last.again, last.until = last.again+1, e.Time
			return joined
		}
	}
	if len(s.rows) >= maxSayings && !apart {
		return crowded
	}
	s.last[key] = r
	s.rows = append(s.rows, r)
	return listed
}

// finish completes the text of rows that other sayings have joined.
func (s *sayings) finish(marks []markData) {
	for _, r := range s.rows {
		if r.mark >= len(marks) {
			continue // there were too many events
		}
		switch m := &marks[r.mark]; {
		case r.released > 0:
			m.What += fmt.Sprintf(", and at %.6f s that it was released", r.released.Seconds())
		case r.again > 0:
			m.What += fmt.Sprintf("; and the same, but for the deadline, %s more until %.6f s", words.Times(r.again), r.until.Seconds())
		}
	}
}
