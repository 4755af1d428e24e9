package ensembletest

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
)

// startLimit bounds the start of servers that tests share.
const startLimit = 2 * time.Minute

// Pool holds the servers that the tests of a package share: real ones and simulated ones,
// each started when a test first asks for them.
type Pool struct {
	// Config is the configuration of the servers.
	Config ensemble.LocalConfig

	real, simulated shared
	apart           sync.Map // servers of tests that have their own, by the tests' names
}

type shared struct {
	once    sync.Once
	servers Servers
	err     error
}

// Of returns the servers of t.
func (p *Pool) Of(t testing.TB) Servers {
	t.Helper()
	for name := t.Name(); name != ""; name = parent(name) {
		if s, ok := p.apart.Load(name); ok {
			return s.(Servers)
		}
	}
	s, err := p.shared(Simulated(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ForExamples returns the servers of examples, which have no testing.TB: real ones,
// unless Variable chooses others or they are not installed.
func (p *Pool) ForExamples() (Servers, error) {
	if os.Getenv(Variable) != "simulated" {
		if s, err := p.shared(false); !ensemble.NotInstalled(err) {
			return s, err
		}
	}
	return p.shared(true)
}

func (p *Pool) shared(simulated bool) (Servers, error) {
	s := &p.real
	if simulated {
		s = &p.simulated
	}
	s.once.Do(func() {
		if !simulated {
			end, err := TakeTurn() // for the start; tests that share the servers load them little
			if err != nil {
				s.err = err
				return
			}
			defer end()
		}
		ctx, cancel := context.WithTimeout(context.Background(), startLimit)
		defer cancel()
		s.servers, s.err = start(ctx, simulated, p.Config)
	})
	return s.servers, s.err
}

// Apart gives t servers of its own, if they are simulated, and lets it run in parallel
// with other such tests. Real servers take seconds and three JVMs to start: tests take
// turns at the servers that they share. t must not inspect other parts of its process,
// such as all goroutines.
func (p *Pool) Apart(t *testing.T) {
	t.Helper()
	if !Simulated(t) {
		return
	}
	t.Parallel()
	p.With(t, p.Config)
}

// With gives t, and the tests that it runs, servers of their own with this configuration.
func (p *Pool) With(t *testing.T, config ensemble.LocalConfig) {
	t.Helper()
	name := t.Name()
	p.apart.Store(name, Start(t, config))
	t.Cleanup(func() { p.apart.Delete(name) })
}

// Close ends the servers that tests share.
func (p *Pool) Close() error {
	var err error
	for _, s := range []*shared{&p.real, &p.simulated} {
		if s.servers != nil {
			err = errors.Join(err, s.servers.Close())
		}
	}
	return err
}
