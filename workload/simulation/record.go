package simulation

import (
	"cmp"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/wire"
	"github.com/zkverify/zkverify/ensemble/txnlog"
	"github.com/zkverify/zkverify/histories"
	model "github.com/zkverify/zkverify/spec"
	"github.com/zkverify/zkverify/workload/folder"
	"github.com/zkverify/zkverify/workload/lock"
)

// validated are the recipes whose contenders queue as those of spec/mutex.pml, one node for each acquire.
var validated = []histories.Recipe{
	histories.Mutex, histories.Revocation, histories.Election, histories.ReadWrite, histories.NonReentrant, histories.Handoff,
	histories.Semaphore, histories.SharedSemaphore, histories.MultiLock,
}

// record puts together what the clients of these recipes, and the servers, have done.
type record struct {
	locks   map[string]bool // whether a lock is of these recipes, by key
	steps   []model.Step
	nodes   map[string]int64           // by path of an existing lock node: the transaction that created it
	owned   map[int64][]string         // paths by session
	clients map[string][]int           // processes by session
	ids     map[int]int                // contenders by process
	crashes map[int]int                // by client
	forced  map[string]bool            // sessions that a fault has ended
	early   map[int][]*histories.Event // by index of an event: losses of a process that may have stood still since
	moved   []int                      // the indexes of these losses
	begun   map[string]bool            // sessions that have a step
	open    map[int]map[string]int     // by process and lock: the step of the open acquire
	writers map[string]int64           // by place in a queue: the writer's node
	numbers map[number]int64           // the last node that has it
	tokens  map[histories.Token]int64  // the nodes of tokens that have another transaction than their node
	sizes   map[string]bool            // semaphores; whether the size is that of a node
	takes   map[int64][]int64          // by transaction that gives permits: the nodes in whose place they come
}

// number is the number of a node in the queue of a lock.
type number struct {
	lock string
	n    int
}

// writeRecord writes the record of a run that began at an instant, with all transactions of its servers.
func writeRecord(path string, kept *histories.Kept, txns []txnlog.Txn, began time.Time) error {
	r := &record{
		locks: map[string]bool{}, nodes: map[string]int64{}, owned: map[int64][]string{}, clients: map[string][]int{},
		ids: map[int]int{}, crashes: map[int]int{}, begun: map[string]bool{}, forced: map[string]bool{}, early: map[int][]*histories.Event{},
		open: map[int]map[string]int{}, writers: map[string]int64{}, numbers: map[number]int64{}, tokens: map[histories.Token]int64{},
		sizes: map[string]bool{}, takes: map[int64][]int64{},
	}
	header := kept.Header()
	for e := range kept.Events() {
		r.identify(e, header.Clients)
		for e := range alone(e) {
			if _, known := r.locks[e.Lock]; e.Lock != "" && !known {
				r.locks[e.Lock] = slices.Contains(validated, header.RecipeOf(e.Lock))
				r.semaphore(e.Lock, header)
			}
		}
	}
	r.findEarly(kept)
	next, i := 0, 0
	for e := range kept.Events() {
		for ; next < len(txns) && txns[next].Time.Sub(began) < e.Time; next++ {
			r.transaction(txns[next], txns[next].Time.Sub(began))
		}
		if !slices.Contains(r.moved, i) {
			r.events(e)
		}
		for _, loss := range r.early[i] {
			loss := *loss
			if loss.Time = e.Time; loss.Op == histories.Release {
				loss.Type = histories.Lost
			}
			r.events(&loss)
		}
		i++
	}
	for ; next < len(txns); next++ {
		r.transaction(txns[next], txns[next].Time.Sub(began))
	}
	if len(r.steps) == 0 {
		return nil // the run has none of these recipes
	}
	return folder.WriteFile(path, func(w io.Writer) error { return model.WriteRecord(w, r.steps) })
}

// identify learns which contender a process is: all processes of a client until it crashes.
func (r *record) identify(e *histories.Event, clients int) {
	if e.Process < 0 || clients == 0 {
		return
	}
	i := e.Process % clients
	id, known := r.ids[e.Process]
	if !known {
		id = i + clients*r.crashes[i]
		r.ids[e.Process] = id
	}
	if e.Session != "" && !slices.Contains(r.clients[e.Session], id) {
		r.clients[e.Session] = append(r.clients[e.Session], id)
	}
	if e.Type == histories.Crash {
		r.crashes[i]++
	}
}

func (r *record) add(s model.Step) {
	if n := len(r.steps); n > 0 {
		s.Time = max(s.Time, r.steps[n-1].Time)
	}
	r.steps = append(r.steps, s)
}

// wakes is longer than a process takes to find out, after a pause, that it has lost a lock.
const wakes = 10 * time.Millisecond

