package histories

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

// opened opens a text as a file of this name.
func opened(t *testing.T, name, text string, as As) (*File, error) {
	t.Helper()
	f, err := OpenAs(context.Background(), written(t, name, text), Limits{}, as)
	if err == nil {
		t.Cleanup(f.Close)
	}
	return f, err
}

// eventsOf returns the events of a file in short form.
func eventsOf(t *testing.T, f *File) (out []string) {
	t.Helper()
	for e, err := range f.Events() {
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprint(e.Type, " ", e.Process)
		switch {
		case e.Fault != nil:
			text = fmt.Sprint(e.Type, " ", e.Fault.Name)
		default:
			text += fmt.Sprint(" ", e.Op, " ", e.Lock)
		}
		if e.Owner != "" {
			text += " of " + e.Owner
		}
		if e.Token.Zxid != 0 {
			text += fmt.Sprint(" fence ", e.Token.Zxid)
		}
		out = append(out, text)
	}
	return out
}

const twoHold = `{:type :invoke, :process 0, :f :acquire, :value nil}
{:type :ok, :process 0, :f :acquire, :value nil}
{:type :invoke, :process 1, :f :acquire, :value nil}
{:type :ok, :process 1, :f :acquire, :value nil}
`

// The events of a history depend neither on its format nor on the name of the file.
func TestAHistoryIsReadInEachForm(t *testing.T) {
	var packed, small bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(twoHold)) //nolint:errcheck // a buffer
	z.Close()                //nolint:errcheck // a buffer
	zs, err := zstd.NewWriter(&small)
	if err != nil {
		t.Fatal(err)
	}
	zs.Write([]byte(twoHold)) //nolint:errcheck // a buffer
	zs.Close()                //nolint:errcheck // a buffer
	one := strings.NewReplacer
	log := one("{:type ", "", ", :process 0, :f :acquire, :value nil}", "\t:acquire\tnil", ", :process 1, :f :acquire, :value nil}", "\t:acquire\tnil").Replace(twoHold)
	lines := strings.Split(log, "\n")
	for i := range 4 {
		lines[i] = fmt.Sprintf("%d\t%s", i/2, lines[i])
	}
	log = strings.Join(lines, "\n")
	for name, text := range map[string]string{
		"a map a line":             twoHold,
		"a vector":                 "[" + twoHold + "]",
		"a list behind a comment":  "; of Knossos\n(" + twoHold + ")",
		"records":                  strings.ReplaceAll(twoHold, "{:", "#jepsen.history.Op{:"),
		"a byte order mark":        "\ufeff" + twoHold,
		"gzip":                     packed.String(),
		"Zstandard":                small.String(),
		"processes with names":     one(":process 0", `:process "a"`, ":process 1", `:process "b"`).Replace(twoHold),
		"no times":                 strings.ReplaceAll(twoHold, ":value nil", ":value nil, :time nil, :index nil"),
		"times of any size":        strings.ReplaceAll(twoHold, ":value nil", ":value nil, :time 1N"),
		"times that are exact":     strings.ReplaceAll(twoHold, ":value nil", ":value nil, :time 10.0M"),
		"objects":                  strings.ReplaceAll(twoHold, ":value nil", `:value nil, :x #object[a.B$c 0x1f "a@1"], :y #object["[B" 0x2 [1 a]], :z #<Foo foo@1 <2>>`),
		"numbers that are none":    strings.ReplaceAll(twoHold, ":value nil", `:value nil, :x [##Inf ##-Inf ##NaN 1/3 -]`),
		"maps with a namespace":    strings.ReplaceAll(twoHold, ":value nil", `:value nil, :x #:etcd{:lease 7}, :y #::{:a 1}`),
		"symbols and characters":   strings.ReplaceAll(twoHold, ":value nil", `:value nil, :x [a/b \newline \a #{-} #inst "2020-01-01T00:00:00Z"]`),
		"JSON with Jepsen's keys":  one(":type :", `"type":"`, ", :process ", `","process":`, ", :f :acquire, :value nil", `,"f":"acquire","value":null`).Replace(twoHold),
		"history.txt":              log,
		"a log of jepsen.util":     "INFO  jepsen.util - " + strings.ReplaceAll(strings.TrimSpace(log), "\n", "\nINFO  jepsen.util - "),
		"jepsen.log":               "2020-01-01 00:00:00,000{GMT}\tINFO\t[main] jepsen.core: running\n2020-01-01 00:00:00,000{GMT}\tINFO\t[jepsen worker 0] jepsen.util: " + strings.ReplaceAll(strings.TrimSpace(log), "\n", "\n2020\tWARN\t[x] y: z\n2020\tINFO\t[jepsen worker 0] jepsen.util: "),
		"carriage returns":         strings.ReplaceAll(log, "\n", "\r\n"),
		"a release that had none":  twoHold + "{:type :invoke, :process 0, :f :release}\n{:type :fail, :process 0, :f :release, :error :timeout}",
		"keys of the same meaning": strings.ReplaceAll(twoHold, ":value nil", ":key :lock"),
	} {
		for _, ending := range []string{".edn", ".jsonl", ".txt", ".history"} {
			t.Run(name+ending, func(t *testing.T) {
				f, err := opened(t, "h"+ending, text, As{})
				if err != nil {
					t.Fatal(err)
				}
				got := strings.Join(eventsOf(t, f), "\n")
				for _, drop := range []string{" of a", " of b"} {
					got = strings.ReplaceAll(got, drop, "")
				}
				got = strings.ReplaceAll(got, " :lock", " lock")
				want := "invoke 0 acquire lock\nok 0 acquire lock\ninvoke 1 acquire lock\nok 1 acquire lock"
				if d := cmp.Diff(want, got); d != "" {
					t.Error(d)
				}
			})
		}
	}
}

