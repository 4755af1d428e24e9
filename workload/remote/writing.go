package remote

import "github.com/zkverify/zkverify/workload/internal/protocol"

// send queues a command to be written. If it does not arrive, its answer is missing.
func (t *connection) send(c protocol.Command) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sendLocked(c)
}

func (t *connection) sendLocked(c protocol.Command) {
	b, err := protocol.Encode(c)
	if err != nil {
		return // every command that is made can be written
	}
	t.queue = append(t.queue, b)
	select {
	case t.queued <- struct{}{}:
	default:
	}
}

// write writes the commands, one after the other, until the end of the connection or of the
// worker's input. A worker that does not read blocks only this goroutine.
func (t *connection) write() {
	for {
		t.mu.Lock()
		var line []byte
		if len(t.queue) > 0 {
			line = t.queue[0]
		}
		t.mu.Unlock()
		if line != nil {
			if _, err := t.in.Write(line); err != nil {
				return
			}
			t.mu.Lock()
			t.queue = t.queue[1:]
			t.mu.Unlock()
			continue
		}
		select {
		case <-t.queued:
		case <-t.over:
			return
		}
	}
}
