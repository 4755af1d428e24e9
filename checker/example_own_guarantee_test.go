package checker_test

import (
	"context"
	"fmt"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/examples/shortholds"
	"github.com/zkverify/zkverify/histories"
)

// A user's own guarantee is judged, and reported, like any other.
func ExampleWithGuarantee() {
	h := &histories.History{Header: histories.Header{Version: histories.Version}}
	for i, e := range []histories.Event{
		{Type: histories.Invoke, Process: 1, Op: histories.Acquire, Lock: "orders"},
		{Type: histories.OK, Process: 1, Op: histories.Acquire, Lock: "orders"},
		{Type: histories.FaultStart, Process: -1, Fault: &histories.Fault{ID: 1, Name: "latency", Targets: []string{"client 1"}}},
		{Type: histories.FaultStop, Process: -1, Fault: &histories.Fault{ID: 1, Name: "latency", Targets: []string{"client 1"}}},
		{Type: histories.Invoke, Process: 1, Op: histories.Release, Lock: "orders"},
		{Type: histories.OK, Process: 1, Op: histories.Release, Lock: "orders"},
	} {
		e.Time = time.Duration(i) * time.Second
		h.Events = append(h.Events, e)
	}
	report, err := checker.Check(context.Background(), h, checker.WithGuarantee(shortholds.Guarantee(2*time.Second)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Outcome(), "because of", report.Reason())
	fmt.Println(report.Verdict("short holds").Witnesses[0])
	// Output:
	// violated because of short holds: 1 of 1 holds were too long
	// process 1 held lock "orders" for 3000 ms, from 1.000000 s on. Fault latency on client 1 was active.
}
