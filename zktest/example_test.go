package zktest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// A test of a service that has to stop its work when it loses its lock.
func ExampleStart() {
	var t *testing.T // of a test function

	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		worker := e.Client("worker-1")
		client, err := recipes.Connect(t.Context(), e.Servers(), recipes.WithDialer(worker.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close(context.Background())
		lease, err := recipes.NewMutex(client, "/jobs").Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}

		worker.Cut()
		<-lease.Lost() // ten seconds of the bubble's time, milliseconds of yours
	})
}

// A client of go-zookeeper takes another kind of dialer.
func ExampleClient_DialTimeout() {
	var t *testing.T // of a test function

	e := zktest.Start(t)
	conn, _, err := zk.Connect(e.Servers(), 10*time.Second, zk.WithDialer(e.Client("worker-1").DialTimeout))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
}
