// Myworker is an example of a worker process in Go: it hosts the lock of package
// mylock for
//
//	zkverify run --workers 2 --worker-command ./myworker
//
// whose faults pause and kill it.
package main

import (
	"context"
	"log"
	"os"

	"github.com/zkverify/zkverify/workload/examples/mylock"
	"github.com/zkverify/zkverify/workload/worker"
)

func main() {
	if err := worker.Serve(context.Background(), os.Stdin, os.Stdout, mylock.Target{}); err != nil {
		log.Fatal(err)
	}
}
