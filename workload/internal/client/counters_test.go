package client

import (
	"testing"

	"github.com/zkverify/zkverify/histories"
)

func TestTheFenceRefusesWhatIsOlderThanTheLastRead(t *testing.T) {
	c := NewCounters(nil)
	old, young := histories.Token{Zxid: 1}, histories.Token{Zxid: 2}
	if _, err := c.Read(histories.StoreFenced, old); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(histories.StoreFenced, young); err != nil {
		t.Fatal(err)
	}
	if err := c.Write(histories.StoreFenced, old, 1); err == nil {
		t.Error("a write was admitted after a younger token had read")
	}
	if err := c.Write(histories.StorePlain, old, 1); err != nil {
		t.Error(err)
	}
	if v, _ := c.Read(histories.StorePlain, young); v != 1 {
		t.Errorf("plain counter is %d; want 1", v)
	}
}
