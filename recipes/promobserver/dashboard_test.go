package promobserver_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/promobserver"
)

// dashboard holds the parts of docs/operations/dashboard.json that the tests read.
type dashboard struct {
	Panels     []panel
	Templating struct {
		List []struct {
			Name, Type string
			Query      json.RawMessage // a string, or an object with one
		}
	}
}

type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	Datasource               struct{ UID string }
	Links                    []struct{ Title, URL string }
	Targets                  []struct{ RefID, Expr, LegendFormat string }
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	text, err := os.ReadFile("../../docs/operations/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Panels) == 0 {
		t.Fatal("no panels")
	}
	return d
}

// queries returns the expressions of the panels by name, as Grafana sends them when all instances
// and locks are chosen.
func (d dashboard) queries(t *testing.T) map[string]string {
	t.Helper()
	queries := make(map[string]string)
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			name := fmt.Sprintf("Panel%d%s", p.ID, target.RefID)
			if queries[name] != "" {
				t.Errorf("two targets are %s", name)
			}
			queries[name] = strings.NewReplacer("$__rate_interval", "1m", "$__range", "1h", "$instance", ".*", "$lock", ".*").Replace(target.Expr)
			if strings.Contains(queries[name], "$") {
				t.Errorf("%q has an unknown variable: %s", p.Title, target.Expr)
			}
		}
	}
	return queries
}

