package nemesis

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/nemesis/faults"
)

func TestAScheduleSurvivesYAML(t *testing.T) {
	three := 3
	for name, want := range map[string]Schedule{
		"a drawn one": Draw(plan(7, 2*time.Minute)),
		"none at all": {},
		"one that decides everything": {[]Step{
			{At: time.Second, For: 1500 * time.Millisecond, Fault: "latency", Pick: fault.Pick{Aim: fault.AtWaiter, Draw: 4294967295, Client: &three, Links: fault.OneLink, Params: map[string]string{"latency": "80ms", "jitter": "0s"}}},
			{At: 2 * time.Second, Fault: "restart-server", Pick: fault.Pick{Server: fault.TheLeader}},
			{At: 3 * time.Second, For: time.Second, Fault: "failpoint", Pick: fault.Pick{Server: fault.AFollower, Params: map[string]string{"point": "before-log-sync", "action": "halt"}}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if err := want.WriteYAML(&b, "seed 7\nof a test"); err != nil {
				t.Fatal(err)
			}
			got, err := ReadYAML(strings.NewReader(b.String()), faults.List())
			if err != nil {
				t.Fatalf("%v in\n%s", err, b.String())
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("read back: %+v\nwant: %+v", got, want)
			}
		})
	}
}

func TestAScheduleWrittenByHandIsRead(t *testing.T) {
	got, err := ReadYAML(strings.NewReader(`# two faults, the later one first
faults:
  - at: 4s
    fault: kill-server
    for: 2s
    server: 2
  - {at: 500ms, for: 1.7s, fault: expire-silence, aim: holder}
`), faults.List())
	want := Schedule{[]Step{
		{At: 500 * time.Millisecond, For: 1700 * time.Millisecond, Fault: "expire-silence", Pick: fault.Pick{Aim: fault.AtHolder}},
		{At: 4 * time.Second, For: 2 * time.Second, Fault: "kill-server", Pick: fault.Pick{Server: "2"}},
	}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, error %v; want %+v", got, err, want)
	}
}

func TestWhatIsWrongWithAScheduleIsNamedWithItsLine(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		line int
		says string
	}{
		"an unknown field":                 {"faults:\n  - at: 1s\n    fault: down\n    duration: 2s\n", 4, "duration"},
		"an unknown field above":           {"seed: 3\nfaults: []\n", 1, "seed"},
		"a field twice":                    {"faults:\n  - at: 1s\n    at: 2s\n    fault: down\n", 3, "at"},
		"an unknown fault":                 {"faults:\n  - {at: 1s, fault: down}\n  - {at: 2s, fault: dwon}\n", 3, `unknown fault "dwon"`},
		"a fault without a time":           {"faults:\n  - fault: down\n", 2, "needs at"},
		"a negative offset":                {"faults:\n  - {at: -1s, fault: down}\n", 2, "at is -1s"},
		"a negative length":                {"faults:\n  - {at: 1s, for: -1s, fault: down}\n", 2, "for is -1s"},
		"a time without a unit":            {"faults:\n  - {at: 1, fault: down}\n", 2, "want a duration"},
		"an unknown aim":                   {"faults:\n  - {at: 1s, fault: down, aim: sleeper}\n", 2, "aim is"},
		"an unknown detail":                {"faults:\n  - {at: 1s, fault: down, params: {latency: 3s}}\n", 2, `has no "latency"`},
		"a detail out of range":            {"faults:\n  - {at: 1s, fault: slicer, params: {size: 1}}\n", 2, "at least 2"},
		"a jitter above its latency":       {"faults:\n  - {at: 1s, fault: latency, params: {latency: 1ms, jitter: 2ms}}\n", 2, "jitter"},
		"a server for a fault of clients":  {"faults:\n  - {at: 1s, fault: down, server: leader}\n", 2, "server"},
		"a client for a fault of servers":  {"faults:\n  - {at: 1s, fault: kill-leader, client: 1}\n", 2, "client"},
		"links for a fault that has none":  {"faults:\n  - {at: 1s, fault: expire-silence, links: one}\n", 2, "links"},
		"a server that cannot be":          {"faults:\n  - {at: 1s, fault: kill-server, server: 12}\n", 2, "server is"},
		"two faults of clocks at a time":   {"faults:\n  - {at: 1s, for: 2s, fault: clock-rate}\n  - {at: 2s, for: 1s, fault: clock-step}\n", 3, "one fault of servers' clocks at a time"},
		"a clock that stands":              {"faults:\n  - {at: 1s, for: 2s, fault: clock-rate, params: {rate: \"0\"}}\n", 2, "want a number above 0"},
		"two faults of servers at a time":  {"faults:\n  - {at: 1s, for: 2s, fault: bridge}\n  - {at: 2s, fault: kill-leader}\n", 3, "one fault of servers at a time"},
		"two faults of one client at once": {"faults:\n  - {at: 3s, fault: down, client: 2}\n  - {at: 1s, for: 3s, fault: latency, client: 2}\n", 2, "hits client 2 while"},
		"no list":                          {"faults: 3\n", 1, "not a list"},
		"nothing":                          {"", 1, "0 documents"},
		"no YAML":                          {"faults:\n  - {at: 1s\n", 2, ""},
		"text":                             {"down at 3s\n", 1, "faults"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := ReadYAML(strings.NewReader(c.text), faults.List())
			var at *LineError
			if !errors.As(err, &at) || at.Line != c.line || !strings.Contains(err.Error(), c.says) {
				t.Errorf("read %+v, error %v; want line %d, %q", s, err, c.line, c.says)
			}
		})
	}
}

