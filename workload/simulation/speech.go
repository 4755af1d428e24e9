package simulation

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/ensemble/model/live"
	"github.com/zkverify/zkverify/ensemble/model/wire"
	"github.com/zkverify/zkverify/ensemble/simulated"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/lock"
)

// speech puts the messages of a run into words, in their order.
type speech struct {
	clients map[string]string // by address
	first   int               // the number of the first server
	begun   map[side]bool     // the connect request, or its answer, was sent
	frames  map[side]*framing
	asked   map[call]question // without an answer so far
}

// side is one direction of a connection.
type side struct {
	conn  uint64
	reply bool
}

type call struct {
	conn uint64
	xid  int32
}

type question struct {
	op   wire.Op
	text string
}

func newSpeech(t *trace, kept *histories.Kept) *speech {
	s := &speech{clients: map[string]string{}, first: t.first, begun: map[side]bool{}, frames: map[side]*framing{}, asked: map[call]question{}}
	addresses, clients := map[string][]string{}, map[string][]int{} // by session, by address
	answered := map[uint64]bool{}
	for _, m := range t.all() {
		var r wire.ConnectResponse
		if conn := uint64(m.Conn); m.Reply && !answered[conn] && len(m.Data) > 4 {
			answered[conn] = true
			if _, err := wire.Decode(m.Data[4:], &r); err == nil {
				name := lock.SessionName(r.Session)
				addresses[name] = append(addresses[name], m.Client)
			}
		}
	}
	if kept == nil {
		return s
	}
	of := kept.Header().Clients
	for e := range kept.Events() {
		if e.Process < 0 || of == 0 || e.Session == "" {
			continue
		}
		for _, at := range addresses[e.Session] {
			if c := e.Process % of; !slices.Contains(clients[at], c) {
				clients[at] = append(clients[at], c)
			}
		}
	}
	for at, all := range clients {
		slices.Sort(all)
		if s.clients[at] = fmt.Sprintf("client %d", all[0]); len(all) > 1 {
			s.clients[at] = "clients " + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(all)), ", "), "[]")
		}
	}
	return s
}

