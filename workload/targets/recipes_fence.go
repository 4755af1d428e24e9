package targets

import (
	"errors"
	"fmt"
	"sync"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/workload/lock"
)

// NewFence implements lock.Fenced by the recipes' fence.
func (ofRecipes) NewFence() func(histories.Token, func() error) error {
	f := new(recipes.Fence)
	p := &probed{guard: func(t histories.Token, write func() error) error { return f.Guard(recipes.Token(t), write) }}
	return func(t histories.Token, write func() error) error {
		if err := p.probe(t); err != nil {
			return err
		}
		if t.Zxid%2 == 0 {
			if err := f.Admit(recipes.Token(t)); err != nil {
				return err
			}
		}
		return f.Guard(recipes.Token(t), write)
	}
}

// probed is a fence that is asked what no holder asks it.
type probed struct {
	guard func(token histories.Token, write func() error) error

	mu   sync.Mutex
	last histories.Token // with which probe was called
}

// errFailed is the error of a write of probe.
var errFailed = errors.New("the write failed")

// probe asks the fence, once for a token, to guard a write that fails, and another while that one is
// under way, and to admit older tokens then. It returns lock.ErrNoFence if the fence does not keep what
// it promises.
func (p *probed) probe(token histories.Token) (wrong error) {
	p.mu.Lock()
	again := p.last == token
	p.last = token
	p.mu.Unlock()
	if again {
		return nil
	}
	var underWay sync.Mutex
	var other chan struct{}
	_ = p.guard(token, func() error {
		underWay.Lock()
		defer underWay.Unlock()
		other = make(chan struct{})
		begun := make(chan struct{}) // when it is closed, the goroutine goes on until the fence lets it wait
		go func() {                  // ends when the fence answers
			defer close(other)
			close(begun)
			_ = p.guard(token, func() error {
				if !underWay.TryLock() {
					wrong = fmt.Errorf("%w: it called a write while another was under way", lock.ErrNoFence)
					return errFailed
				}
				underWay.Unlock()
				return errFailed
			})
		}()
		<-begun
		return errFailed
	})
	if other != nil {
		<-other
	}
	for _, older := range []histories.Token{{Zxid: token.Zxid - 1, Sub: token.Sub + 1}, {Zxid: token.Zxid, Sub: token.Sub - 1}} {
		if p.guard(older, func() error { return nil }) == nil {
			wrong = fmt.Errorf("%w: it admitted %d.%d after %d.%d", lock.ErrNoFence, older.Zxid, older.Sub, token.Zxid, token.Sub)
		}
	}
	return wrong
}
