package locks

import (
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// scraped is an exporter that runs, and its metrics.
type scraped struct {
	*testing.T
	url   string
	said  *output
	ended <-chan answer
	stop  context.CancelFunc
}

func (b *bench) export(args ...string) *scraped {
	b.T.Helper()
	ctx, stop := context.WithCancel(b.T.Context())
	var out, said output
	ended := make(chan answer, 1)
	args = append([]string{"export", "--listen", "127.0.0.1:0", "--interval", "20ms"}, args...)
	go func() { ended <- run(b.T, ctx, b.addrs, &Console{Out: &out, Err: &said}, args...) }()
	address := regexp.MustCompile(`http://\S+/metrics`)
	for !address.MatchString(said.String()) {
		select {
		case a := <-ended:
			b.T.Fatalf("%+v", a)
		case <-time.After(time.Millisecond):
		}
	}
	return &scraped{b.T, address.FindString(said.String()), &said, ended, stop}
}

func (s *scraped) get() string {
	s.T.Helper()
	request, err := http.NewRequestWithContext(s.T.Context(), http.MethodGet, s.url, nil)
	if err != nil {
		s.T.Fatal(err)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		s.T.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		s.T.Fatalf("%s, %v: %s", answer.Status, err, text)
	}
	return string(text)
}

// shows waits until the metrics have all these lines.
func (s *scraped) shows(lines ...string) {
	s.T.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		text := "\n" + s.get()
		missing := ""
		for _, line := range lines {
			if !strings.Contains(text, "\n"+line) {
				missing = line
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			s.T.Fatalf("no %q in\n%s", missing, text)
		}
	}
}

func TestExportServesMetricsOfLocks(t *testing.T) {
	b := newBench(t)
	b.ephemeral("/l/m/"+curator(1, "lock-"), "one")
	b.ephemeral("/l/m/"+curator(2, "lock-"), "two")
	b.ephemeral("/l/rw/"+curator(1, "__READ__"), "")
	b.ephemeral("/l/rw/"+curator(2, "__WRIT__"), "")
	b.plant("/l/orphan/"+curator(1, "lock-"), "", 0)
	b.ephemeral("/l/e/"+curator(1, "latch-"), "")
	s := b.export("--long", "1ms", "/l")
	s.shows(`zk_lock_held{lock="/l/m"} 1`, `zk_lock_waiting{lock="/l/m",recipe="mutex"} 1`, `zk_lock_waiting{lock="/l/rw",recipe="write"} 1`,
		`zk_lock_waiting{lock="/l/rw",recipe="read"} 0`, `zk_lock_longest_hold_seconds{lock="/l/e",recipe="election"} `,
		`zk_lock_findings{lock="/l/m",problem="held-long"} 1`, `zk_lock_findings{lock="/l/orphan",problem="persistent-node"} 1`,
		`zk_lock_export_up 1`, `zk_lock_export_locks 4`, `zk_lock_grants_total{lock="/l/m"} 0`)
	if err := b.conn.Delete("/l/m/"+curator(1, "lock-"), -1); err != nil {
		t.Fatal(err)
	}
	s.shows(`zk_lock_grants_total{lock="/l/m"} 1`, `zk_lock_waiting{lock="/l/m",recipe="mutex"} 0`)
	s.stop()
	if a := <-s.ended; a.status != 0 {
		t.Errorf("%+v", a)
	}
}

// While the servers do not answer, the exporter does, and says so.
func TestExportOutlivesItsServers(t *testing.T) {
	b := newBench(t)
	b.ephemeral("/l/m/"+curator(1, "lock-"), "one")
	s := b.export("--timeout", "300ms", "/l")
	s.shows(`zk_lock_export_up 1`, `zk_lock_held{lock="/l/m"} 1`)
	b.Client("operator").Refuse()
	b.Client("operator").Disconnect()
	s.shows(`zk_lock_export_up 0`)
	if text := s.get(); strings.Contains(text, "zk_lock_held{") {
		t.Errorf("old metrics:\n%s", text)
	}
	b.Client("operator").Heal()
	s.shows(`zk_lock_export_up 1`, `zk_lock_held{lock="/l/m"} 1`)
	s.stop()
	<-s.ended
}

// A program that uses recipes has the metrics of its own clients under the same names.
func TestExportCountsTheClientsOfRecipes(t *testing.T) {
	b := newBench(t)
	lease, err := recipes.NewSemaphore(b.client("holder"), "/l/s", 3).AcquireN(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	s := b.export("--size", "/l/s=1", "/l")
	s.shows(`zk_lock_held{lock="/l/s"} 2`, `zk_lock_waiting{lock="/l/s",recipe="semaphore"} 0`, `zk_lock_findings{lock="/l/s",problem="above-size"} 1`)
	if err := lease.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.shows(`zk_lock_export_locks 0`)
	s.stop()
	<-s.ended
}

func TestExportRefusesBadInputs(t *testing.T) {
	b := newBench(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	b.plant("/l", "", 0)
	b.locks("export", "/none").want(t, exitUsage, nil, []string{"/none"})
	b.locks("export", "--listen", taken.Addr().String(), "/l").want(t, exitUsage, nil, []string{"--listen: ", "address already in use"})
	b.locks("export", "--listen", "9142", "/l").want(t, exitUsage, nil, []string{"--listen: \"9142\" is no address"})
	b.locks("export", "--interval", "0s", "/l").want(t, exitUsage, nil, []string{"--interval must be positive"})
	b.locks("export", "--size", "/l=0", "/l").want(t, exitUsage, nil, []string{"--size: /l=0 is not positive"})
	b.locks("export", "--top", "0", "/l").want(t, exitUsage, nil, []string{"--top must be positive"})
	b.addrs = closedPort(t)
	b.locks("export", "--timeout", "100ms", "/l").want(t, exitUnavailable, nil, []string{"no connection to"})
}
