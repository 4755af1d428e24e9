package remote

import (
	"io"
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories"
)

func TestWhatAWorkerCountsMustBePossible(t *testing.T) {
	connection := newConnection("worker 1", io.Discard, nil)
	c := &Client{connection: connection}
	connection.register(c)
	for _, impossible := range []histories.Connects{
		{Client: 0, Attempts: 1, Most: 1}, {Client: 2, Attempts: 1, Most: 1}, {Client: 1, Attempts: 1, Most: 2},
		{Client: 1, Attempts: 1, Most: -1}, {Client: 1, Attempts: 1, Most: 1, Ago: -1},
	} {
		if err := connection.counted([]histories.Connects{impossible}); err == nil {
			t.Errorf("%+v is believed", impossible)
		}
	}
	if err := connection.counted([]histories.Connects{{Client: 1, Attempts: 7, Most: 3, Ago: time.Second}}); err != nil {
		t.Error(err)
	}
	connection.drop(c) // it has ended; its count is still asked for
	if got := c.Connects(); got.Attempts != 7 || got.Most != 3 || got.Ago < time.Second {
		t.Errorf("got %+v", got)
	}
}