// write writes a line for each message: its time and its number, what it says, and its bytes. The
// history of the run, if there is one, tells which client an address belongs to.
func (t *trace) write(path string, kept *histories.Kept) error {
	var b bytes.Buffer
	s := newSpeech(t, kept)
	for i, m := range t.all() {
		fmt.Fprintf(&b, "%15.9f s%8d  %s\t%x\n", m.at.Seconds(), i+1, s.tell(m.Message), m.Data)
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// tell puts a message into words, such as "client 3 asks server 1: delete /locks/a".
func (s *speech) tell(m live.Message) string {
	client, known := s.clients[m.Client]
	if !known {
		if client = m.Client; client == simulated.OwnAddress {
			client = theBench
		}
	}
	sd := side{uint64(m.Conn), m.Reply}
	if s.frames[sd] == nil {
		s.frames[sd] = new(framing)
	}
	frames, word := s.frames[sd].take(m.Data)
	var said []string
	for _, f := range frames {
		said = append(said, s.frame(sd, f))
	}
	if word != nil {
		said = append(said, fmt.Sprintf("%.20q", word))
	}
	text := fmt.Sprintf("%s asks server %d: ", client, m.Server-s.first+1)
	if strings.HasPrefix(client, "clients") {
		text = fmt.Sprintf("%s ask server %d: ", client, m.Server-s.first+1)
	}
	if m.Reply {
		text = fmt.Sprintf("server %d tells %s: ", m.Server-s.first+1, client)
	}
	if len(said) == 0 {
		said = append(said, words.Count(len(m.Data), "byte"))
	}
	if text += strings.Join(said, "; "); m.Lost {
		text += " (it is lost)"
	}
	return text
}

const theBench = "the bench" // watches the servers

// frame puts a frame into words.
func (s *speech) frame(sd side, data []byte) string {
	if !s.begun[sd] {
		s.begun[sd] = true
		return connecting(sd, data)
	}
	if sd.reply {
		return s.answer(sd, data)
	}
	var h wire.RequestHeader
	rest, err := wire.Decode(data, &h)
	if err != nil {
		return words.Count(len(data), "byte")
	}
	text := opName(h.Op)
	if body := wire.NewRequest(h.Op); body != nil {
		if _, err := wire.Decode(rest, body); err == nil {
			text += about(body)
		}
	}
	s.asked[call{sd.conn, h.Xid}] = question{h.Op, text}
	return text
}

func connecting(sd side, data []byte) string {
	var ask wire.ConnectRequest
	var got wire.ConnectResponse
	session, text := int64(0), "a new session"
	if sd.reply {
		if _, err := wire.Decode(data, &got); err != nil || got.Session == 0 || got.Timeout == 0 {
			return "its session has expired"
		}
		session = got.Session
	} else if _, err := wire.Decode(data, &ask); err == nil {
		session = ask.Session
	}
	if session != 0 {
		text = "session " + lock.SessionName(session)
	}
	return "connect with " + text
}

// answer puts a frame of a server into words.
func (s *speech) answer(sd side, data []byte) string {
	var h wire.ReplyHeader
	rest, err := wire.Decode(data, &h)
	if err != nil {
		return words.Count(len(data), "byte")
	}
	if h.Xid == wire.NotificationXid {
		var e wire.WatcherEvent
		if _, err := wire.Decode(rest, &e); err != nil {
			return "a notification"
		}
		return e.Path + " " + eventNames[e.Type]
	}
	q, known := s.asked[call{sd.conn, h.Xid}]
	if !known {
		return fmt.Sprintf("an answer (xid %d)", h.Xid)
	}
	delete(s.asked, call{sd.conn, h.Xid})
	if h.Err != wire.OK {
		return q.text + ": " + codeName(h.Err)
	}
	if body := wire.NewReply(q.op); body != nil {
		if _, err := wire.Decode(rest, body); err == nil {
			return q.text + result(body)
		}
	}
	return q.text + ": done"
}

// about returns the details of a request.
func about(body wire.Record) string {
	switch r := body.(type) {
	case *wire.CreateRequest:
		return " " + r.Path + createModes[r.Flags]
	case *wire.CreateTTLRequest:
		return " " + r.Path + createModes[r.Flags]
	case *wire.PathVersion:
		return " " + r.Path
	case *wire.PathWatch:
		if r.Watch {
			return " " + r.Path + " and watch"
		}
		return " " + r.Path
	case *wire.SetDataRequest:
		return " " + r.Path
	case *wire.Path:
		return " " + r.Path
	case *wire.PathWatcherType:
		return " " + r.Path
	case *wire.AddWatchRequest:
		return " " + r.Path
	case *wire.MultiRequest:
		var parts []string
		for _, p := range r.Parts {
			parts = append(parts, opName(p.Op)+about(p.Body))
		}
		return " (" + strings.Join(parts, ", ") + ")"
	}
	return ""
}

// result returns the details of an answer.
func result(body wire.Record) string {
	switch r := body.(type) {
	case *wire.Path:
		return ": " + r.Path
	case *wire.CreateReply:
		return ": " + r.Path
	case *wire.ChildrenReply:
		return ": " + words.Some(r.Children, mostNames, len(r.Children))
	case *wire.Children2Reply:
		return ": " + words.Some(r.Children, mostNames, len(r.Children))
	case *wire.MultiReply:
		for _, part := range r.Results {
			if failed, is := part.Body.(*wire.ErrorReply); is && failed.Err != wire.OK && failed.Err != wire.RuntimeInconsistency {
				return ": " + codeName(failed.Err)
			}
		}
	}
	return ": done"
}

const mostNames = 4 // of the children that an answer lists

var createModes = map[int32]string{
	wire.FlagEphemeral: " (ephemeral)", wire.FlagSequential: " (sequential)", wire.FlagEphemeralSequential: " (ephemeral, sequential)",
	wire.FlagContainer: " (container)",
}

var eventNames = map[wire.EventType]string{
	wire.NodeCreated: "was created", wire.NodeDeleted: "was deleted", wire.NodeDataChanged: "was changed", wire.NodeChildrenChanged: "has other children",
}

var opNames = map[wire.Op]string{
	wire.CloseSession: "close the session", wire.Create: "create", wire.Create2: "create", wire.CreateContainer: "create", wire.CreateTTL: "create",
	wire.Delete: "delete", wire.Exists: "exists", wire.GetData: "get", wire.SetData: "set", wire.GetChildren: "children of", wire.GetChildren2: "children of",
	wire.Sync: "sync", wire.Ping: "ping", wire.Check: "check", wire.Multi: "all or none", wire.MultiRead: "read", wire.SetWatches: "set its watches again",
	wire.SetWatches2: "set its watches again", wire.AddWatch: "watch", wire.RemoveWatches: "no longer watch", wire.CheckWatches: "whether it watches",
	wire.WhoAmI: "who am I", wire.Auth: "authenticate", wire.SASL: "authenticate", wire.GetACL: "permissions of", wire.SetACL: "set the permissions of",
}

func opName(op wire.Op) string {
	if name, known := opNames[op]; known {
		return name
	}
	return fmt.Sprintf("operation %d", op)
}

var codeNames = map[wire.Code]string{
	wire.NoNode: "there is no such node", wire.NodeExists: "the node exists", wire.BadVersion: "another version", wire.NotEmpty: "the node has children",
	wire.SessionExpired: "the session has expired", wire.SessionMoved: "the session has moved", wire.NoAuth: "not permitted",
}

func codeName(c wire.Code) string {
	if name, known := codeNames[c]; known {
		return name
	}
	return fmt.Sprintf("code %d", c)
}
