package workload

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"reflect"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/targets"
)

func TestAClientsChoicesAreAFunctionOfTheSeed(t *testing.T) {
	draw := func(seed uint64) (out []cycle) {
		r := rand.New(rand.NewPCG(seed, 1))
		for range 1000 {
			out = append(out, Mix{}.withDefaults().draw(r, 5, 3, 2*time.Second))
		}
		return out
	}
	if !reflect.DeepEqual(draw(7), draw(7)) {
		t.Error("two draws of one seed differ")
	}
	if reflect.DeepEqual(draw(7), draw(8)) {
		t.Error("two seeds drew the same")
	}
}

func TestTheLongestRestIsForTheMixToSay(t *testing.T) {
	for rest, want := range map[time.Duration]time.Duration{0: time.Millisecond, time.Second: time.Second} {
		r := rand.New(rand.NewPCG(1, 1))
		var longest time.Duration
		for range 1000 {
			longest = max(longest, Mix{Rest: rest}.withDefaults().draw(r, 5, 3, 2*time.Second).rest)
		}
		if longest > want || longest < want*9/10 {
			t.Errorf("a rest of %v at the longest; want %v", longest, want)
		}
	}
}

func TestTheMixHasItsShares(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const n = 20_000
	var ways [4]int
	var deep, crashes, on, away int
	var held time.Duration
	for range n {
		c := Mix{Crash: 0.01, Long: -1}.withDefaults().draw(r, 5, 3, 2*time.Second)
		ways[c.way]++
		held += c.hold
		if c.depth > 1 {
			deep++
		}
		if c.crash {
			crashes++
		}
		if c.holdOn > 0 {
			on++
		}
		if c.way == wayWait && c.lock != 3 {
			away++
		}
		if c.lock < 0 || c.lock >= 5 || c.patience <= 0 || c.patience > 101*time.Millisecond || c.holdOn > 5*time.Second {
			t.Fatalf("impossible cycle %+v", c)
		}
	}
	for name, c := range map[string]struct {
		got  float64
		want float64
	}{
		"try":     {float64(ways[wayTry]) / n, 0.15},
		"timeout": {float64(ways[wayTimeout]) / n, 0.25},
		"cancel":  {float64(ways[wayCancel]) / n, 0.10},
		"wait":    {float64(ways[wayWait]) / n, 0.50},
		"reenter": {float64(deep) / n, 0.1},
		"crash":   {float64(crashes) / n, 0.01},
		"hold on": {float64(on) / n, 0.7},
		"hold":    {float64(held) / n, float64(2 * time.Millisecond)},
		"away":    {float64(away) / float64(ways[wayWait]), 0.04},
	} {
		if c.got < 0.8*c.want || c.got > 1.2*c.want {
			t.Errorf("%s: %v; want about %v", name, c.got, c.want)
		}
	}
}

// response is a ConnectResponse frame.
func response(session int64, password string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(20+len(password)))
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint32(b, 2000)
	b = binary.BigEndian.AppendUint64(b, uint64(session))
	b = binary.BigEndian.AppendUint32(b, uint32(len(password)))
	return append(b, password...)
}

func TestAHandshakeIsRead(t *testing.T) {
	whole := response(0x10002, "0123456789abcdef")
	for name, c := range map[string]struct {
		in       []byte
		session  int64
		password string
		done     bool
	}{
		"when it is whole":                   {whole, 0x10002, "0123456789abcdef", true},
		"with what comes after it":           {append(whole, 1, 2, 3), 0x10002, "0123456789abcdef", true},
		"when the session was refused":       {response(0, ""), 0, "", true},
		"not before its length is there":     {whole[:3], 0, "", false},
		"not before all of it is there":      {whole[:len(whole)-1], 0, "", false},
		"and anything else is not taken for": {[]byte("HTTP/1.1 200 OK"), 0, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			h, done := parseConnectResponse(c.in)
			if h.session != c.session || string(h.password) != c.password || done != c.done {
				t.Errorf("%+v, %v", h, done)
			}
			if h.session != 0 && h.timeout != 2*time.Second {
				t.Errorf("timeout %v", h.timeout)
			}
		})
	}
}

func FuzzAHandshakeNeverPanics(f *testing.F) {
	f.Add(response(1, "x"))
	f.Fuzz(func(t *testing.T, in []byte) { parseConnectResponse(in) })
}