func TestLocksHaveTheNamesThatOperationsShow(t *testing.T) {
	for _, c := range []struct{ name, fields, want string }{
		{"a lock", ":lock %s", ""},
		{"a key", ":key %s, :value nil", ""},
		{"a resource", ":resource %s", ""},
		{"a lock's name", ":lock-name %s", ""},
		{"a value", ":value %s", ""},
		{"a tuple", ":value [%s nil]", ""},
		{"a tuple with a tag", ":value #jepsen.history/Tuple [%s nil]", ""},
		{"an entry", ":value #clojure.lang.MapEntry{:key %s, :value nil}", ""},
		{"a map", ":value {:lock %s}", ""},
		{"a field that is named", ":path %s", "path"},
		{"a value that is named", ":value %s", ":value"},
	} {
		for _, names := range [][2]string{{`"a"`, `"b"`}, {":a", ":b"}, {"a", "b"}, {"1", "2"}, {`"1"`, "1"}, {`#uuid "1"`, `#uuid "2"`}, {"[1 2]", "[2 1]"}, {"{:a 1}", "{:a 2}"}, {":a", `":a"`}, {"nil-1", `"nil"`}} {
			var text strings.Builder
			for i, name := range names {
				for _, kind := range []string{"invoke", "ok"} {
					fmt.Fprintf(&text, "{:type :%s, :process %d, :f :acquire, %s}\n", kind, i, fmt.Sprintf(c.fields, name))
				}
			}
			f, err := opened(t, "h.edn", text.String(), As{Key: c.want})
			var bad *FormatError
			if errors.As(err, &bad) && (c.name == "a value" && strings.Contains(err.Error(), "--key value") || c.fields == ":value %s" && c.want == "" && names[0][0] == '{') {
				continue // the model has to be given
			}
			if err != nil {
				t.Errorf("%s, %v: %v", c.name, names, err)
				continue
			}
			if got := f.Reading(); got.Keys != 2 && !(c.fields == ":value %s" && c.want == "" && names[0][0] == '{') {
				t.Errorf("%s, %v: %v", c.name, names, got)
			}
		}
	}
}

