package histories

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const header = `{"zkverify":1,"started":"2026-01-02T03:04:05Z","seed":7,"recipe":"mutex","target":"recipes","promises":{"tokens":true,"tells_loss":true,"fifo":true,"reentrant":true,"loss_bound":1,"progress_bound":2},"ensemble":"local","servers":3,"zookeeper":"3.8.0","session_timeout":2,"tick_time":1}` + "\n"

// sample has one event of every type, of a mutex.
func sample() *History {
	yes, no, left := true, false, -5*time.Second
	f := &Fault{ID: 1, Name: "isolate", Targets: []string{"server 1"}, Processes: []int{0, 2}, Params: map[string]string{"odd \"key\n": "80ms"}}
	events := []Event{
		{Type: PhaseStart, Process: -1, Phase: PhaseChaos},
		{Type: Invoke, Process: 0, Op: Acquire, Lock: "a", Owner: "o"},
		{Type: Enqueued, Process: 0, Lock: "a", Token: Token{Zxid: 1 << 40, Sub: 2}, Position: 3, Sequence: -7},
		{Type: OK, Process: 0, Op: Acquire, Lock: "a", Token: Token{Zxid: 1 << 40, Sub: 2}, Depth: 1, Session: "0x01"},
		{Type: FaultStart, Process: -1, Fault: f},
		{Type: Invoke, Process: 0, Op: Read, Lock: "a", Store: StoreFenced},
		{Type: OK, Process: 0, Op: Read, Lock: "a", Store: StoreFenced, Value: 41},
		{Type: Invoke, Process: 0, Op: Write, Lock: "a", Store: StorePlain, Value: 42},
		{Type: Fail, Process: 0, Op: Write, Lock: "a", Store: StorePlain, Value: 42, Error: "refused: \"old\"\n\ttoken"},
		{Type: Suspended, Process: 0, Lock: "a"},
		{Type: Resumed, Process: 0, Lock: "a"},
		{Type: RevokeRequested, Process: 0, Lock: "a", Token: Token{Zxid: 41}},
		{Type: Lost, Process: 0, Lock: "a", Session: "0x01"},
		{Type: Invoke, Process: 0, Op: Release, Lock: "a", Depth: 1},
		{Type: Info, Process: 0, Op: Release, Lock: "a", Depth: 1},
		{Type: Expired, Process: 0, Session: "0x01"},
		{Type: FaultStop, Process: -1, Fault: f},
		{Type: PhaseStart, Process: -1, Phase: PhaseRecovery},
		{Type: Invoke, Process: 2, Op: TryAcquire, Lock: "a", Permits: 2},
		{Type: Crash, Process: 2},
		{Type: ServerSeen, Process: -1, Server: &Server{ID: 2, State: Electing}},
		{Type: Stalled, Process: -1, Since: 20500},
		{Type: PhaseStart, Process: -1, Phase: PhaseEnd},
		{Type: CensusDone, Process: -1, Census: &Census{Contenders: []string{"/locks/a/x"}, Watches: 1, Watched: []string{"/locks/a"}, Goroutines: []string{"goroutine 1 [running]:\nmain()"}}},
		{Type: Says, Process: 1, Lock: "a", Depth: 2, Token: Token{Zxid: 41}, Saying: &Saying{
			Asked: 3, Valid: &yes, Left: &left, Depth: 2, Ended: &no, State: StateHeld, Held: &yes, Node: "/locks/a/x", Created: 41,
			Queue: []Participant{{Token: Token{Zxid: 41}, Session: "0x01"}, {Token: Token{Zxid: 42, Sub: 1}}}}},
		{Type: Says, Process: 1, Lock: "a", Saying: &Saying{Asked: 4, Queue: []Participant{}}},
		{Type: Says, Process: 1, Lock: "a", Saying: &Saying{Asked: 4, Told: ToldLost, Held: &no}},
		{Type: Says, Process: 1, Session: "0x01", Saying: &Saying{Asked: 4, Connection: ConnectionLost, Client: 3}},
	}
	for i := range events {
		events[i].Time = time.Duration(i) * time.Microsecond
	}
	h, err := Decode(strings.NewReader(header))
	if err != nil {
		panic(err) // the constant above
	}
	h.Events = events
	return h
}