func TestWatchesAreCountedUnderTheLocksAlone(t *testing.T) {
	const wchp = "/z/run-1/locks/lock-0/n-1\n\t0x1\n\t0x2\n/z/run-1/sessions\n\t0x3\n/z/run-1/locks/lock-1\n\t0x1\n/z/run-1/locksmith\n\t0x1\n\n"
	got := watchedPaths(wchp, "/z/run-1/locks")
	if want := []string{"/z/run-1/locks/lock-0/n-1", "/z/run-1/locks/lock-0/n-1", "/z/run-1/locks/lock-1"}; !reflect.DeepEqual(got, want) {
		t.Errorf("watches on %v; want %v", got, want)
	}
}

// memory is a recorder that keeps events in memory.
type memory struct{ events []histories.Event }

func (m *memory) Record(e histories.Event) (histories.Event, error) {
	m.events = append(m.events, e)
	return e, nil
}
func (m *memory) Elapsed() time.Duration  { return 0 }
func (m *memory) Failed() <-chan struct{} { return nil }
func (m *memory) Err() error              { return nil }

func TestASessionHasExpired(t *testing.T) {
	const session, born = 0x77, 100
	for name, c := range map[string]struct {
		list   []string
		age    int64
		closed bool
		want   bool
	}{
		"when a list younger than its node lacks it":   {nil, born, false, true},
		"not when the list has it":                     {[]string{lock.SessionName(session)}, born + 9, false, false},
		"not when the list is older than its node":     {nil, born - 1, false, false},
		"not when its client has closed it by its own": {nil, born + 9, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			rec := &memory{}
			var told []int64
			o := &observer{
				journal: &journal{Recorder: rec}, expired: func(s int64) { told = append(told, s) },
				present: map[int64]int64{session: born}, closed: map[int64]bool{session: c.closed},
			}
			o.compare(c.list, c.age)
			o.compare(c.list, c.age)
			if got := len(rec.events) == 1 && len(told) == 1; got != c.want {
				t.Errorf("recorded %v, told %v; want it once: %v", rec.events, told, c.want)
			}
		})
	}
}

func TestTheFenceRefusesWhatIsOlderThanTheLastRead(t *testing.T) {
	var c counters
	old, young := histories.Token{Zxid: 1}, histories.Token{Zxid: 2}
	if _, err := c.read(histories.StoreFenced, old); err != nil {
		t.Fatal(err)
	}
	if _, err := c.read(histories.StoreFenced, young); err != nil {
		t.Fatal(err)
	}
	if err := c.write(histories.StoreFenced, old, 1); err == nil {
		t.Error("a write was admitted after a younger token had read")
	}
	if err := c.write(histories.StorePlain, old, 1); err != nil {
		t.Error(err)
	}
	if v, _ := c.read(histories.StorePlain, young); v != 1 {
		t.Errorf("plain counter is %d; want 1", v)
	}
}

func TestServersThatDisagreeAreNamed(t *testing.T) {
	got := differ(map[int]view{1: {"/a": 5, "/b": 6, "/c": 7}, 2: {"/a": 5, "/c": 16}, 3: {"/a": 5, "/b": 6, "/c": 16}})
	if want := []string{
		"only 2 of 3 servers (1, 3) have /b",
		"the servers have /c of different transactions: server 1 of 0x7, server 2 of 0x10, server 3 of 0x10",
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v; want %v", got, want)
	}
}

// ours returns one of the targets that zkverify brings along.
func ours(name string) lock.Target {
	t, err := targets.Named(name)
	if err != nil {
		panic(err)
	}
	return t
}

// deadEnsemble is one whose server does not answer.
type deadEnsemble struct {
	ensemble.Ensemble
	addr string
}

func (e deadEnsemble) Servers() []ensemble.Server { return []ensemble.Server{{ID: 1, Addr: e.addr}} }
func (deadEnsemble) Root() string                 { return "/zkverify/dead" }
func (deadEnsemble) Kind() string                 { return "external" }
func (deadEnsemble) Version() string              { return "" }
func (deadEnsemble) TickTime() time.Duration      { return 0 }

func TestServersThatFailBeforeTheRunAreNamedAsTheReason(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	recorder, err := histories.NewRecorder(io.Discard, histories.Header{})
	if err != nil {
		t.Fatal(err)
	}
	defer recorder.Close()
	network, err := links.InProcess()
	if err != nil {
		t.Fatal(err)
	}
	defer network.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = Run(ctx, Config{Ensemble: deadEnsemble{addr: silent.Addr().String()}, Network: network, Target: ours("recipes"), Recorder: recorder, Duration: time.Second, Schedule: &nemesis.Schedule{}})
	if !errors.Is(err, ErrNoEnsemble) {
		t.Errorf("got %v", err)
	}
}
