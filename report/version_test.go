package report

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
)

// Every report of a run names the version of ZooKeeper, and names none if the history has
// none.
func TestEveryReportNamesTheVersionOfZooKeeper(t *testing.T) {
	for _, version := range []string{"99.9.1", ""} {
		header := histories.Header{Version: histories.Version, Target: "recipes", Servers: 3, ZooKeeper: version, Locks: map[string]histories.Lock{"m": {Recipe: histories.Mutex}}}
		r, err := checker.Check(t.Context(), &histories.History{Header: header})
		if err != nil {
			t.Fatal(err)
		}
		night := &Night{Title: "x", Seeds: 2, Options: map[string]string{"faults": "all"}, Results: []NightResult{
			*ResultOf(1, header, r, time.Second), *ResultOf(2, header, r, time.Second),
		}}
		property := `<property name="zookeeper" value="99.9.1">`
		for name, report := range map[string]struct {
			write func(io.Writer) error
			says  string
		}{
			"verdict.json": {func(w io.Writer) error { return JSON(w, r) }, `"zookeeper": "99.9.1"`},
			"junit.xml":    {JUnitOf(header, r, time.Second).Write, property},
			"report.html": {func(w io.Writer) error {
				return HTML(t.Context(), w, "x", header, func(func(*histories.Event, error) bool) {}, r)
			}, "<dd>99.9.1, 3 servers"},
			"nightly.json":         {func(w io.Writer) error { return json.NewEncoder(w).Encode(night) }, `"zookeeper":"99.9.1"`},
			"index.html":           {night.WriteHTML, "<dt>ZooKeeper</dt><dd>99.9.1</dd>"},
			"junit.xml of a night": {night.JUnit().Write, property},
			"the night's summary":  {func(w io.Writer) error { _, err := io.WriteString(w, night.Summary("nights")); return err }, "ZooKeeper 99.9.1"},
		} {
			var b bytes.Buffer
			if err := report.write(&b); err != nil {
				t.Fatal(err)
			}
			if version != "" && !strings.Contains(b.String(), report.says) {
				t.Errorf("%s does not say %q:\n%s", name, report.says, b.String())
			}
			// The label of the version: <property, "zookeeper", ZooKeeper</dt>.
			if empty := strings.NewReplacer("99.9.1", "").Replace(report.says); version == "" && strings.Contains(b.String(), empty) {
				t.Errorf("%s names a version that the history has not: %q", name, empty)
			}
		}
		var again checker.Report
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &again); err != nil || again.ZooKeeper != version {
			t.Errorf("read back: %q, %v", again.ZooKeeper, err)
		}
	}
}

// A night that was continued on other servers names both versions.
func TestANightNamesAllVersions(t *testing.T) {
	n := &Night{Seeds: 3, Results: []NightResult{{Servers: "3.8.0"}, {Servers: "3.9.6"}, {Servers: "3.8.0"}, {}}}
	if got := n.ZooKeeper(); got != "3.8.0, 3.9.6" {
		t.Errorf("got %q", got)
	}
}
