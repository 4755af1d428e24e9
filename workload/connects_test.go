package workload

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/histories"
)

func TestAttemptsAreCountedByWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := attempts{window: time.Second}
		for range 5 { // one window after the other
			a.note(time.Now())
			time.Sleep(time.Second)
		}
		if got := a.counted(); got.Attempts != 5 || got.Most != 1 {
			t.Errorf("got %+v", got)
		}
		for range 3 {
			a.note(time.Now())
			time.Sleep(400 * time.Millisecond)
		}
		time.Sleep(10 * time.Second)
		for range 2 {
			a.note(time.Now())
		}
		if got := a.counted(); got.Attempts != 10 || got.Most != 3 || got.Ago != 11200*time.Millisecond {
			t.Errorf("got %+v", got)
		}
	})
}

func TestWhatAWorkerCountsMustBePossible(t *testing.T) {
	talk := newTalk("worker 1", io.Discard, nil)
	c := &remoteClient{talk: talk}
	talk.register(c)
	for _, impossible := range []histories.Connects{
		{Client: 0, Attempts: 1, Most: 1}, {Client: 2, Attempts: 1, Most: 1}, {Client: 1, Attempts: 1, Most: 2},
		{Client: 1, Attempts: 1, Most: -1}, {Client: 1, Attempts: 1, Most: 1, Ago: -1},
	} {
		if err := talk.counted([]histories.Connects{impossible}); err == nil {
			t.Errorf("%+v is believed", impossible)
		}
	}
	if err := talk.counted([]histories.Connects{{Client: 1, Attempts: 7, Most: 3, Ago: time.Second}}); err != nil {
		t.Error(err)
	}
	talk.drop(c) // it has ended; its count is still asked for
	if got := c.connects(); got.Attempts != 7 || got.Most != 3 || got.Ago < time.Second {
		t.Errorf("got %+v", got)
	}
}