func TestAHistoryComesBackAsItWasWritten(t *testing.T) {
	for _, name := range []string{"h.jsonl", "h.jsonl.zst", "h.edn", "h.edn.zst"} {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir() + "/" + name
			want := sample()
			if err := WriteFile(path, want); err != nil {
				t.Fatal(err)
			}
			got, err := ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAFileThatBreaksTheFormatIsRefusedAtItsLine(t *testing.T) {
	invoke := `{"time":1,"type":"invoke","process":0,"op":"acquire","lock":"a"}` + "\n"
	info := `{"time":2,"type":"info","process":0,"op":"acquire","lock":"a"}` + "\n"
	start := `{"time":1,"type":"fault-start","process":-1,"fault":{"id":1,"name":"down"}}` + "\n"
	for _, c := range []struct {
		name, file string
		line       int
		reason     string
		is         error
	}{
		{"an empty file", "", 0, "empty", ErrEmpty},
		{"a header cut off", header[:40], 1, "cut off", ErrEmpty},
		{"a file that is something else", "hello\n", 1, "", nil},
		{"a first line without a version", `{"time":1}` + "\n", 1, "not a header", nil},
		{"a newer version, even with fields of its own", `{"zkverify":999,"colour":"red"}` + "\n", 1, "version 999", ErrNewerVersion},
		{"a header with an unknown field", `{"zkverify":1,"colour":"red"}` + "\n", 1, "colour", nil},
		{"bad JSON in the middle", header + "{]\n" + invoke, 2, "bad JSON", nil},
		{"two objects on a line", header + strings.TrimSpace(invoke) + invoke, 2, "more than one", nil},
		{"an empty line", header + "\n", 2, "empty", nil},
		{"null", header + "null\n", 2, "not a JSON object", nil},
		{"an unknown field", header + `{"time":1,"type":"crash","process":0,"colour":1}` + "\n", 2, "colour", nil},
		{"an unknown type", header + `{"time":1,"type":"boom","process":0}` + "\n", 2, `unknown type "boom"`, nil},
		{"an unknown op", header + `{"time":1,"type":"invoke","process":0,"op":"grab","lock":"a"}` + "\n", 2, `unknown op "grab"`, nil},
		{"an unknown store", header + `{"time":1,"type":"invoke","process":0,"op":"read","lock":"a","store":"x"}` + "\n", 2, "unknown store", nil},
		{"an unknown phase", header + `{"time":1,"type":"phase","process":-1,"phase":"x"}` + "\n", 2, "unknown phase", nil},
		{"no type", header + `{"time":1,"process":0}` + "\n", 2, `"type"`, nil},
		{"no time", header + `{"type":"crash","process":0}` + "\n", 2, `"time"`, nil},
		{"no process", header + `{"time":1,"type":"crash"}` + "\n", 2, `"process"`, nil},
		{"no op", header + `{"time":1,"type":"invoke","process":0,"lock":"a"}` + "\n", 2, `"op"`, nil},
		{"no lock", header + `{"time":1,"type":"invoke","process":0,"op":"acquire"}` + "\n", 2, `"lock"`, nil},
		{"no store", header + `{"time":1,"type":"invoke","process":0,"op":"read","lock":"a"}` + "\n", 2, `"store"`, nil},
		{"a lost without a lock", header + `{"time":1,"type":"lost","process":0}` + "\n", 2, `"lock"`, nil},
		{"a saying of no lock", header + `{"time":1,"type":"says","process":0,"saying":{"asked":0,"depth":1}}` + "\n", 2, `"lock"`, nil},
		{"a saying without a process", header + `{"time":1,"type":"says","process":-1,"lock":"a","saying":{"asked":0,"depth":1}}` + "\n", 2, "needs a process", nil},
		{"a saying without one", header + `{"time":1,"type":"says","process":0,"lock":"a"}` + "\n", 2, `"saying"`, nil},
		{"a saying that says nothing", header + `{"time":1,"type":"says","process":0,"lock":"a","saying":{"asked":0}}` + "\n", 2, "says nothing", nil},
		{"an answer before it was asked for", header + `{"time":1,"type":"says","process":0,"lock":"a","saying":{"asked":2,"depth":1}}` + "\n", 2, "asked at 2", nil},
		{"a deadline beyond all time", header + `{"time":1,"type":"says","process":0,"lock":"a","saying":{"asked":0,"left":9223372036854775807}}` + "\n", 2, "deadline", nil},
		{"a notification of something else", header + `{"time":1,"type":"says","process":0,"lock":"a","saying":{"asked":0,"told":"found"}}` + "\n", 2, "told \"found\"", nil},
		{"an expiry without a session", header + `{"time":1,"type":"expired","process":0}` + "\n", 2, `"session"`, nil},
		{"a fault without a fault", header + `{"time":1,"type":"fault-start","process":-1}` + "\n", 2, `"fault"`, nil},
		{"a fault without a name", header + `{"time":1,"type":"fault-start","process":-1,"fault":{"id":1}}` + "\n", 2, "name", nil},
		{"a census without a census", header + `{"time":1,"type":"census","process":-1}` + "\n", 2, `"census"`, nil},
		{"a server without a server", header + `{"time":1,"type":"server","process":-1}` + "\n", 2, `"server"`, nil},
		{"a server that does not exist", header + `{"time":1,"type":"server","process":-1,"server":{"id":0,"state":"leader"}}` + "\n", 2, "server 0", nil},
		{"a server in an unknown state", header + `{"time":1,"type":"server","process":-1,"server":{"id":1,"state":"asleep"}}` + "\n", 2, `unknown state "asleep"`, nil},
		{"a stall from before the last event", header + start + `{"time":2,"type":"stalled","process":-1}` + "\n", 3, "stood still from 0 to 2", nil},
		{"a stall of no time", header + `{"time":2,"type":"stalled","process":-1,"since":2}` + "\n", 2, "stood still from 2 to 2", nil},
		{"an operation without a process", header + `{"time":1,"type":"invoke","process":-1,"op":"acquire","lock":"a"}` + "\n", 2, "needs a process", nil},
		{"a negative time", header + `{"time":-1,"type":"crash","process":0}` + "\n", 2, "negative", nil},
		{"time running backwards", header + invoke + `{"time":0,"type":"crash","process":0}` + "\n", 3, "backwards", nil},
		{"a completion without an invocation", header + info, 2, "without an invocation", nil},
		{"two open operations", header + invoke + invoke, 3, "is open", nil},
		{"another op completes", header + invoke + `{"time":2,"type":"ok","process":0,"op":"release","lock":"a"}` + "\n", 3, "but invoked acquire", nil},
		{"another lock completes", header + invoke + `{"time":2,"type":"ok","process":0,"op":"acquire","lock":"b"}` + "\n", 3, `on lock "a"`, nil},
		{"a process acts after info", header + invoke + info + `{"time":3,"type":"lost","process":0,"lock":"a"}` + "\n", 4, "after", ErrRetired},
		{"a process acts after its crash", header + `{"time":1,"type":"crash","process":0}` + "\n" + invoke, 3, "crash", ErrRetired},
		{"a fault stops that never started", header + strings.Replace(start, "start", "stop", 1), 2, "never started", nil},
		{"a fault that begins in the middle of a character is cut off, and goes on", header + "{\"time\":1,\"type\":\"crash\",\"process\":0,\"error\":\"\xe2\x82\n" + invoke, 2, "", nil},
		{"a name that is not UTF-8", header + "{\"time\":1,\"type\":\"lost\",\"process\":0,\"lock\":\"\xff\"}\n", 2, "not UTF-8", nil},
		{"a header that is not UTF-8", "{\"zkverify\":2,\"target\":\"\xff\"}\n", 1, "not UTF-8", nil},
		{"a token that is no token", header + `{"time":1,"type":"lost","process":0,"lock":"a","token":"41"}` + "\n", 2, "token", nil},
		{"a token that is no integer", header + `{"time":1,"type":"lost","process":0,"lock":"a","token":{"zxid":1.5}}` + "\n", 2, "zxid", nil},
		{"a token that is too large", header + `{"time":1,"type":"lost","process":0,"lock":"a","token":{"zxid":9223372036854775808}}` + "\n", 2, "zxid", nil},
		{"a time that is no integer", header + `{"time":1.5,"type":"crash","process":0}` + "\n", 2, "time", nil},
		{"a time at the end of time", header + `{"time":9223372036854775807,"type":"crash","process":0}` + "\n", 2, "too late", nil},
		{"a process that is no number", header + `{"time":1,"type":"crash","process":"nemesis"}` + "\n", 2, "process", nil},
		{"a process that is too large", header + `{"time":1,"type":"crash","process":4294967296}` + "\n", 2, "process 4294967296", nil},
		{"negative permits", header + `{"time":1,"type":"invoke","process":0,"op":"acquire","lock":"a","permits":-1}` + "\n", 2, "permits -1", nil},
		{"permits whose sum would overflow", header + `{"time":1,"type":"invoke","process":0,"op":"acquire","lock":"a","permits":9223372036854775807}` + "\n", 2, "permits 9223372036854775807", nil},
		{"a negative size", header + `{"time":1,"type":"invoke","process":0,"op":"set-size","lock":"a","size":-1}` + "\n", 2, "size -1", nil},
		{"a negative depth", header + `{"time":1,"type":"invoke","process":0,"op":"release","lock":"a","depth":-1}` + "\n", 2, "depth -1", nil},
		{"a negative position", header + `{"time":1,"type":"enqueued","process":0,"lock":"a","position":-1}` + "\n", 2, "position -1", nil},
		{"a negative generation", header + `{"time":1,"type":"invoke","process":0,"op":"enter","lock":"a","generation":-1}` + "\n", 2, "generation -1", nil},
		{"a negative count of watches", header + `{"time":1,"type":"census","process":-1,"census":{"watches":-1}}` + "\n", 2, "-1 watches", nil},
		{"a write that took less than no time", header + `{"time":1,"type":"census","process":-1,"census":{"write":-1}}` + "\n", 2, "a write took -1 ns", nil},
		{"a silence that ends before it begins", header + `{"time":1,"type":"census","process":-1,"census":{"silences":[{"worker":2,"from":7,"to":6}]}}` + "\n", 2, "worker 2 was silent from 7 to 6 ns", nil},
		{"a silence from before the run", header + `{"time":1,"type":"census","process":-1,"census":{"silences":[{"worker":2,"from":-7,"to":6}]}}` + "\n", 2, "worker 2 was silent from -7", nil},
		{"a version that is no number", `{"zkverify":"2"}` + "\n", 1, "zkverify", nil},
		{"a negative version", `{"zkverify":-1}` + "\n", 1, "not a header", nil},
		{"a negative time in the header", `{"zkverify":2,"session_timeout":-1}` + "\n", 1, "time of the header", nil},
		{"a header twice", header + header, 2, "zkverify", nil},
		{"a list", header + "[]\n", 2, "not a JSON object", nil},
		{"a byte order mark", "\xef\xbb\xbf" + header, 1, "", nil},
		{"zeros, as a disk leaves them after a crash", header + invoke + strings.Repeat("\x00", 100) + "\n", 3, "not a JSON object", nil},
		{"a fault starts twice", header + start + start, 3, "active", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Decode(strings.NewReader(c.file))
			var f *FormatError
			if !errors.As(err, &f) {
				t.Fatalf("got %v, want a *FormatError", err)
			}
			if f.Line != c.line || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("got line %d, %q; want line %d, %q", f.Line, err, c.line, c.reason)
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%v is not %v", err, c.is)
			}
		})
	}
}

