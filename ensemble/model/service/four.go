package service

import (
	"fmt"
	"strings"
)

// reports are the four-letter commands that only a server that serves answers.
var reports = map[string]func(reporter, *strings.Builder){
	"srvr": reporter.reportServer,
	"stat": func(s reporter, b *strings.Builder) {
		fmt.Fprintf(b, "Zookeeper version: %s\nClients:\n", s.build())
		s.reportClients(b)
		b.WriteString("\n")
		s.reportState(b)
	},
	"isro": func(_ reporter, b *strings.Builder) { b.WriteString("rw") },
	"cons": func(s reporter, b *strings.Builder) { s.reportClients(b); b.WriteString("\n") },
	"conf": reporter.reportSettings,
	"envi": func(s reporter, b *strings.Builder) {
		fmt.Fprintf(b, "Environment:\nzookeeper.version=%s\nhost.name=localhost\n", s.build())
	},
	"mntr": reporter.reportMetrics,
	"wchs": reporter.reportWatchCount,
	"wchp": reporter.reportWatches,
	"dump": reporter.reportSessions,
}

// reporter writes a server's reports.
type reporter struct{ *Service }

// command answers a four-letter command, and ends the connection. It returns false for a
// word that is no modelled command.
func (c *Connection) command(word string) bool {
	var b strings.Builder
	switch report := reports[word]; {
	case word == "ruok":
		b.WriteString("imok")
	case report == nil:
		return false
	case !c.service.quorum.Serves():
		b.WriteString("This ZooKeeper instance is not currently serving requests\n")
	default:
		report(reporter{c.service}, &b)
	}
	c.send([]byte(b.String()))
	c.close()
	return true
}

// build returns the version that the server reports.
func (s reporter) build() string {
	return s.settings.Version + "-simulated, built on 01/01/1970 00:00 UTC"
}

func (s reporter) reportServer(b *strings.Builder) {
	fmt.Fprintf(b, "Zookeeper version: %s\n", s.build())
	s.reportState(b)
}

func (s reporter) reportState(b *strings.Builder) {
	nodes, _ := s.tree.Count()
	fmt.Fprintf(b, "Latency min/avg/max: 0/0.0/0\nReceived: 0\nSent: 0\nConnections: %d\nOutstanding: 0\n", len(s.clients.conns))
	fmt.Fprintf(b, "Zxid: %#x\nMode: %s\nNode count: %d\n", s.tree.LastZxid(), s.quorum.Mode(), nodes)
	if s.quorum.Mode() == "leader" {
		b.WriteString("Proposal sizes last/min/max: -1/-1/-1\n")
	}
}

func (s reporter) reportClients(b *strings.Builder) {
	for _, id := range sorted(s.clients.conns) {
		c := s.clients.conns[id]
		fmt.Fprintf(b, " /%s:%d[1](queued=%d,recved=0,sent=0,sid=%#x,to=%d)\n", c.ip, c.id, len(s.queues.sessions[c.session]), uint64(c.session), c.timeout)
	}
}

func (s reporter) reportSettings(b *strings.Builder) {
	fmt.Fprintf(b, "serverId=%d\ntickTime=%d\ninitLimit=%d\nsyncLimit=%d\nminSessionTimeout=%d\nmaxSessionTimeout=%d\n",
		s.settings.ID, s.settings.TickTime.Milliseconds(), s.settings.InitLimit, s.settings.SyncLimit,
		s.settings.MinSessionTimeout.Milliseconds(), s.settings.MaxSessionTimeout.Milliseconds())
}

func (s reporter) reportMetrics(b *strings.Builder) {
	nodes, sessions := s.tree.Count()
	fmt.Fprintf(b, "zk_version\t%s\nzk_server_state\t%s\nzk_znode_count\t%d\n", s.build(), s.quorum.Mode(), nodes)
	fmt.Fprintf(b, "zk_watch_count\t%d\nzk_num_alive_connections\t%d\nzk_global_sessions\t%d\n",
		s.watches.Len(), len(s.clients.conns), sessions)
}

// reportWatchCount counts the watches of nodes, without those of children, as real
// servers do.
func (s reporter) reportWatchCount(b *strings.Builder) {
	watchers, total := map[int64]bool{}, 0
	watched := s.watches.Watched()
	for _, w := range watched {
		total += len(w.Watchers)
		for _, id := range w.Watchers {
			watchers[id] = true
		}
	}
	fmt.Fprintf(b, "%d connections watching %d paths\nTotal watches:%d\n\n", len(watchers), len(watched), total)
}

func (s reporter) reportWatches(b *strings.Builder) {
	for _, w := range s.watches.Watched() {
		fmt.Fprintln(b, w.Path)
		for _, id := range w.Watchers {
			if c := s.clients.conns[ConnID(id)]; c != nil {
				fmt.Fprintf(b, "\t%#x\n", uint64(c.session))
			}
		}
	}
	b.WriteString("\n")
}

// reportSessions also writes the nodes of sessions that have ended, so that nodes that
// have outlived their sessions can be found.
func (s reporter) reportSessions(b *strings.Builder) {
	sessions, owners := s.tree.Sessions(), s.tree.Owners()
	fmt.Fprintf(b, "SessionTracker dump:\nGlobal Sessions(%d):\n", len(sessions))
	for _, session := range sessions {
		fmt.Fprintf(b, "%#x\t%dms\n", uint64(session.ID), session.Timeout)
	}
	fmt.Fprintf(b, "ephemeral nodes dump:\nSessions with Ephemerals (%d):\n", len(owners))
	for _, id := range owners {
		fmt.Fprintf(b, "%#x:\n", uint64(id))
		for _, path := range s.tree.Ephemerals(id) {
			fmt.Fprintf(b, "\t%s\n", path)
		}
	}
	fmt.Fprintf(b, "Connections dump:\nConnections Sets (1)/(%d):\n", len(s.clients.conns))
}
