package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
)

// lanesOf describes the lanes of the servers of a history.
func lanesOf(t *testing.T, servers int, events ...histories.Event) string {
	t.Helper()
	p := newPass(&histories.Header{Servers: servers}, &checker.Report{})
	for i := range events {
		p.step(&events[i])
	}
	p.endServers()
	var all []string
	for _, s := range p.servers {
		lane := fmt.Sprint(s.ID, ":")
		for _, span := range s.Spans {
			lane += fmt.Sprintf(" %s %d-%d", strings.TrimSpace(string(span.State)+" "+span.Version), span.From, span.To)
		}
		all = append(all, lane)
	}
	return strings.Join(all, "; ")
}

func TestAServerHasALaneWithWhatItWas(t *testing.T) {
	seen := func(at, id int, state histories.ServerState) histories.Event {
		return histories.Event{Time: time.Duration(at), Type: histories.ServerSeen, Process: -1, Server: &histories.Server{ID: id, State: state}}
	}
	struck := func(at int, targets ...string) histories.Event {
		return histories.Event{Time: time.Duration(at), Type: histories.FaultStart, Process: -1, Fault: &histories.Fault{ID: 1, Name: "pause-server", Targets: targets}}
	}
	as := func(version string, e histories.Event) histories.Event {
		e.Server.Version = version
		return e
	}
	over := histories.Event{Time: 100, Type: histories.PhaseStart, Process: -1, Phase: histories.PhaseEnd}
	for name, c := range map[string]struct {
		events []histories.Event
		want   string
	}{
		"roles that change":         {[]histories.Event{seen(1, 2, histories.Leading), seen(2, 1, histories.Following), seen(9, 2, histories.Down), over}, "1: follower 2-100; 2: leader 1-9 down 9-100; 3:"},
		"a role that is told again": {[]histories.Event{seen(1, 2, histories.Leading), seen(5, 2, histories.Leading), over}, "1:; 2: leader 1-100; 3:"},
		"an upgrade and back": {[]histories.Event{as("3.8.0", seen(1, 1, histories.Following)), seen(3, 1, histories.Down), as("3.9.6", seen(5, 1, histories.Following)), as("3.9.6", seen(6, 1, histories.Following)), as("3.8.0", seen(9, 1, histories.Following)), over},
			"1: follower 3.8.0 1-3 down 3.8.0 3-5 follower 3.9.6 5-9 follower 3.8.0 9-100; 2:; 3:"},
		"an old history that has only the fault": {[]histories.Event{struck(5, "server 2", "client 1"), over}, "1:; 2:; 3:"},
		"a fault of a link between servers":      {[]histories.Event{struck(5, "server 4 -> server 2"), over}, "1:; 2:; 3:; 4:"},
		"faults of clients alone":                {[]histories.Event{struck(5, "client 1", "observer 2"), over}, ""},
	} {
		if got := lanesOf(t, 3, c.events...); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestThePageSaysVersionsIfTheServersRanSeveral(t *testing.T) {
	span := func(version string) spanData { return spanData{Version: version} }
	for want, servers := range map[bool][]*serverData{
		true:  {{Spans: []spanData{span("3.8.0"), span("")}}, {Spans: []spanData{span(""), span("3.9.6")}}},
		false: {{Spans: []spanData{span("3.8.0"), span("")}}, {Spans: []spanData{span(""), span("3.8.0")}}, {}},
	} {
		if got := severalVersions(servers); got != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

func TestAFaultSaysWhatItDoesToAServer(t *testing.T) {
	for name, want := range map[string]string{
		"isolate-leader": "cut off", "isolate-holder-follower": "cut off", "partition": "cut off", "one-way": "partly cut off", "pause-server": "paused",
		"kill-leader": "killed", "lose-quorum": "killed", "rolling-restart": "restarted", "cut-quorum": "cut off", "unplug-server": "unplugged", "rolling-upgrade": "restarted as another version", "reconfig": "removed from the ensemble",
		"isolate-server": "cut off", "slow-holder-follower": "slow, then cut off", "bridge": "partly cut off", "slow-peers": "slow links", "stall-peers": "stalled links", "deposed-leader": "paused, then deposed", "kill-server": "killed", "restart-server": "restarted", "of another tool": "of another tool",
	} {
		if got := done(&histories.Fault{Name: name}); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := done(&histories.Fault{Name: "failpoint", Params: map[string]string{"point": "diff-sync", "action": "halt"}}); got != "halt at diff-sync" {
		t.Errorf("a failpoint: %s", got)
	}
}

func TestAReportCountsVotersAndObservers(t *testing.T) {
	for want, header := range map[string]histories.Header{
		"3 servers":                {Servers: 3},
		"5 servers and 1 observer": {Servers: 6, Observers: 1},
		"1 server and 2 observers": {Servers: 3, Observers: 2},
	} {
		if got := countServers(&header, "server"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
