package slogobserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/slogobserver"
)

var (
	network links.Network
	server  string // address
)

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("SKIP: all tests of this package need real servers")
		os.Exit(0)
	}
	os.Exit(func() int {
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
			fmt.Println("SKIP: all tests of this package need real servers:", err)
			return 0
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

// record is a line of the log.
type record struct {
	Level, Msg                 string
	Path, Node, Token, Session string
	Ahead                      *int
	Waited, Held               *int64 // ns
	State, Reason              string
}

func parse(t *testing.T, log string) (records []record) {
	t.Helper()
	for line := range strings.Lines(log) {
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		r := struct {
			Time time.Time
			record
		}{}
		if err := d.Decode(&r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		records = append(records, r.record)
	}
	return records
}

func TestTheLifeOfALeaseIsLogged(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	link, err := network.Link(ctx, t.Name(), server)
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	var locks, connection bytes.Buffer // each is written by one goroutine at a time
	debug := &slog.HandlerOptions{Level: slog.LevelDebug}
	suspended, resumed, told := make(chan struct{}, 9), make(chan struct{}, 9), make(chan struct{}, 9)
	client, err := recipes.Connect(ctx, []string{link.Addr()},
		recipes.WithSessionTimeout(4*time.Second), recipes.WithServerTick(200*time.Millisecond),
		recipes.WithObserver(slogobserver.New(slog.New(slog.NewJSONHandler(&locks, debug)))),
		recipes.WithObserver(recipes.Observer{
			Acquired:        func(*recipes.Lease, time.Duration) { told <- struct{}{} },
			Released:        func(*recipes.Lease, time.Duration) { told <- struct{}{} },
			Suspended:       func(*recipes.Lease) { suspended <- struct{}{} },
			Resumed:         func(*recipes.Lease) { resumed <- struct{}{} },
			RevokeRequested: func(*recipes.Lease) { told <- struct{}{} },
		}),
		recipes.WithConnectionListener(slogobserver.Listener(slog.New(slog.NewJSONHandler(&connection, debug)))))
	if err != nil {
		t.Fatal(err)
	}
	mutex := recipes.NewMutex(client, "/locks/orders")
	first, err := mutex.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	<-told
	if err := first.Release(ctx); err != nil {
		t.Fatal(err)
	}
	<-told
	second, err := mutex.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	<-told
	second.OnRevoke(func(*recipes.Lease) {})
	if err := client.Revoke(ctx, second.Node()); err != nil {
		t.Fatal(err)
	}
	<-told
	for _, step := range []struct {
		do   func() error
		then <-chan struct{}
	}{
		{func() error { return link.Cut(ctx, links.Down) }, suspended},
		{func() error { return link.Heal(ctx) }, resumed},
		{func() error { return link.Cut(ctx, links.Down) }, second.Lost()},
		{func() error { return link.Heal(ctx) }, nil},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if step.then != nil {
			<-step.then
		}
	}
	third, err := mutex.Acquire(ctx) // the client is connected again
	if err != nil {
		t.Fatal(err)
	}
	<-told
	if err := third.Release(ctx); err != nil {
		t.Fatal(err)
	}
	if err := client.Close(ctx); err != nil {
		t.Fatal(err)
	}

	var said []string
	for _, r := range parse(t, locks.String()) {
		said = append(said, r.Level+" "+r.Msg)
		l := first
		switch {
		case r.Token == second.Token().String():
			l = second
		case r.Token == third.Token().String():
			l = third
		}
		if r.Path != "/locks/orders" || r.Token != l.Token().String() || r.Session != fmt.Sprintf("0x%x", l.SessionID()) {
			t.Errorf("%+v of %v", r, l)
		}
		if !strings.HasSuffix(l.Node(), r.Node) || r.Node == "" {
			t.Errorf("%s: node %q of %q", r.Msg, r.Node, l.Node())
		}
		for what, times := range map[string]struct {
			value *int64
			in    []string
		}{"waited": {r.Waited, []string{"lock acquired"}}, "held": {r.Held, []string{"lock lost", "lock released"}}} {
			if expected := slices.Contains(times.in, r.Msg); (times.value != nil) != expected || expected && *times.value <= 0 {
				t.Errorf("%s: %s is %v", r.Msg, what, times.value)
			}
		}
		if (r.Ahead != nil) != (r.Msg == "lock enqueued") {
			t.Errorf("%s: ahead is %v", r.Msg, r.Ahead)
		}
		if lost := r.Msg == "lock lost"; lost != (r.Reason == string(recipes.LossDeadlinePassed)) {
			t.Errorf("%s: the reason is %q", r.Msg, r.Reason)
		}
	}
	want := []string{
		"DEBUG lock enqueued", "DEBUG lock acquired", "DEBUG lock released",
		"DEBUG lock enqueued", "DEBUG lock acquired", "INFO lock revocation requested",
		"WARN lock suspended", "INFO lock resumed", "WARN lock suspended", "ERROR lock lost",
		"DEBUG lock enqueued", "DEBUG lock acquired", "DEBUG lock released",
	}
	if !slices.Equal(said, want) {
		t.Errorf("logged %q\nwant   %q", said, want)
	}

	said = nil
	for _, r := range parse(t, connection.String()) {
		said = append(said, r.Level+" "+r.Msg+" "+r.State)
	}
	if first, last := said[:3], said[len(said)-1]; !slices.Equal(first, []string{
		"INFO zookeeper connection connected", "WARN zookeeper connection suspended", "INFO zookeeper connection reconnected",
	}) || last != "INFO zookeeper connection closed" || !slices.Contains(said, "ERROR zookeeper connection lost") {
		t.Errorf("logged %q", said)
	}
}

func TestTheLoggersLevelIsHeeded(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var log bytes.Buffer
	before := slog.Default()
	defer slog.SetDefault(before)
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelInfo})))
	client, err := recipes.Connect(ctx, []string{server},
		recipes.WithObserver(slogobserver.New(nil)), recipes.WithConnectionListener(slogobserver.Listener(nil)))
	if err != nil {
		t.Fatal(err)
	}
	slog.SetDefault(before) // New(nil) took the default of that time
	if err := recipes.NewMutex(client, "/locks/quiet").Do(ctx, func(context.Context, *recipes.Lease) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := client.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if text := log.String(); strings.Contains(text, "lock") || strings.Count(text, "zookeeper connection") != 2 {
		t.Errorf("logged %s", text)
	}
}

