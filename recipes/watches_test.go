package recipes_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/ensemble"
)

// watchesBelow counts the watches on nodes below these paths on all servers, except watches on
// children.
func watchesBelow(t *testing.T, paths ...string) int {
	t.Helper()
	n := 0
	for _, s := range serversOf(t).Servers() {
		text, err := ensemble.Four(within(t), s, "wchp")
		if err != nil {
			t.Fatal(err)
		}
		below := false
		for line := range strings.Lines(text) { // a path, and below it the sessions that watch it
			if !strings.HasPrefix(line, "\t") {
				below = false
				for _, path := range paths {
					below = below || strings.HasPrefix(line, path+"/")
				}
			} else if below {
				n++
			}
		}
	}
	return n
}

// childWatches counts the watches on children on all servers, of all clients: servers do not
// report their nodes.
func childWatches(t *testing.T) int {
	t.Helper()
	n := 0
	for _, s := range serversOf(t).Servers() {
		eventually(t, "a server counts its watches", func() bool {
			all, err := ensemble.Four(within(t), s, "mntr")
			data, err2 := ensemble.Four(within(t), s, "wchs")
			if err != nil || err2 != nil { // a server closes such a connection now and then
				return false
			}
			total, ok := numberAfter(all, "zk_watch_count\t")
			onData, ok2 := numberAfter(data, "Total watches:")
			if ok && ok2 {
				n += total - onData
			}
			return ok && ok2 // servers report neither while they elect a leader
		})
	}
	return n
}

// numberAfter returns the number in the line that begins with a label.
func numberAfter(text, label string) (n int, ok bool) {
	for line := range strings.Lines(text) {
		if rest, found := strings.CutPrefix(line, label); found {
			n, err := strconv.Atoi(strings.TrimSpace(rest))
			return n, err == nil
		}
	}
	return 0, false
}
