package workload

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/targets"
)

// ours returns one of zkverify's own targets.
func ours(name string) lock.Target {
	t, err := targets.Named(name)
	if err != nil {
		panic(err)
	}
	return t
}

// deadEnsemble is an ensemble whose server does not answer.
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