func endsBelief(e *histories.Event) bool {
	return e.Type == histories.Lost || e.Type == histories.Crash || e.Type == histories.Invoke && e.Op == histories.Release && e.Depth <= 1
}

// findEarly finds losses and releases that a process records once it wakes up after it stood still. It believes
// nothing while it does not run: the loss counts from the last event before on. A pause may begin long after its
// fault, so it may be any rest of the process until the fault is over; the first one since the grant counts.
func (r *record) findEarly(kept *histories.Kept) {
	type hold struct {
		process int
		lock    string
		mode    histories.Mode
	}
	type pause struct {
		begun, over time.Duration // of the fault; over: 0 while it lasts
		rests       []int         // the index of the last event before each rest
	}
	last, at := map[int]int{}, map[int]time.Duration{} // by process: its last event, and the time of that
	pauses, grants := map[int]*pause{}, map[hold]int{}
	i := -1
	for e := range kept.Events() {
		i++
		if f := e.Fault; f != nil {
			if e.Type == histories.FaultStart && f.Name == histories.ForcedExpiry {
				r.forced[f.Params["session"]] = true
			}
			if f.Name == histories.WorkerPause || f.Params["act"] == pauseAct || f.Params["then"] == pauseAct {
				for _, p := range f.Processes {
					if e.Type == histories.FaultStart {
						pauses[p] = &pause{begun: e.Time}
					} else if pauses[p] != nil {
						pauses[p].over = e.Time
					}
				}
			}
		}
		if e.Process < 0 || e.Type == histories.Says {
			continue
		}
		h := hold{e.Process, e.Lock, e.Mode}
		if p := pauses[e.Process]; p != nil && e.Time > p.begun+wakes { // the end of the pause may be recorded later
			if before, there := last[e.Process]; there && e.Time > at[e.Process]+wakes && (p.over == 0 || at[e.Process] < p.over) {
				p.rests = append(p.rests, before)
			}
			rest := slices.IndexFunc(p.rests, func(before int) bool { return before >= grants[h] })
			if endsBelief(e) && rest >= 0 {
				r.early[p.rests[rest]] = append(r.early[p.rests[rest]], e)
				r.moved = append(r.moved, i)
			}
			if p.over > 0 && e.Time > p.over+wakes {
				delete(pauses, e.Process)
			}
		}
		if e.Type == histories.OK && (e.Op == histories.Acquire || e.Op == histories.TryAcquire) {
			grants[h], grants[hold{e.Process, "", ""}] = i, i
		}
		last[e.Process], at[e.Process] = i, e.Time
	}
}

// alone returns an event of several locks as one of each.
func alone(e *histories.Event) iter.Seq[*histories.Event] {
	return func(yield func(*histories.Event) bool) {
		if len(e.Parts) == 0 {
			yield(e)
			return
		}
		for _, p := range e.Parts {
			one := *e
			one.Lock, one.Token, one.Parts = p.Lock, p.Token, nil
			if !yield(&one) {
				return
			}
		}
	}
}

// events takes an event of the history.
func (r *record) events(e *histories.Event) {
	for one := range alone(e) {
		r.event(one, len(e.Parts) > 0)
	}
}

// event takes an event of one lock, which may be of several.
func (r *record) event(e *histories.Event, together bool) {
	if e.Type == histories.CensusDone {
		r.add(model.Step{Time: e.Time, Kind: model.Over, Process: -1})
		return
	}
	s := model.Step{Time: e.Time, Lock: e.Lock, Process: r.ids[e.Process], Session: e.Session, Read: e.Mode == histories.ModeRead}
	if e.Type == histories.Crash || e.Type == histories.Closing {
		s.Kind, s.Left = model.Loss, true
		for name := range r.locks {
			if r.locks[name] {
				s.Lock = name
				r.add(s)
				s.Read = true // of a lock without readers it ends no belief
				r.add(s)
				s.Read = false
			}
		}
		return
	}
	if !r.locks[e.Lock] {
		return
	}
	acquires := e.Op == histories.Acquire || e.Op == histories.TryAcquire
	switch {
	case e.Type == histories.Invoke && acquires:
		s.Kind, s.Together = model.Acquire, together
		if r.open[e.Process] == nil {
			r.open[e.Process] = map[string]int{}
		}
		r.open[e.Process][e.Lock] = len(r.steps)
	case e.Type == histories.OK && acquires && e.Depth <= 1:
		s.Kind, s.Node = model.Grant, r.nodeOf(e.Token)
		if nodes := r.takes[e.Token.Zxid]; len(nodes) > 0 {
			s.Node = r.taken(e, nodes)
		}
		if s.Node == e.Token.Zxid { // not that of a reader that was a writer
			s.Sub = e.Token.Sub
		}
		if i, there := r.open[e.Process][e.Lock]; there {
			r.steps[i].Granted = true
			if s.Sub == 0 { // else another acquire has created it
				r.place(i, s.Node)
			}
		}
	case e.Type == histories.Enqueued:
		node := cmp.Or(r.nodeOf(e.Token), r.numbers[number{e.Lock, e.Sequence}])
		if i, there := r.open[e.Process][e.Lock]; there && node != 0 {
			r.place(i, node)
		}
		return
	case e.Type == histories.Lost:
		s.Kind, s.Left = model.Loss, e.Op == histories.Release
	case e.Op == histories.Release && e.Depth <= 1 && e.Type == histories.Invoke:
		s.Kind = model.Release
	case e.Op == histories.Release && e.Depth <= 1 && e.Type == histories.OK:
		s.Kind = model.Released
	default:
		return
	}
	r.add(s)
}

