package recipes_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// The transaction that takes two permits is carried out, its reply is lost with the connection,
// and another client deletes one of them before the client looks for them. The other permit must
// not stay, because no lease would release it.
func TestOneOfTwoPermitsIsDeletedWhoseReplyIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		holder, wire := interceptedClient(t, e, "holder")
		admin := bubbleClient(t, e, "admin").Conn()
		s := recipes.NewSemaphore(holder, "/s", 2)
		first, err := s.AcquireN(within(t), 2) // the parents are there
		if err != nil {
			t.Fatal(err)
		}
		release(t, first)
		lost := false
		wire.on(nil, once(opMulti, func() bool {
			if permits := e.Children("/s/leases"); len(permits) != 2 {
				t.Errorf("the permits are %v", permits)
			} else if err := admin.Delete("/s/leases/"+permits[1], -1); err != nil {
				t.Error(err)
			}
			lost = true
			return false
		}))
		want := 2
		l, err := s.AcquireN(within(t), 2)
		if err != nil {
			want = 0
		}
		time.Sleep(time.Second) // the remaining permit is deleted in the background
		if permits := e.Children("/s/leases"); !lost || len(permits) != want || err == nil && !l.Valid() {
			t.Errorf("lost: %v; %v, and the permits are %v", lost, err, permits)
		}
		if err == nil {
			release(t, l)
		}
		again, err := s.AcquireN(within(t), 2)
		if err != nil {
			t.Fatal(err)
		}
		release(t, again)
	})
}
