package remote

import (
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/workload/internal/protocol"
)

// hurryWithin is the time that a worker has for any answer once the run must end at once.
const hurryWithin = 2 * time.Second

// due is the time by which the answer to a command must have come. While a fault pauses the
// worker no answer is due.
type due struct {
	connection *connection
	command    protocol.Command
	timer      *time.Timer
	now        <-chan time.Time // when it may be due: see look
	since      time.Time
	within     time.Duration
}

func (t *connection) newDue(c protocol.Command) *due { return &due{connection: t, command: c} }

// begin gives the worker so much time from now on, unless it has less left already.
func (d *due) begin(within time.Duration) {
	if d.timer != nil && d.within-time.Since(d.since) < within {
		return
	}
	d.stop()
	d.since, d.within = time.Now(), within
	d.timer = time.NewTimer(within)
	d.now = d.timer.C
}

// look fails the worker if its time is over.
func (d *due) look() {
	if left := d.connection.late.owed(d.since, d.within); left > 0 {
		d.timer.Reset(left)
		return
	}
	t := d.connection
	t.mu.Lock()
	unread := len(t.queue) > 0
	t.mu.Unlock()
	why := ""
	if unread {
		why = ", and does not read its standard input"
	}
	t.fail(fmt.Errorf("%s has not answered the command %s (id %d) for %v%s", t.name, d.command.Do, d.command.ID, d.within, why))
}

func (d *due) stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
}

// unanswered returns a text about the command that has been under way for longest, if that is
// longer than moment; else "".
func (t *connection) unanswered(moment time.Duration) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var ids []int64
	for id, k := range t.calls {
		if time.Since(k.asked) > moment {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	first := slices.Min(ids)
	k, more := t.calls[first], ""
	if len(ids) > 1 {
		more = fmt.Sprintf(", nor %d others", len(ids)-1)
	}
	return fmt.Sprintf("%s has not answered the command %s (id %d) for %v%s", t.name, k.do, first, time.Since(k.asked).Round(time.Second/10), more)
}
