package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/histories"
)

// serverData is the lane of a server.
type serverData struct {
	ID    int        `json:"id"`
	Spans []spanData `json:"spans"`
}

// spanData is a time in which a server had one state and version, as far as it was asked.
type spanData struct {
	From  int64                 `json:"from"`
	To    int64                 `json:"to"`
	State histories.ServerState `json:"state"`
	// Version is the version of ZooKeeper, "" if the server has not reported it yet.
	Version string `json:"version,omitempty"`
}

// serverSeen extends the lane of a server, and reports whether the server has changed.
func (p *pass) serverSeen(e *histories.Event) bool {
	s := p.server(e.Server.ID)
	now := spanData{int64(e.Time), -1, e.Server.State, clip(e.Server.Version)}
	if n := len(s.Spans); n > 0 {
		last := &s.Spans[n-1]
		if now.Version == "" {
			now.Version = last.Version
		}
		if last.State == now.State && last.Version == now.Version {
			return false
		}
		last.To = now.From
	}
	s.Spans = append(s.Spans, now)
	return true
}

// server returns the lane of a server. It adds the lane if there is none yet.
func (p *pass) server(id int) *serverData {
	i, there := slices.BinarySearchFunc(p.servers, id, func(s *serverData, id int) int { return cmp.Compare(s.ID, id) })
	if !there {
		p.servers = slices.Insert(p.servers, i, &serverData{ID: id, Spans: []spanData{}})
	}
	return p.servers[i]
}

// endServers ends the servers' spans at the end of the history. If one server has a lane,
// it adds lanes for the others.
func (p *pass) endServers() {
	if len(p.servers) == 0 {
		return
	}
	for id := 1; id <= min(p.header.Servers, maxServers); id++ {
		p.server(id)
	}
	for _, s := range p.servers {
		if n := len(s.Spans); n > 0 {
			s.Spans[n-1].To = int64(p.end)
		}
	}
}

// severalVersions reports whether the servers have reported more than one version.
func severalVersions(servers []*serverData) bool {
	seen := ""
	for _, s := range servers {
		for _, span := range s.Spans {
			if span.Version != "" && seen != "" && span.Version != seen {
				return true
			}
			seen = cmp.Or(span.Version, seen)
		}
	}
	return false
}

// maxServers bounds the lanes that are added for servers without events.
const maxServers = 9

// done describes the effect of a fault on the servers that it hits in a few words. It
// returns the fault's own name if the fault is unknown.
func done(f *histories.Fault) string {
	switch name := f.Name; {
	case f.Failpoint() != "":
		return f.Failpoint()
	case strings.HasPrefix(name, "isolate-"), name == "partition", name == "cut-quorum":
		return "cut off"
	case name == "unplug-server":
		return "unplugged"
	case name == "bridge", name == "one-way":
		return "partly cut off"
	case name == "slow-holder-follower":
		return "slow, then cut off"
	case name == "deaf-leader":
		return "paused, then deaf"
	case name == "deposed-leader":
		return "paused, then deposed"
	case name == "stall-peers":
		return "stalled links"
	case name == "slow-peers":
		return "slow links"
	case name == "clock-rate":
		return "fast or slow clock"
	case name == "clock-step":
		return "clock set"
	case name == "pause-server":
		return "paused"
	case strings.HasPrefix(name, "kill-"), name == "lose-quorum":
		return "killed"
	case name == "reconfig":
		return "removed from the ensemble"
	case name == "rolling-upgrade":
		return "restarted as another version"
	case strings.HasSuffix(name, "restart"), strings.HasPrefix(name, "restart-"):
		return "restarted"
	}
	return f.Name
}
