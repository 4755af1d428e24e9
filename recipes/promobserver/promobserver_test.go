package promobserver_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/promobserver"
)

var (
	network links.Network
	server  string // address
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(func() int {
		if testing.Short() {
			return withoutServers(m, errors.New("-short"))
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		var err error
		if network, err = links.InProcess(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer network.Close()
		servers, err := ensemble.StartLocal(ctx, ensemble.LocalConfig{Servers: 1})
		if ensemble.NotInstalled(err) {
			return withoutServers(m, err)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer servers.Close()
		server = servers.Servers()[0].Addr
		return m.Run()
	}())
}

// withoutServers runs the tests that need no real server.
func withoutServers(m *testing.M, why error) int {
	fmt.Println("SKIP: the examples, and tests, that need real servers:", why)
	if err := flag.Set("test.skip", "^Example|^TestTheLifeOfALease|^TestALeaseThatIsReleasedInASuspension"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// values returns the registered values: counters and gauges by name{lock}, and the number of
// observations of histograms.
func values(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]float64)
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "zk_lock_longest_") {
			continue // times: the tests of the alerts see them
		}
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += "{" + l.GetName() + "=" + l.GetValue() + "}"
			}
			switch {
			case m.GetCounter() != nil:
				all[name] = m.GetCounter().GetValue()
			case m.GetGauge() != nil:
				all[name] = m.GetGauge().GetValue()
			case m.GetHistogram() != nil:
				all[name] = float64(m.GetHistogram().GetSampleCount())
				if sum := m.GetHistogram().GetSampleSum(); sum <= 0 || sum > 60*all[name] {
					t.Errorf("%s: the sum is %v s", name, sum)
				}
			}
		}
	}
	return all
}

// becomes waits until the values are these.
func becomes(t *testing.T, registry *prometheus.Registry, want map[string]float64) {
	t.Helper()
	var got map[string]float64
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if got = values(t, registry); maps.Equal(got, want) {
			return
		}
	}
	for name := range got {
		if _, known := want[name]; !known {
			t.Errorf("%s is %v, want none", name, got[name])
		}
	}
	for name := range want {
		if value, known := got[name]; !known || value != want[name] {
			t.Errorf("%s is %v (%v), want %v", name, value, known, want[name])
		}
	}
	t.FailNow()
}

func TestTheLifeOfALeaseIsMeasured(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	link, err := network.Link(ctx, t.Name(), server)
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	registry := prometheus.NewPedanticRegistry()
	metrics, err := promobserver.New(registry, promobserver.WithBuckets(0.5, 1),
		promobserver.WithLabel(func(path string) string { return strings.Split(path, "/")[2] }))
	if err != nil {
		t.Fatal(err)
	}
	client, err := recipes.Connect(ctx, []string{link.Addr()},
		recipes.WithSessionTimeout(4*time.Second), recipes.WithServerTick(200*time.Millisecond),
		recipes.WithObserver(metrics.Observer()), recipes.WithConnectionListener(metrics.Listener()))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"zk_client_open": 1, "zk_client_connected": 1, "zk_client_suspensions_total": 0, "zk_client_sessions_lost_total": 0}
	lost := func(why recipes.LossReason) string {
		return "zk_lock_lost_total{lock=orders}{reason=" + string(why) + "}"
	}
	set := func(values map[string]float64) map[string]float64 {
		for name, v := range values {
			if strings.HasPrefix(name, "zk_lock") && !strings.HasSuffix(name, "}") {
				name += "{lock=orders}"
			}
			want[name] = v
		}
		return want
	}
	becomes(t, registry, want)

	acquire := func(ctx context.Context, path string) *recipes.Lease {
		t.Helper()
		l, err := recipes.NewMutex(client, path).Acquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	release := func(l *recipes.Lease) {
		t.Helper()
		if err := l.Release(ctx); err != nil {
			t.Fatal(err)
		}
	}
	first := acquire(ctx, "/locks/orders/1")
	inner := acquire(first.Context(), "/locks/orders/1")
	second := acquire(ctx, "/locks/orders/2")
	for _, why := range recipes.LossReasons() {
		want[lost(why)] = 0
	}
	ended := func(outcome string) string {
		return "zk_lock_acquires_total{lock=orders}{outcome=" + outcome + "}{recipe=mutex}"
	}
	for _, outcome := range []string{"refused", "canceled", "deadline exceeded", "client closed", "failed"} {
		want[ended(outcome)] = 0
	}
	becomes(t, registry, set(map[string]float64{
		ended("acquired"): 2, "zk_lock_waiting{lock=orders}{recipe=mutex}": 0, "zk_lock_revoke_pending": 0, "zk_lock_revoke_requests_total": 0,
		"zk_lock_enqueued_total": 2, "zk_lock_acquire_seconds": 2, "zk_lock_held": 2,
		"zk_lock_suspended": 0, "zk_lock_suspensions_total": 0,
	}))
	release(inner)
	release(first)
	becomes(t, registry, set(map[string]float64{"zk_lock_held": 1, "zk_lock_hold_seconds": 1}))
	second.OnRevoke(func(*recipes.Lease) {})
	if err := client.Revoke(ctx, second.Node()); err != nil {
		t.Fatal(err)
	}
	becomes(t, registry, set(map[string]float64{"zk_lock_revoke_requests_total": 1, "zk_lock_revoke_pending": 1}))

	step := func(err error, values map[string]float64) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		becomes(t, registry, set(values))
	}
	step(link.Cut(ctx, links.Down), map[string]float64{
		"zk_lock_suspended": 1, "zk_lock_suspensions_total": 1, "zk_client_suspensions_total": 1, "zk_client_connected": 0})
	step(link.Heal(ctx), map[string]float64{"zk_lock_suspended": 0, "zk_client_connected": 1})
	step(link.Cut(ctx, links.Down), map[string]float64{
		"zk_lock_suspended": 0, "zk_lock_suspensions_total": 2, "zk_lock_held": 0, "zk_lock_revoke_pending": 0, "zk_lock_hold_seconds": 2, lost(recipes.LossDeadlinePassed): 1,
		"zk_client_suspensions_total": 2, "zk_client_connected": 0, "zk_client_sessions_lost_total": 1})
	step(link.Heal(ctx), map[string]float64{"zk_client_connected": 1})

	// One Metrics serves all clients.
	other, err := recipes.Connect(ctx, []string{server}, recipes.WithConnectionListener(metrics.Listener()))
	step(err, map[string]float64{"zk_client_open": 2, "zk_client_connected": 2})
	step(client.Close(ctx), map[string]float64{"zk_client_open": 1, "zk_client_connected": 1})
	step(other.Close(ctx), map[string]float64{"zk_client_open": 0, "zk_client_connected": 0})
}