func TestAnExpiryMayBeSeenAfterTheProcessIsGone(t *testing.T) {
	file := header + `{"time":1,"type":"crash","process":0}` + "\n" + `{"time":2,"type":"expired","process":0,"session":"0x1"}` + "\n"
	if _, err := Decode(strings.NewReader(file)); err != nil {
		t.Fatal(err)
	}
}

func TestAFileCutOffAnywhereIsReadUpToItsLastWholeLine(t *testing.T) {
	var b bytes.Buffer
	if err := Encode(&b, sample()); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	for n := bytes.IndexByte(whole, '\n') + 1; n < len(whole); n++ {
		if n%7 != 0 && !bytes.ContainsRune(whole[n-2:min(n+2, len(whole))], '\n') {
			continue // within a line every seventh cut is enough
		}
		h, err := Decode(bytes.NewReader(whole[:n]))
		if err != nil {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
		lines := bytes.Count(whole[:n], []byte("\n"))
		lastIsWhole := whole[n] == '\n' // only its newline is missing
		want := lines - 1
		if lastIsWhole {
			want++
		}
		if len(h.Events) != want {
			t.Fatalf("cut after %d bytes: %d events, want %d", n, len(h.Events), want)
		}
		if cut := whole[n-1] != '\n' && !lastIsWhole; h.Truncated != cut {
			t.Fatalf("cut after %d bytes: truncated %v, want %v", n, h.Truncated, cut)
		}
	}
}

func TestAJepsenLockHistoryIsUnderstood(t *testing.T) {
	file := `{:type :invoke, :f :acquire, :value nil, :process 0, :time 10, :index 0}
{:type :ok, :f :acquire, :value nil, :process 0, :time 20, :index 1}
{:type :info, :f :start, :process :nemesis, :time 25, :value nil}
{:type :info, :f :start, :process :nemesis, :time 26, :value [:isolated {"n1" #{"n2"}}]}
#jepsen.history.Op{:type :invoke, :f :release, :value nil, :process 0, :time 30}
{:type :fail, :f :release, :value nil, :process 0, :time 40, :error [:not-held "x"]}
{:type :info, :f :stop, :process :nemesis, :time 45}
{:type :info, :f :stop, :process :nemesis, :time 46}
`
	h, err := DecodeEDN(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range h.Events {
		got = append(got, string(e.Type)+" "+string(e.Op)+" "+e.Lock)
	}
	want := []string{"invoke acquire lock", "ok acquire lock", "fault-start  ", "invoke release lock", "fail release lock", "fault-stop  "}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	asVector, err := DecodeEDN(strings.NewReader("[" + file + "]"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(h, asVector); d != "" {
		t.Errorf("as one vector it reads differently: %s", d)
	}
}

func TestAJepsenHistoryThatBreaksTheRulesIsRefusedAtItsLine(t *testing.T) {
	invoke := "{:type :invoke, :f :acquire, :process 0, :time 10}\n"
	ours := "{:type :info, :process :nemesis, :f :header, :time 0, :zkverify/header {\"zkverify\" 2}}\n"
	op := func(fields string) string {
		return invoke + "{:type :ok, :f :acquire, :process 0, :time 20, " + fields + "}\n"
	}
	for _, c := range []struct {
		name, file string
		line       int
		reason     string
	}{
		{"nothing", "", 0, "empty"},
		{"two open operations", invoke + invoke, 2, "is open"},
		{"time running backwards in a history of ours", ours + strings.ReplaceAll(invoke, "10", "30") + strings.ReplaceAll(invoke, ":process 0", ":process 1"), 3, "backwards"},
		{"a bad operation in the middle of a vector", "[" + op(":zkverify/permits -1") + invoke + "]\n", 2, "permits -1"},
		{"a vector that is not closed", "[" + invoke, 1, "ends before"},
		{"a vector that is closed as a list", "[" + invoke + ")", 2, "bad EDN"},
		{"an index that is a word", strings.ReplaceAll(invoke, "}", ", :index :first}"), 1, "index"},
		{"one index twice", strings.ReplaceAll(invoke, "}", ", :index 7}") + "\n" + strings.ReplaceAll(invoke, "}", ", :index 7}"), 3, "index 7 is that of line 1"},
		{"by its index, a completion before its invocation", strings.Replace(op(":index 1"), "}", ", :index 2}", 1), 2, "without an invocation"},
		{"a completion without an invocation", "{:type :ok, :f :acquire, :process 0, :time 9}\n", 1, "without an invocation"},
		{"an unknown type", "\n{:type :okay, :f :acquire, :process 0, :time 9}\n", 2, `unknown type "okay"`},
		{"an unknown operation", "{:type :invoke, :f :grab, :process 0, :time 9}\n", 1, `unknown op "grab"`},
		{"events of zkverify, and an operation of a register", "{:type :ok, :process 0, :f :acquire, :time 1, :zkverify/lock \"m\"}\n{:type :invoke, :process 0, :f :write, :time 2}\n", 2, "one file cannot have both"},
		{"a process that is a word", "{:type :invoke, :f :acquire, :process :me, :time 9}\n", 1, "process"},
		{"a time that is a word", "{:type :invoke, :f :acquire, :process 0, :time :now}\n", 1, "time"},
		{"a nemesis at no time", "{:type :info, :f :start, :process :nemesis, :time :now}\n", 1, "time of an operation"},
		{"a nemesis that does nothing", "{:type :info, :process :nemesis, :time 1}\n", 1, "no :f"},
		{"no map", invoke + ":ok\n", 2, "an operation is a map"},
		{"keys that are no keywords", invoke + "{1 2}\n", 2, "keywords"},
		{"a bracket too many", invoke + "}\n", 2, "bad EDN"},
		{"a token that is no token", op(`:zkverify/token "41"`), 2, "token"},
		{"negative permits", op(":zkverify/permits -1"), 2, "permits -1"},
		{"a field that we do not know", op(":zkverify/color 1"), 2, "color"},
		{"a number that has no place", op(":zkverify/depth 1.5"), 2, "depth"},
		{"a value that JSON does not have", op(":zkverify/depth #{1}"), 2, "no place in a history"},
		{"what is not UTF-8", invoke + "{:type :ok, :f :acquire, :process 0, :time 20, :lock \"\xff\"}\n", 2, "not UTF-8"},
		{"a number of a million digits", op(":zkverify/depth " + strings.Repeat("7", 1<<20)), 2, "too long"},
		{"a word of a million letters", op(":error " + strings.Repeat("a", 1<<20)), 2, "too long"},
		{"a string of two million", op(`:error "` + strings.Repeat(`\n`, 1<<20+1) + `"`), 2, "a text is longer"},
		{"a line that is too long", invoke + strings.Repeat(" ", maxLine+1), 2, "longer"},
		{"a header of a newer version", `{:type :info, :process :nemesis, :f :header, :zkverify/header {"zkverify" 999}}`, 1, "version 999"},
		{"a header with an unknown field", `{:type :info, :process :nemesis, :f :header, :zkverify/header {"zkverify" 2 "color" 1}}`, 1, "color"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := DecodeEDN(strings.NewReader(c.file))
			var f *FormatError
			if !errors.As(err, &f) {
				t.Fatalf("got %v, want a *FormatError", err)
			}
			if f.Line != c.line || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("got line %d, %.200q; want line %d, %q", f.Line, err, c.line, c.reason)
			}
		})
	}
}

func TestEDNThatNestsTooDeeplyIsRefused(t *testing.T) {
	for _, s := range []string{strings.Repeat("[", 1<<20), strings.Repeat("#a ", 1<<20), strings.Repeat("#_", 1<<20)} {
		if _, err := DecodeEDN(strings.NewReader(s)); err == nil {
			t.Error("it was read")
		}
	}
}
