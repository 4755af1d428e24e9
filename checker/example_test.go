package checker_test

import (
	"context"
	"fmt"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
)

// Two clients hold one lock at the same time, and the checker names them.
func ExampleCheck() {
	h := &histories.History{Header: histories.Header{Version: histories.Version}}
	for i, e := range []histories.Event{
		{Type: histories.Invoke, Process: 1, Op: histories.Acquire, Lock: "orders"},
		{Type: histories.OK, Process: 1, Op: histories.Acquire, Lock: "orders"},
		{Type: histories.Invoke, Process: 2, Op: histories.Acquire, Lock: "orders"},
		{Type: histories.OK, Process: 2, Op: histories.Acquire, Lock: "orders"},
		{Type: histories.Invoke, Process: 1, Op: histories.Release, Lock: "orders"},
	} {
		e.Time = time.Duration(i) * time.Second
		h.Events = append(h.Events, e)
	}
	report, err := checker.Check(context.Background(), h)
	if err != nil {
		fmt.Println(err)
		return
	}
	v := report.Verdict(checker.MutualExclusion)
	fmt.Println(v.Outcome)
	fmt.Println(v.Witnesses[0])
	// Output:
	// violated
	// process 1 and process 2 both held lock "orders" from 3.000000 s to 4.000000 s, for 1000 ms. No fault was active.
}