func TestALeaseThatIsReleasedInASuspensionIsNoLongerSuspended(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	link, err := network.Link(ctx, t.Name(), server)
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	registry := prometheus.NewPedanticRegistry()
	metrics, err := promobserver.New(registry)
	if err != nil {
		t.Fatal(err)
	}
	client, err := recipes.Connect(ctx, []string{link.Addr()}, recipes.WithSessionTimeout(20*time.Second),
		recipes.WithObserver(metrics.Observer()))
	if err != nil {
		t.Fatal(err)
	}
	lease, err := recipes.NewMutex(client, "/locks/suspended").Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := link.Cut(ctx, links.Down); err != nil {
		t.Fatal(err)
	}
	const name = "zk_lock_suspended{lock=/locks/suspended}"
	for values(t, registry)[name] != 1 {
		if ctx.Err() != nil {
			t.Fatal("never suspended")
		}
		time.Sleep(5 * time.Millisecond)
	}
	released := make(chan error, 1)
	go func() { released <- lease.Release(ctx) }()
	if err := link.Heal(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-released; err != nil {
		t.Error(err)
	}
	if err := client.Close(ctx); err != nil { // the observer has got all calls
		t.Fatal(err)
	}
	if n := values(t, registry)[name]; n != 0 {
		t.Errorf("%s is %v", name, n)
	}
}

func TestASecondRegistrationIsRefusedAndLeavesNothing(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewPedanticRegistry()
	theirs := prometheus.NewCounter(prometheus.CounterOpts{Name: "zk_lock_lost_total", Help: "Another's."})
	registry.MustRegister(theirs)
	var already prometheus.AlreadyRegisteredError
	if _, err := promobserver.New(registry); err == nil {
		t.Fatal("registered over another's counter")
	}
	if got := values(t, registry); len(got) != 1 {
		t.Errorf("left behind: %v", got)
	}
	registry = prometheus.NewPedanticRegistry()
	if _, err := promobserver.New(registry); err != nil {
		t.Fatal(err)
	}
	if _, err := promobserver.New(registry); !errors.As(err, &already) {
		t.Errorf("a second time: %v", err)
	}
	if _, err := promobserver.New(prometheus.WrapRegistererWithPrefix("second_", registry)); err != nil {
		t.Errorf("with a prefix: %v", err)
	}
}
