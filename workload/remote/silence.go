package remote

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/workload/internal/protocol"
)

// askWhetherItRuns asks the worker each quarter of slack whether it runs, from its hello to the
// end of the connection. While it runs it is not silent for much longer than that, so that a
// silence of more than slack is a stop.
func (t *connection) askWhetherItRuns(slack time.Duration) {
	select {
	case <-t.hello:
	case <-t.over:
		return
	}
	t.late.asked()
	defer t.late.unasked()
	next := time.NewTicker(slack / 4)
	defer next.Stop()
	for {
		if _, err := t.ask(context.Background(), protocol.Command{Do: protocol.DoEcho}, nil, nil); err != nil {
			return
		}
		select {
		case <-next.C:
		case <-t.over:
			return
		}
	}
}