// rulesFile writes alerts that fire when a query returns a value above zero.
func rulesFile(t *testing.T, queries map[string]string) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("groups:\n  - name: dashboard\n    rules:\n")
	for _, name := range slices.Sorted(maps.Keys(queries)) {
		fmt.Fprintf(&text, "      - alert: %s\n        expr: 'max(%s) > 0'\n", name, queries[name])
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestPrometheusAcceptsEveryQueryOfTheDashboard(t *testing.T) {
	file := rulesFile(t, readDashboard(t).queries(t))
	if out, err := exec.Command(promtool(t), "check", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The test causes every event that the panels show, and checks that each panel has shown it.
func TestEveryPanelOfTheDashboardShowsWhatHappens(t *testing.T) {
	promtool(t)
	queries := readDashboard(t).queries(t)
	var s *service
	synctest.Test(t, func(t *testing.T) {
		s = newService(inVirtualTime(t))
		for _, happens := range []func(*service){
			nobodyHolds, nobodyLeads, suspended, suspendedOften, giveUp, unanswered, disconnected, sessionsLost, lost,
		} {
			happens(s)
			s.pass(time.Minute)
		}
	})
	s.alerts(t, rulesFile(t, queries), map[string][]string{firedOnce: slices.Collect(maps.Keys(queries))})
}

// exported returns the metrics of promobserver, and the labels of each.
func exported(t *testing.T) map[string][]string {
	t.Helper()
	described := new(describer)
	if _, err := promobserver.New(described); err != nil {
		t.Fatal(err)
	}
	metrics := make(map[string][]string)
	for _, desc := range described.all {
		m := regexp.MustCompile(`fqName: "(\w+)".*variableLabels: \{([\w,]*)\}`).FindStringSubmatch(desc)
		if m == nil {
			t.Fatalf("no name and labels in %s", desc)
		}
		metrics[m[1]] = strings.Split(m[2], ",")
	}
	return metrics
}

// describer is a registerer that makes each collector describe its metrics.
type describer struct{ all []string }

func (d *describer) Register(c prometheus.Collector) error {
	descs := make(chan *prometheus.Desc, 8)
	c.Describe(descs)
	close(descs)
	for desc := range descs {
		d.all = append(d.all, desc.String())
	}
	return nil
}

func (d *describer) MustRegister(all ...prometheus.Collector) {
	for _, c := range all {
		_ = d.Register(c)
	}
}

func (d *describer) Unregister(prometheus.Collector) bool { return false }

// notShown maps metrics that no panel needs to the reason.
var notShown = map[string]string{}

var (
	duration  = regexp.MustCompile(`\[\$?\w+\]`)
	selector  = regexp.MustCompile(`(\w+)(?:\{([^}]*)\})?`)
	matcher   = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"`)
	grouping  = regexp.MustCompile(`\b(?:by|without|on|ignoring)\s*\(([^)]*)\)`)
	ofPromQL  = regexp.MustCompile(`^(sum|max|count|rate|increase|histogram_quantile|vector|or|unless|by|\d+)$`)
	histogram = regexp.MustCompile(`^(\w+_seconds)_(bucket|sum|count)$`)
	legend    = regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`)
)

// usedBy returns the metrics that a query names, and complains about metrics, labels and
// values of labels that are not exported. Prometheus adds the label instance.
func usedBy(t *testing.T, title, query string, metrics map[string][]string) (used []string) {
	t.Helper()
	known := []string{"instance"}
	plain := duration.ReplaceAllString(grouping.ReplaceAllString(query, "by"), "")
	for _, m := range selector.FindAllStringSubmatch(plain, -1) {
		name, matchers := m[1], m[2]
		if ofPromQL.MatchString(name) && matchers == "" {
			continue
		}
		labels := []string{"instance"}
		if h := histogram.FindStringSubmatch(name); h != nil {
			name = h[1]
			labels = append(labels, "le")
		}
		own, there := metrics[name]
		if !there {
			t.Errorf("%q: %s is no metric of promobserver", title, name)
			continue
		}
		used = append(used, name)
		labels = append(labels, own...)
		known = append(known, labels...)
		for _, l := range matcher.FindAllStringSubmatch(matchers, -1) {
			if !slices.Contains(labels, l[1]) {
				t.Errorf("%q: %s has no label %s", title, name, l[1])
			}
			if l[1] == "reason" && !slices.Contains(recipes.LossReasons(), recipes.LossReason(l[2])) {
				t.Errorf("%q: no lease is lost because of %q", title, l[2])
			}
		}
	}
	for _, m := range grouping.FindAllStringSubmatch(query, -1) {
		for label := range strings.SplitSeq(m[1], ",") {
			if label = strings.TrimSpace(label); !slices.Contains(known, label) {
				t.Errorf("%q: it groups by %s, which no metric there has", title, label)
			}
		}
	}
	return used
}

func TestTheDashboardShowsTheMetricsThatThereAre(t *testing.T) {
	metrics, d := exported(t), readDashboard(t)
	shown := make(map[string]bool)
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			for _, name := range usedBy(t, p.Title, target.Expr, metrics) {
				shown[name] = true
			}
			for _, m := range legend.FindAllStringSubmatch(target.LegendFormat, -1) {
				if !regexp.MustCompile(`by \([^)]*\b` + m[1] + `\b`).MatchString(target.Expr) {
					t.Errorf("%q: the legend names %s, by which the query does not group", p.Title, m[1])
				}
			}
		}
	}
	for name := range metrics {
		if shown[name] == (notShown[name] != "") {
			t.Errorf("%s: shown: %v, a reason not to: %q", name, shown[name], notShown[name])
		}
	}
	for _, v := range d.Templating.List {
		if v.Type == "query" {
			var query struct{ Query string }
			if err := json.Unmarshal(v.Query, &query); err != nil {
				t.Fatal(err)
			}
			of := regexp.MustCompile(`^label_values\((.*), (\w+)\)$`).FindStringSubmatch(query.Query)
			if of == nil || of[2] != v.Name || len(usedBy(t, v.Name, of[1], metrics)) != 1 {
				t.Errorf("variable %s: %s", v.Name, query.Query)
			}
		}
	}
}

func TestThePanelsOfTheDashboardAreInOrder(t *testing.T) {
	type place struct{ x, y int }
	ids, taken := make(map[int]string), make(map[place]string)
	for _, p := range readDashboard(t).Panels {
		if other := ids[p.ID]; other != "" || p.ID < 1 {
			t.Errorf("%q and %q have the id %d", other, p.Title, p.ID)
		}
		ids[p.ID] = p.Title
		pos := p.GridPos
		if pos.X < 0 || pos.W < 1 || pos.H < 1 || pos.X+pos.W > 24 {
			t.Errorf("%q is at %+v, of 24 columns", p.Title, pos)
		}
		for x := pos.X; x < pos.X+pos.W; x++ {
			for y := pos.Y; y < pos.Y+pos.H; y++ {
				if other := taken[place{x, y}]; other != "" {
					t.Fatalf("%q covers %q at column %d, line %d", p.Title, other, x, y)
				}
				taken[place{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if len(strings.Fields(p.Description)) < 6 || !strings.HasSuffix(p.Description, ".") {
			t.Errorf("%q does not say what it shows: %q", p.Title, p.Description)
		}
		if len(p.Targets) == 0 || p.Datasource.UID != "${datasource}" {
			t.Errorf("%q has %d targets, of data source %q", p.Title, len(p.Targets), p.Datasource.UID)
		}
	}
}

// Each section of the runbook is linked from a panel that shows a metric of its alert.
func TestThePanelsLinkToTheRunbook(t *testing.T) {
	runbook, err := os.ReadFile("../../docs/runbook.md")
	if err != nil {
		t.Fatal(err)
	}
	alerts, err := os.ReadFile(rules)
	if err != nil {
		t.Fatal(err)
	}
	metrics, linked := exported(t), make(map[string]bool)
	for _, p := range readDashboard(t).Panels {
		for _, link := range p.Links {
			alert := strings.TrimPrefix(link.Title, "Runbook: ")
			linked[alert] = true
			if want := "https://github.com/zkverify/zkverify/blob/main/docs/runbook.md#" + strings.ToLower(alert); link.URL != want {
				t.Errorf("%q: %q leads to %s, not to %s", p.Title, link.Title, link.URL, want)
			}
			_, rule, _ := strings.Cut(string(alerts), "- alert: "+alert+"\n")
			rule, _, _ = strings.Cut(rule, "labels:")
			if !slices.ContainsFunc(usedBy(t, p.Title, p.Targets[0].Expr, metrics), func(name string) bool { return strings.Contains(rule, name) }) {
				t.Errorf("%q shows nothing that %s is about: %s", p.Title, alert, rule)
			}
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^## (\S+)$`).FindAllStringSubmatch(string(runbook), -1) {
		if !linked[m[1]] {
			t.Errorf("no panel links to the runbook on %s", m[1])
		}
	}
}
