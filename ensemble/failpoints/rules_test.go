package failpoints_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/failpoints"
)

func pointNamed(t *testing.T, name string) failpoints.Point {
	t.Helper()
	for _, p := range failpoints.Points() {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("no point %s", name)
	return failpoints.Point{}
}

func TestTheRuleOfAFailpoint(t *testing.T) {
	for _, c := range []struct {
		point  string
		action failpoints.Action
		want   string // the line DO after the count
	}{
		{"before-log-sync", failpoints.Delay, "delay(1500)"},
		{"before-log-sync", failpoints.Halt, "killJVM()"},
		{"before-log-sync", failpoints.Exception, `throw new java.io.IOException("zkverify: failpoint before-log-sync")`},
		{"before-session-close", failpoints.Exception, `throw new java.io.UncheckedIOException(new java.io.IOException("zkverify: failpoint before-session-close"))`},
	} {
		got := failpoints.Failpoint{Point: pointNamed(t, c.point), Action: c.action, Delay: 1500 * time.Millisecond}.Script()
		want := fmt.Sprintf("DO traceln(\"zkverify: reached failpoint %s\"); %s\nENDRULE\n", c.point, c.want)
		if !strings.HasPrefix(got, "RULE zkverify "+c.point+"\nCLASS org.apache.zookeeper.") || !strings.HasSuffix(got, want) {
			t.Errorf("%s at %s is\n%swant\n%s", c.action, c.point, got, want)
		}
	}
}

// A rule has one line of each kind; otherwise Byteman takes the next rule for a part of
// it.
func TestEveryRuleHasAllItsLines(t *testing.T) {
	lines := regexp.MustCompile(`^RULE zkverify \S+\nCLASS \S+\nMETHOD \w+\([^ ]*\)\n(AT|AFTER) .+\nIF .+\nDO .+\nENDRULE\n$`)
	rules := []string{failpoints.Rejoin(7), failpoints.SendSnapshots()}
	seen := map[string]bool{}
	for _, p := range failpoints.Points() {
		if seen[p.Name] || p.Description == "" || p.Role == "" {
			t.Errorf("the point %+v lacks something, or its name is used twice", p)
		}
		seen[p.Name] = true
		for _, a := range failpoints.Actions() {
			rules = append(rules, failpoints.Failpoint{Point: p, Action: a, Delay: time.Second}.Script())
		}
	}
	for _, rule := range rules {
		if !lines.MatchString(rule) {
			t.Errorf("no rule:\n%s", rule)
		}
	}
	if failpoints.Rejoin(1) == failpoints.Rejoin(2) {
		t.Error("a JVM that has rejoined once does not do it again")
	}
}

func TestHowOftenAFailpointWasReached(t *testing.T) {
	output := "2026-01-01 INFO Learner\nzkverify: reached failpoint diff-sync\nhalf a line zkverify: reached failpoint diff-sync\n" +
		"zkverify: reached failpoint diff-sync-2\nzkverify: reached failpoint ping-reply\n"
	for point, want := range map[string]int{"diff-sync": 2, "ping-reply": 1, "snap-sync": 0} {
		if got := failpoints.Reached([]byte(output), point); got != want {
			t.Errorf("%s: reached %d times, want %d", point, got, want)
		}
	}
}

func TestTheValueOfAClock(t *testing.T) {
	for _, c := range []struct {
		rate  float64
		ahead int64
		want  string
	}{{1, 0, "100000:0"}, {1.05, -17, "105000:-17"}, {0.9512, 1 << 40, "95120:1099511627776"}, {10, 3, "1000000:3"}} {
		if got := failpoints.ClockValue(c.rate, c.ahead); got != c.want {
			t.Errorf("%v, %d ms ahead: %s, want %s", c.rate, c.ahead, got, c.want)
		}
	}
	if rule := failpoints.Clock(); !strings.Contains(rule, failpoints.ClockProperty) || !strings.Contains(rule, `"100000:0"`) || strings.Contains(rule, "%!") {
		t.Error(rule)
	}
}