// An unclear file is refused with the line in question and the option to set.
func TestWhatIsNotUnderstoodIsRefused(t *testing.T) {
	op := func(process int, kind, f, more string) string {
		return fmt.Sprintf("{:type :%s, :process %d, :f :%s, %s}\n", kind, process, f, more)
	}
	both := func(process int, f, more string) string {
		return op(process, "invoke", f, more) + op(process, "ok", f, more)
	}
	for _, c := range []struct {
		name, text string
		as         As
		line       int
		reason     string
	}{
		{"an operation of no model", both(0, "acquire", "") + both(0, "refresh", ""), As{}, 3, "--ignore refresh"},
		{"an operation of no model, late", strings.Repeat(both(0, "acquire", "")+both(0, "release", ""), prefixed) + both(0, "refresh", ""), As{}, 4*prefixed + 1, "--ignore refresh"},
		{"operations of a lock and of a register", both(0, "acquire", "") + both(0, "read", ""), As{}, 3, "--ignore"},
		{"operations of a lock and of a register, late", strings.Repeat(both(0, "acquire", "")+both(0, "release", ""), prefixed) + both(0, "read", ""), As{}, 4*prefixed + 1, "--ignore"},
		{"a register for a semaphore", both(0, "read", ""), As{Model: "semaphore", Size: 1}, 1, "no operation of a semaphore"},
		{"a lock for a register", both(0, "acquire", ""), As{Model: "register"}, 1, "no operation of a register"},
		{"a cas for a register", both(0, "cas", ":value [1 2]"), As{Model: "register"}, 0, "operations of a cas-register"},
		{"a model that is none", both(0, "acquire", ""), As{Model: "mutx"}, 0, "owner-mutex"},
		{"a semaphore without a size", both(0, "acquire", ""), As{Model: "semaphore"}, 0, "--size"},
		{"a mutex with a size", both(0, "acquire", ""), As{Model: "mutex", Size: 2}, 0, "no size"},
		{"a start that is no EDN", both(0, "read", ""), As{Initial: "{"}, 0, "no EDN"},
		{"a number", both(0, "acquire", ":value 1"), As{}, 1, "--key value"},
		{"a value now and then", both(0, "acquire", ":value :a") + both(1, "acquire", ""), As{}, 3, "--key none"},
		{"a value, late", strings.Repeat(both(0, "acquire", "")+both(0, "release", ""), prefixed) + both(0, "acquire", ":value :a"), As{}, 4*prefixed + 1, "--key value"},
		{"ids", both(0, "acquire", `:value "x"`) + both(0, "release", `:value "y"`), As{}, 3, "--key value"},
		{"an answer of another name", op(0, "invoke", "acquire", `:value "x"`) + op(0, "ok", "acquire", `:value "y"`), As{}, 2, "--key value"},
		{"two fields", both(0, "acquire", ":lock 1, :key 2"), As{}, 1, "by --key"},
		{"a field that is missing", both(0, "acquire", ":key 1") + both(0, "release", ""), As{}, 3, "--key"},
		{"a field that no operation has", both(0, "acquire", ""), As{Key: "id"}, 1, "has no :id"},
		{"no tuple", both(0, "acquire", ":value [1 nil]") + both(0, "release", ":value 1"), As{}, 3, "no tuple"},
		{"a register whose values are of another kind", both(0, "write", ":value 1") + op(0, "invoke", "read", "") + op(0, "ok", "read", ":value [2 1]"), As{}, 4, "not understood"},
		{"a cas of one value", both(0, "cas", ":value 1"), As{}, 1, "expected"},
		{"a transaction of Elle's", both(0, "txn", ":value [[:append 1 2]]"), As{}, 1, "Elle"},
		{"a transaction that is none", both(0, "txn", ":value 7"), As{}, 1, "vector"},
		{"a process without a name", "{:type :invoke, :f :acquire}", As{}, 1, "process"},
		{"a process that is nil", "{:type :invoke, :f :acquire, :process nil}", As{}, 1, "process"},
		{"no type", "{:process 0, :f :acquire}", As{}, 1, "type"},
		{"no f", "{:type :invoke, :process 0}", As{}, 1, ":f"},
		{"a time without end", "{:type :invoke, :process 0, :f :acquire, :time 1e300}", As{}, 1, "time"},
		{"a process without end", "{:type :invoke, :process 99999999999999999999N, :f :acquire}", As{}, 1, "process"},
		{"a large process", "{:type :invoke, :process 4294967296, :f :acquire}", As{}, 1, "process"},
		{"a binary of Jepsen's", "JEPSEN\x00\x00\x00\x01", As{}, 0, "history.edn"},
		{"UTF-16", "\xff\xfe{\x00", As{}, 0, "UTF-8"},
		{"a JSON array", `[{"type":"invoke"}]`, As{}, 0, "jq"},
		{"gzip that is none", "\x1f\x8b\x08\x00x", As{}, 0, "gzip"},
		{"a log with another line", "0\t:invoke\t:acquire\tnil\nhello\n", As{}, 2, "tabs"},
		{"a log with a value that is none", "0\t:invoke\t:acquire\t[1\n", As{}, 1, "bad EDN"},
		{"JSON with a line that is none", `{"f":"acquire","type":"invoke","process":0}` + "\n{]\n", As{}, 2, "bad JSON"},
		{"JSON with a process that is a list", `{"f":"acquire","type":"invoke","process":[0]}`, As{}, 1, "process"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := opened(t, "h.edn", c.text, c.as)
			if err == nil {
				for _, err = range f.Events() {
					if err != nil {
						break
					}
				}
			}
			var bad *FormatError
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, want a *FormatError", err)
			}
			if bad.Line != c.line || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("got line %d, %.300q; want line %d, %q", bad.Line, err, c.line, c.reason)
			}
		})
	}
}

