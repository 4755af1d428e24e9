package simulation

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/ensemble/model/wire"
	"github.com/zkverify/zkverify/ensemble/txnlog"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/service"
	model "github.com/zkverify/zkverify/spec"
)

// semaphore notes of a lock whether it is a semaphore, and its size if that does not change.
func (r *record) semaphore(name string, header histories.Header) {
	switch header.RecipeOf(name) {
	case histories.SharedSemaphore:
		r.sizes[name] = true
	case histories.Semaphore:
		r.sizes[name] = false
		r.add(model.Step{Kind: model.Resize, Lock: name, Process: -1, Permits: header.Locks[name].Size})
	}
}

// resize takes a change of a node with the size of a semaphore.
func (r *record) resize(s model.Step, c txnlog.Change) {
	name, is := strings.CutSuffix(c.Path[strings.LastIndexByte(c.Path, '/')+1:], service.SizeSuffix)
	if !is || !r.sizes[name] || c.Op == wire.Check {
		return
	}
	if s.Kind, s.Lock = model.Resize, name; len(c.Data) == 4 { // none of a delete
		s.Permits = int(int32(binary.BigEndian.Uint32(c.Data)))
	}
	r.add(s)
}

// take reports whether a change creates a permit in place of a node of the queue, which its transaction
// deletes then. The permit counts as that node. Of a non-reentrant lock this is all: before, the permit of
// any node ahead must have gone.
func (r *record) take(x txnlog.Txn, i int) bool {
	all := x.Changes[i:]
	end := slices.IndexFunc(all, func(c txnlog.Change) bool { return c.Op != wire.Create })
	if end < 0 || all[end].Op != wire.Delete {
		return false
	}
	node, there := r.nodes[all[end].Path]
	if !there {
		return false
	}
	r.nodes[all[0].Path] = node
	r.owned[x.Session] = append(r.owned[x.Session], all[0].Path)
	if !slices.Contains(r.takes[x.Zxid], node) {
		r.takes[x.Zxid] = append(r.takes[x.Zxid], node)
	}
	return true
}

// taking adds the step of a transaction that has given permits of a semaphore.
func (r *record) taking(s model.Step, x txnlog.Txn) {
	nodes := r.takes[x.Zxid]
	if len(nodes) == 0 {
		return
	}
	for path, node := range r.nodes {
		if node == nodes[0] {
			s.Lock, _ = r.key(path)
		}
	}
	if _, is := r.sizes[s.Lock]; !is {
		return
	}
	for path := range r.nodes {
		if key, _ := r.key(path); key == s.Lock && strings.Contains(path, "/leases/") {
			s.Permits++
		}
	}
	s.Kind, s.Nodes = model.Take, nodes
	r.add(s)
}

// taken returns the node of a grant, of those in whose place its transaction gave permits: one that the
// acquire is known to have created, else the one with the place of the token among them.
func (r *record) taken(e *histories.Event, nodes []int64) int64 {
	if i, there := r.open[e.Process][e.Lock]; there {
		for _, node := range nodes {
			if slices.Contains(r.steps[i].Nodes, node) {
				return node
			}
		}
	}
	return nodes[min(int(e.Token.Sub), len(nodes)-1)]
}
