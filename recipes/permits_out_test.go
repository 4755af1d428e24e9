package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// permitsOut is the oracle of a semaphore.
type permitsOut struct {
	size int

	mu    sync.Mutex
	held  map[*recipes.Lease]bool
	most  int
	ever  int
	wrong []string
}

func (p *permitsOut) got(l *recipes.Lease) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held == nil {
		p.held = make(map[*recipes.Lease]bool)
	}
	p.held[l] = true
	p.ever++
	out := 0
	for l := range p.held {
		if l.Valid() {
			out += l.Permits()
		}
	}
	p.most = max(p.most, out)
	if out > p.size {
		p.wrong = append(p.wrong, fmt.Sprintf("%d permits of %d are out", out, p.size))
	}
}

func (p *permitsOut) releases(l *recipes.Lease) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.held, l)
}

// check checks that all permits have been released, on the servers too.
func (p *permitsOut) check(t *testing.T, path string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.wrong {
		t.Error(w)
	}
	if len(p.held) > 0 {
		t.Errorf("%d leases have not been given back", len(p.held))
	}
	conn := admin(t)
	eventually(t, "no node is left", func() bool {
		return len(contenders(t, conn, path+"/leases")) == 0 && len(contenders(t, conn, path+"/locks")) == 0
	})
}

func takes(t *testing.T, p *permitsOut, s *recipes.Semaphore) *recipes.Lease {
	t.Helper()
	l, err := s.Acquire(within(t))
	if err != nil {
		t.Fatal(err)
	}
	p.got(l)
	return l
}

func gives(t *testing.T, p *permitsOut, l *recipes.Lease) {
	t.Helper()
	p.releases(l)
	release(t, l)
}

// cannotTake checks that no permit can be acquired, not even after a wait.
func cannotTake(t *testing.T, s *recipes.Semaphore) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := s.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an acquire of what is not there: %v", err)
	}
	if _, err := s.TryAcquire(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
		t.Errorf("a try of what is not there: %v", err)
	}
}
