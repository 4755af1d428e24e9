package trackrecord

import (
	"context"
	"fmt"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/txnlog"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload"
)

// Kind is a kind of Finding.
type Kind string

// The kinds of findings.
const (
	Twice  Kind = "logged twice"    // a server has logged transactions twice
	Logs   Kind = "logs differ"     // the logs contradict each other, see txnlog.Compare
	Digest Kind = "digest mismatch" // a server has found that its tree is not the leader's
	Trees  Kind = "trees differ"    // the servers have different nodes
)

var kinds = []Kind{Twice, Logs, Digest, Trees}

// Finding is a defect of the servers' state.
type Finding struct {
	Kind Kind   `json:"kind"`
	What string `json:"what"`
}

// find examines the running servers, and the disks of all servers.
func (s *scene) find(ctx context.Context) (all []Finding, err error) {
	dirs := map[int]txnlog.Dir{}
	var alive []ensemble.Server
	for _, server := range s.servers.Servers() {
		if s.servers.Running(server.ID) {
			alive = append(alive, server)
		}
		folder, err := s.servers.DataDir(ctx, server.ID)
		if err != nil {
			return nil, err
		}
		if dirs[server.ID], err = txnlog.Open(folder); err != nil {
			return nil, err
		}
		if twice, err := txnlog.Twice(dirs[server.ID]); err != nil {
			return nil, err
		} else if len(twice) > 0 {
			all = append(all, Finding{Twice, fmt.Sprintf("server %d has logged %s twice, from 0x%x on", server.ID, words.Count(len(twice), "transaction"), twice[0])})
		}
		output, err := s.servers.Output(ctx, server.ID)
		if err != nil {
			return nil, err
		}
		if found := ensemble.Divergences(output); len(found) > 0 {
			all = append(all, Finding{Digest, fmt.Sprintf("server %d has found at 0x%x that its tree is not the leader's", server.ID, found[0].Zxid)})
		}
	}
	d, err := txnlog.Compare(dirs)
	if err != nil {
		return nil, err
	}
	if d != nil {
		all = append(all, Finding{Logs, d.String()})
	}
	differences, err := workload.CompareServers(ctx, alive, root)
	if len(differences) > 0 {
		all = append(all, Finding{Trees, differences[0]})
	}
	return all, err
}
