package interop_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// javaClient is a client of Curator in the peer.
type javaClient struct {
	t    *testing.T
	name string
}

// curatorClient opens a client of Curator.
func curatorClient(t *testing.T) javaClient {
	t.Helper()
	return curatorClientAt(t, addrs())
}

func curatorClientAt(t *testing.T, addrs []string) javaClient {
	t.Helper()
	c := javaClient{t, fmt.Sprintf("c%d", nextID.Add(1))}
	c.do("open", strings.Join(addrs, ","), timeout.Milliseconds())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patient)
		defer cancel()
		// The close does not run on the client's own worker, which may still wait after a failed
		// test.
		if _, err := java.do(ctx, c.name+" at the end", "close", c.name); err != nil {
			t.Error(err)
		}
	})
	return c
}

// start makes the client's own worker carry a command out.
func (c javaClient) start(verb string, arguments ...any) *javaCall {
	return c.startOn(c.name, verb, arguments...)
}

// startOn makes another worker carry it out, which is another thread and another owner.
func (c javaClient) startOn(worker, verb string, arguments ...any) *javaCall {
	call := java.send(worker, verb, c.name, nil, arguments...)
	c.t.Cleanup(call.forget)
	return call
}

// do is start for a command that succeeds.
func (c javaClient) do(verb string, arguments ...any) javaAnswer {
	c.t.Helper()
	return c.answer(c.start(verb, arguments...))
}

func (c javaClient) answer(call *javaCall) javaAnswer {
	c.t.Helper()
	a, err := call.wait(within(c.t))
	must(c.t, err)
	return a
}

// acquire acquires a lock that is free, or will be. The call reports its loss.
func (c javaClient) acquire(name string) *javaCall {
	c.t.Helper()
	call := c.start("acquire", name, patient.Milliseconds())
	if !c.answer(call).Done {
		c.t.Fatal("Curator did not get the lock")
	}
	return call
}

// refused checks that Curator cannot acquire a lock.
func (c javaClient) refused(name string) {
	c.t.Helper()
	if c.do("acquire", name, 0).Done {
		c.t.Fatal("Curator was granted a lock that is not free")
	}
}

// pending checks that the call has no answer yet.
func (c *javaCall) pending(t *testing.T) {
	t.Helper()
	if len(c.answer) > 0 {
		t.Fatalf("answered too early: %+v", <-c.answer)
	}
}