// nodeOf returns the node by its token.
func (r *record) nodeOf(t histories.Token) int64 { return cmp.Or(r.tokens[t], t.Zxid) }

// place notes a node of an acquire.
func (r *record) place(i int, node int64) {
	if !slices.Contains(r.steps[i].Nodes, node) {
		r.steps[i].Nodes = append(r.steps[i].Nodes, node)
	}
}

// transaction takes a transaction of the servers, and when it was committed.
func (r *record) transaction(x txnlog.Txn, at time.Duration) {
	s := model.Step{Time: at, Process: -1, Session: lock.SessionName(x.Session)}
	if x.Op == wire.CloseSession {
		for _, path := range r.owned[x.Session] {
			delete(r.nodes, path)
		}
		delete(r.owned, x.Session)
		s.Kind, s.Forced = model.End, r.forced[s.Session]
		r.add(s)
		return
	}
	guard, wrote := "", false
	for i, c := range x.Changes {
		switch c.Op {
		case wire.Create:
			if !r.take(x, i) {
				r.create(s, x, c)
			}
		case wire.Delete:
			r.delete(s, x, c.Path)
		case wire.Check:
			guard = cmp.Or(guard, c.Path)
		case wire.SetData:
			wrote = true
		}
		r.resize(s, c)
	}
	r.taking(s, x)
	if key, is := r.key(guard); is && wrote && r.nodes[guard] != 0 {
		s.Kind, s.Lock, s.Node = model.Write, key, r.nodes[guard]
		r.add(s)
	}
}

func (r *record) create(s model.Step, x txnlog.Txn, c txnlog.Change) {
	key, is := r.key(c.Path)
	if !is {
		return
	}
	if !c.Ephemeral { // the directory, in which the numbers begin anew
		maps.DeleteFunc(r.writers, func(place string, _ int64) bool { return strings.HasPrefix(place, c.Path+"/") })
		return
	}
	if !r.begun[s.Session] {
		r.begun[s.Session] = true
		r.add(model.Step{Time: s.Time, Kind: model.Session, Process: -1, Session: s.Session, Clients: r.clients[s.Session]})
	}
	r.nodes[c.Path] = x.Zxid
	r.owned[x.Session] = append(r.owned[x.Session], c.Path)
	s.Kind, s.Lock, s.Node = model.Create, key, x.Zxid
	r.kindOf(&s, c.Path)
	r.numbers[number{key, lock.Sequence(c.Path)}] = s.Node
	r.add(s)
}

// kindOf notes of a create in a read-write lock whether it is a reader's. One with the place of a writer
// is a downgrade, and has the writer's token, one further.
func (r *record) kindOf(s *model.Step, path string) {
	before, sequence, read := strings.Cut(path, "-__READ__")
	if !read {
		before, sequence, _ = strings.Cut(path, "-__WRIT__")
	}
	place := before[:strings.LastIndexByte(before, '/')+1] + sequence
	if s.Read = read; !read {
		r.writers[place] = s.Node
	} else if s.Writer = r.writers[place]; s.Writer != 0 {
		r.tokens[histories.Token{Zxid: s.Writer, Sub: 1}] = s.Node
	}
}

func (r *record) delete(s model.Step, x txnlog.Txn, path string) {
	key, is := r.key(path)
	node, there := r.nodes[path]
	if !is || !there {
		return
	}
	delete(r.nodes, path)
	if slices.Contains(r.takes[x.Zxid], node) {
		return // permits have come in its place
	}
	s.Kind, s.Lock, s.Node = model.Delete, key, node
	r.add(s)
}

// key returns the lock of a node.
func (r *record) key(path string) (string, bool) {
	_, rest, below := strings.Cut(path, "/locks/")
	name, _, _ := strings.Cut(rest, "/")
	return name, below && r.locks[name]
}