// Two contenders of another client are ahead; then the client is closed while it holds the lock.
func TestWhatIsLoggedOfAQueueAndOfAClientThatIsClosed(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var log bytes.Buffer
	enqueued := make(chan int, 9)
	seen := recipes.Observer{Enqueued: func(_ context.Context, e recipes.Enqueued) { enqueued <- e.Ahead }}
	other, err := recipes.Connect(ctx, []string{server}, recipes.WithObserver(seen))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(context.Background())
	client, err := recipes.Connect(ctx, []string{server}, recipes.WithObserver(slogobserver.New(
		slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))), recipes.WithObserver(seen))
	if err != nil {
		t.Fatal(err)
	}
	const path = "/locks/queue"
	first, err := recipes.NewMutex(other, path).Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	type result struct {
		*recipes.Lease
		error
	}
	acquire := func(c *recipes.Client) <-chan result {
		got := make(chan result, 1)
		go func() {
			l, err := recipes.NewMutex(c, path).Acquire(ctx)
			got <- result{l, err}
		}()
		return got
	}
	ahead := []int{<-enqueued}
	second := acquire(other)
	ahead = append(ahead, <-enqueued)
	third := acquire(client)
	if ahead = append(ahead, <-enqueued); !slices.Equal(ahead, []int{0, 1, 2}) {
		t.Errorf("ahead were %v", ahead)
	}
	if err := first.Release(ctx); err != nil {
		t.Fatal(err)
	}
	l := <-second
	if l.error != nil {
		t.Fatal(l.error)
	}
	if err := l.Release(ctx); err != nil {
		t.Fatal(err)
	}
	if l = <-third; l.error != nil {
		t.Fatal(l.error)
	}
	if err := client.Close(ctx); err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, r := range parse(t, log.String()) {
		if r.Ahead != nil {
			r.Msg += fmt.Sprintf(" behind %d", *r.Ahead)
		}
		said = append(said, strings.TrimSpace(r.Level+" "+r.Msg+" "+r.Reason))
	}
	if want := []string{"DEBUG lock enqueued behind 2", "DEBUG lock acquired", "INFO lock lost client closed"}; !slices.Equal(said, want) {
		t.Errorf("logged %q, want %q", said, want)
	}
}