func TestTheFaultsOfJepsensNemesesBeginAndEnd(t *testing.T) {
	for _, c := range []struct{ did, want string }{
		{"start stop", "+nemesis -nemesis"},
		{"start-partition stop-partition", "+partition -partition"},
		{"kill start", "+kill -kill"},
		{"kill start start", "+kill -kill"},
		{"kill kill start", "+kill -kill"},
		{"pause resume", "+pause -pause"},
		{"kill pause resume start", "+kill +pause -pause -kill"},
		{"start-packet kill start stop-packet", "+packet +kill -kill -packet"},
		{"bump-clock strobe-clock check-offsets reset-clock", "+clock -clock"},
		{"check-offsets", ""},
		{"start kill stop", "+nemesis +kill -kill -nemesis"},
		{"kill", "+kill -kill"},
		{"bitflip", "+bitflip -bitflip"},
		{"starting", "+starting -starting"},
	} {
		text := "{:type :invoke, :process 0, :f :acquire}\n"
		for f := range strings.FieldsSeq(c.did) {
			text += strings.Repeat(fmt.Sprintf("{:type :info, :process :nemesis, :f :%s, :value [1]}\n", f), 2)
		}
		f, err := opened(t, "h.edn", text, As{})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(eventsOf(t, f)[1:], " ")
		got = strings.NewReplacer("fault-start ", "+", "fault-stop ", "-").Replace(got)
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.did, got, c.want)
		}
	}
}

// A file whose operations are out of order is read like the same file in order.
func TestAForeignHistoryThatIsOutOfOrderIsPutInOrder(t *testing.T) {
	var lines []string
	for i, line := range strings.Split(strings.TrimSpace(twoHold), "\n") {
		lines = append(lines, strings.Replace(line, "}", fmt.Sprintf(", :index %d}", i), 1))
	}
	inOrder, err := opened(t, "h.edn", strings.Join(lines, "\n"), As{})
	if err != nil {
		t.Fatal(err)
	}
	lines[0], lines[3] = lines[3], lines[0]
	shuffled, err := opened(t, "h.edn", strings.Join(lines, "\n"), As{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(eventsOf(t, inOrder), eventsOf(t, shuffled)); d != "" {
		t.Error(d)
	}
}

// The reader of simple operations reads them as the general reader does.
func TestSimpleOperationsAreReadAsAllAre(t *testing.T) {
	for _, fields := range []string{
		":type :ok, :f :acquire, :value nil, :process 0, :time 1, :index 2", ":type :ok :f :cas :value [1 [-2 \"a b\"]] :process 3",
		":type :info, :process :nemesis, :f :start-x, :value true", ":process \"a\", :error :not-held, :value false, :type :fail, :f :release",
		":value [], :x [nil], :time 999999999999999999", ":value :a/b, :type :ok", `:value "a\n", :type :ok`, ":value 1.5, :time -7", ":value 007", ":value #{1}",
		":type :ok :type :ok", ":x 1, :x 1", ":process :me", ":value \"é\"", ":value (1 2)", ":value a", ":value [1 2", ":value 1}", ":a", ":value 99999999999999999999",
	} {
		read := func(tag string) (*jepsenOp, error) {
			s := &ednOperations{forms: newEDNReader(strings.NewReader("\n" + tag + "{" + fields + "}\n"))}
			return s.next()
		}
		all, wrong := read("#any")
		for _, tag := range []string{"", jepsenTag} {
			simple, bad := read(tag)
			if fmt.Sprint(bad) != fmt.Sprint(wrong) {
				t.Errorf("%s: %v, want %v", fields, bad, wrong)
			}
			if wrong == nil {
				if d := cmp.Diff(fmt.Sprintf("%+v", *all), fmt.Sprintf("%+v", *simple)); d != "" {
					t.Errorf("%s: %s", fields, d)
				}
			}
		}
	}
}
