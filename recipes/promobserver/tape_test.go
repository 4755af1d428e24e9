package promobserver_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/promobserver"
)

const (
	rules = "../../docs/operations/alerts.yaml"
	every = 15 * time.Second // scrapes and evaluations
)

// promtool returns Prometheus' own checker of rules, or skips the test. The
// places are those of ensemble/install.sh.
func promtool(t *testing.T) string {
	t.Helper()
	if named := os.Getenv("ZKVERIFY_PROMTOOL"); named != "" {
		return named
	}
	if path, err := exec.LookPath("promtool"); err == nil {
		return path
	}
	if cache, err := os.UserCacheDir(); err == nil {
		path := filepath.Join(cache, "zkverify", "promtool")
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Skip("no promtool: run sh ensemble/install.sh --promtool, or name it in ZKVERIFY_PROMTOOL")
	return ""
}

// service holds clients whose metrics are scraped.
type service struct {
	servers
	registry *prometheus.Registry
	metrics  *promobserver.Metrics
	series   map[string][]string // the values, by the series' name and labels
	scrapes  int
	next     time.Time // when to scrape

	background sync.WaitGroup // ends with the test
}

func newService(servers servers) *service {
	registry := prometheus.NewPedanticRegistry()
	metrics, err := promobserver.New(registry)
	if err != nil {
		servers.t.Fatal(err)
	}
	s := &service{servers: servers, registry: registry, metrics: metrics, series: make(map[string][]string), next: time.Now()}
	s.t.Cleanup(s.background.Wait)
	s.pass(every)
	return s
}

// connect connects a client that is scraped.
func (s *service) connect(name string, options ...recipes.Option) *recipes.Client {
	return s.connectApart(name, append(options, recipes.WithObserver(s.metrics.Observer()), recipes.WithConnectionListener(s.metrics.Listener()))...)
}

// connectApart connects a client that is not scraped.
func (s *service) connectApart(name string, options ...recipes.Option) *recipes.Client {
	s.t.Helper()
	addrs, reach := s.reach(name)
	client, err := recipes.Connect(s.t.Context(), addrs, append(reach, options...)...)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = client.Close(context.Background()) })
	return client
}

// acquire returns a lease of the mutex at a path.
func (s *service) acquire(client *recipes.Client, path string) *recipes.Lease {
	s.t.Helper()
	lease, err := recipes.NewMutex(client, path).Acquire(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return lease
}

// pass lets time pass, and scrapes meanwhile.
func (s *service) pass(d time.Duration) {
	s.t.Helper()
	for range (d + every - 1) / every {
		s.scrape()
		if now := time.Now(); s.next.Before(now) {
			s.next = now // the steps since have taken time
		}
		s.next = s.next.Add(s.real(every))
		time.Sleep(time.Until(s.next))
	}
}

func (s *service) scrape() {
	s.t.Helper()
	families, err := s.registry.Gather()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			switch h := m.GetHistogram(); {
			case h != nil:
				s.sample(name+"_count", m, float64(h.GetSampleCount()))
				s.sample(name+"_sum", m, h.GetSampleSum()*s.faster)
				for _, b := range h.GetBucket() {
					s.sample(name+"_bucket", m, float64(b.GetCumulativeCount()), fmt.Sprintf(`le="%g"`, b.GetUpperBound()))
				}
				s.sample(name+"_bucket", m, float64(h.GetSampleCount()), `le="+Inf"`)
			case m.GetCounter() != nil:
				s.sample(name, m, m.GetCounter().GetValue())
			case strings.HasSuffix(name, "_seconds"):
				s.sample(name, m, m.GetGauge().GetValue()*s.faster)
			default:
				s.sample(name, m, m.GetGauge().GetValue())
			}
		}
	}
	s.scrapes++
}

func (s *service) sample(name string, m *dto.Metric, value float64, more ...string) {
	labels := append([]string{`instance="service"`}, more...)
	for _, l := range m.GetLabel() {
		labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
	}
	name += "{" + strings.Join(labels, ",") + "}"
	values := s.series[name]
	for len(values) < s.scrapes {
		values = append(values, "_") // no value yet
	}
	s.series[name] = append(values, strconv.FormatFloat(value, 'g', -1, 64))
}

// The alerts that have fired, and those that fire now.
const (
	firedOnce  = `count by (alertname) (max_over_time(ALERTS{alertstate="firing"}[1d]))`
	firingLast = `count by (alertname) (ALERTS{alertstate="firing"})`
)

// alerts makes Prometheus evaluate a file of rules on the scraped metrics, and compares the names
// of the alerts that each expression returns at the end.
func (s *service) alerts(t *testing.T, rules string, want map[string][]string) {
	t.Helper()
	absolute, err := filepath.Abs(rules)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "rule_files: [%q]\nevaluation_interval: %v\ntests:\n  - interval: %v\n    input_series:\n", absolute, every, every)
	for name, values := range s.series {
		fmt.Fprintf(&text, "      - series: '%s'\n        values: '%s'\n", name, strings.Join(values, " "))
	}
	text.WriteString("    promql_expr_test:\n")
	end := time.Duration(s.scrapes-1) * every
	for expr, want := range want {
		fmt.Fprintf(&text, "      - expr: '%s'\n        eval_time: %v\n        exp_samples:\n", expr, end)
		for _, name := range slices.SortedFunc(slices.Values(want), cmp.Compare[string]) {
			fmt.Fprintf(&text, "          - labels: '{alertname=%q}'\n            value: 1\n", name)
		}
	}
	file := filepath.Join(t.TempDir(), "test.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(promtool(t), "test", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
