package promobserver_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every alert links to its section of the runbook, and every section belongs to an alert.
func TestEveryAlertHasASectionInTheRunbook(t *testing.T) {
	alerts, err := os.ReadFile("../../docs/operations/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	runbook, err := os.ReadFile("../../docs/runbook.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^## (\S+)$`).FindAllStringSubmatch(string(runbook), -1) {
		sections[strings.ToLower(m[1])] = true
	}
	names := regexp.MustCompile(`- alert: (\S+)`).FindAllStringSubmatch(string(alerts), -1)
	links := regexp.MustCompile(`runbook_url: \S+/docs/runbook\.md#(\S+)`).FindAllStringSubmatch(string(alerts), -1)
	if len(names) == 0 || len(names) != len(links) || len(names) != len(sections) {
		t.Fatalf("%d alerts, %d links to the runbook, %d sections there", len(names), len(links), len(sections))
	}
	for i, name := range names {
		if link := links[i][1]; link != strings.ToLower(name[1]) || !sections[link] {
			t.Errorf("%s links to #%s, which is not its section", name[1], link)
		}
	}
}
