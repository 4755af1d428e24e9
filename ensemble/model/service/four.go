package service

import (
	"fmt"
	"strings"
)

// command answers a four-letter word, and ends the connection. It reports false if this
// is none.
func (c *Connection) command(word string) bool {
	s := c.service
	var b strings.Builder
	switch word {
	case "ruok":
		b.WriteString("imok")
	case "srvr", "stat", "isro", "cons", "conf", "mntr", "envi", "dump", "wchs":
		if !s.quorum.Serves() {
			b.WriteString("This ZooKeeper instance is not currently serving requests\n")
			break
		}
		s.report(&b, word)
	default:
		return false
	}
	c.send([]byte(b.String()))
	c.close()
	return true
}

// report writes the answer to a four-letter word of a server that serves. The words that
// are not modelled have an empty one.
func (s *Service) report(b *strings.Builder, word string) {
	nodes, _ := s.tree.Count()
	switch word {
	case "isro":
		b.WriteString("rw")
	case "srvr", "stat":
		fmt.Fprintf(b, "Zookeeper version: %s-simulated, built on 01/01/1970 00:00 UTC\n", s.settings.Version)
		if word == "stat" {
			b.WriteString("Clients:\n")
			s.reportClients(b)
			b.WriteString("\n")
		}
		fmt.Fprintf(b, "Latency min/avg/max: 0/0.0/0\nReceived: 0\nSent: 0\nConnections: %d\nOutstanding: 0\n", len(s.clients.conns))
		fmt.Fprintf(b, "Zxid: %#x\nMode: %s\nNode count: %d\n", s.tree.LastZxid(), s.quorum.Mode(), nodes)
		if s.quorum.Mode() == "leader" {
			b.WriteString("Proposal sizes last/min/max: -1/-1/-1\n")
		}
	case "cons":
		s.reportClients(b)
		b.WriteString("\n")
	case "envi":
		fmt.Fprintf(b, "Environment:\nzookeeper.version=%s-simulated, built on 01/01/1970 00:00 UTC\nhost.name=localhost\n", s.settings.Version)
	case "conf":
		fmt.Fprintf(b, "serverId=%d\ntickTime=%d\ninitLimit=%d\nsyncLimit=%d\nminSessionTimeout=%d\nmaxSessionTimeout=%d\n", s.settings.ID,
			s.settings.TickTime.Milliseconds(), s.settings.InitLimit, s.settings.SyncLimit,
			s.settings.MinSessionTimeout.Milliseconds(), s.settings.MaxSessionTimeout.Milliseconds())
	case "mntr":
		fmt.Fprintf(b, "zk_version\t%s-simulated\nzk_server_state\t%s\nzk_znode_count\t%d\nzk_watch_count\t%d\nzk_num_alive_connections\t%d\n",
			s.settings.Version, s.quorum.Mode(), nodes, s.watches.Len(), len(s.clients.conns))
	case "wchs":
		fmt.Fprintf(b, "Total watches:%d\n", s.watches.Len())
	}
}

func (s *Service) reportClients(b *strings.Builder) {
	for _, id := range sorted(s.clients.conns) {
		c := s.clients.conns[id]
		fmt.Fprintf(b, " /%s:%d[1](queued=%d,recved=0,sent=0,sid=%#x,to=%d)\n", c.ip, c.id, len(s.queues.sessions[c.session]), c.session, c.timeout)
	}
}
