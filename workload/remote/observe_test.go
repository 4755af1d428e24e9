package remote

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// observingWorker is a worker with fixed lines for the command to observe, and for its
// cancellation.
type observingWorker struct {
	out       *io.PipeWriter
	asked     string
	cancelled string
}

func (w observingWorker) Write(command []byte) (int, error) {
	answer := w.asked
	if strings.Contains(string(command), `"cancel"`) {
		answer = w.cancelled
	}
	go func() { _, _ = w.out.Write([]byte(answer)) }() // ends when it is read, or with the pipe
	return len(command), nil
}

func TestAnObservationInAWorker(t *testing.T) {
	const leaders = `{"at":2,"event":"observed","id":1}` + "\n" + `{"at":3,"event":"observed","id":1,"token":{"zxid":5}}` + "\n"
	const cancelled = `{"at":4,"id":1,"error":"cancelled","why":"cancelled"}` + "\n"
	observe := func(t *testing.T, ctx context.Context, asked string, most int) (seen []histories.Token, err error) {
		out, in := io.Pipe()
		connection := newConnection("worker 4", observingWorker{in, asked, cancelled}, newLateness(time.Second))
		client := &Client{connection: connection}
		client.recipes = recipes{client.locker(histories.Mutex, "")}
		go connection.write()
		defer close(connection.over)
		listened := make(chan error)
		go func() {
			listened <- connection.listen(io.MultiReader(strings.NewReader(`{"at":1,"event":"hello","protocol":1}`+"\n"), out))
		}()
		err = client.Election().Observe(ctx, "a", func(token histories.Token) bool {
			seen = append(seen, token)
			return len(seen) < most
		})
		_ = in.Close()
		if err := <-listened; err != nil {
			t.Error(err)
		}
		return seen, err
	}
	both := []histories.Token{{}, {Zxid: 5}}
	t.Run("sees leaders until it has seen enough", func(t *testing.T) {
		if seen, err := observe(t, t.Context(), leaders, 2); err != nil || !slices.Equal(seen, both) {
			t.Errorf("seen are %v, %v", seen, err)
		}
	})
	t.Run("sees all that was said before its end", func(t *testing.T) {
		seen, err := observe(t, t.Context(), leaders+`{"at":4,"id":1,"error":"the servers are gone"}`+"\n", 9)
		if err == nil || !strings.Contains(err.Error(), "gone") || !slices.Equal(seen, both) {
			t.Errorf("seen are %v, %v", seen, err)
		}
	})
	t.Run("ends with its context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := observe(t, ctx, leaders, 9); !errors.Is(err, context.Canceled) {
			t.Errorf("it ends with %v", err)
		}
	})
	t.Run("does not end by itself", func(t *testing.T) {
		if _, err := observe(t, t.Context(), leaders+`{"at":4,"id":1}`+"\n", 9); err == nil {
			t.Error("it ends without an error")
		}
	})
}
