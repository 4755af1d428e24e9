package session

import (
	"errors"
	"io"
	"net"
	"testing"
)

// unwritable is a connection whose writes fail.
type unwritable struct{ net.Conn }

var errUnwritable = errors.New("no write gets through")

func (unwritable) Write([]byte) (int, error) { return 0, errUnwritable }

func TestAWriteThatFailsEndsTheConnectionAndAnswersNoRequestItself(t *testing.T) {
	t.Parallel()
	here, there := net.Pipe()
	defer there.Close()
	w := newWireConn(unwritable{here}, nil, goClock{}, 0, 0)
	if _, err := w.Write(make([]byte, 44)); !errors.Is(err, errUnwritable) {
		t.Errorf("the connect request: %v", err) // go-zookeeper answers it once
	}
	w.shaken = true
	if n, err := w.Write(make([]byte, 20)); n != 20 || err != nil {
		t.Errorf("a request: %d, %v", n, err)
	}
	if _, err := w.Read(make([]byte, 1)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("read: %v; want the end of the connection", err)
	}
}

func TestAConnectionThatWasGivenUpHandsOutNothing(t *testing.T) {
	t.Parallel()
	here, there := net.Pipe()
	defer there.Close()
	w := newWireConn(here, nil, goClock{}, 0, 0)
	bad := errors.New("that is no answer")
	w.refuse(bad)
	if n, err := w.Read(make([]byte, 8)); n != 0 || !errors.Is(err, bad) {
		t.Errorf("read: %d bytes, %v", n, err)
	}
}
