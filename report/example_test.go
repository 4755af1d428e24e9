package report_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/report"
)

// A history is judged, and then read once more for its page.
func ExampleHTML() {
	const path = "../histories/corpus/mutual-exclusion/violated-42fcee.jsonl"
	file, err := histories.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	verdicts, err := checker.CheckEvents(context.Background(), file.Header(), file.Events())
	if err != nil {
		log.Fatal(err)
	}

	again, err := histories.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer again.Close()
	var page bytes.Buffer
	if err := report.HTML(context.Background(), &page, path, again.Header(), again.Events(), verdicts); err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Contains(page.String(), "two owners held one lock"))
	// Output: true
}