// FuzzReadYAML reads arbitrary schedules. A schedule that is read is the same after writing and
// reading it again.
func FuzzReadYAML(f *testing.F) {
	for _, text := range []string{
		"faults:\n  - {at: 1s, for: 2s, fault: down, client: 1}\n", "faults: []\n", "faults:\n- at: 3s\n  fault: latency\n  params:\n    ms: '7'\n",
		"faults: &a\n- *a\n", "faults:\n- &a {<<: *a, at: 1s}\n", "--- \n...\nfaults: ~\n", "faults: !!seq |\n  a\n", "faults: \"\\x41\n", "# a\nfaults:\n- {at: 9223372036854775807ns, fault: down}\n",
	} {
		f.Add(text)
	}
	kinds := faults.List()
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ReadYAML(strings.NewReader(text), kinds)
		if at := new(LineError); err != nil {
			if !errors.As(err, &at) {
				t.Errorf("an error without a line: %v", err)
			}
			return
		}
		var out strings.Builder
		if err := s.WriteYAML(&out, "of\n"+text); err != nil {
			t.Fatalf("it is read, and not written: %v", err)
		}
		again, err := ReadYAML(strings.NewReader(out.String()), kinds)
		if err != nil || !reflect.DeepEqual(s, again) {
			t.Errorf("written as %s\nit is read as another one: %v\n%s", out.String(), err, cmp.Diff(s, again))
		}
	})
}

// A large or deep schedule is refused before it takes long.
func TestAScheduleIsBounded(t *testing.T) {
	step := "- {at: 1s, for: 0s, fault: wipe-follower}\n"
	for name, text := range map[string]string{
		"brackets": "faults: " + strings.Repeat("[", 1<<20), "braces": "faults: " + strings.Repeat("{a: ", 1<<18), "dashes": "faults:\n" + strings.Repeat("- ", 1<<19),
		"steps": "faults:\n" + strings.Repeat(step, maxSteps+1), "bytes": strings.Repeat("# a\n", maxYAML/4+1),
	} {
		if _, err := ReadYAML(strings.NewReader(text), faults.List()); !errors.As(err, new(*LineError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
