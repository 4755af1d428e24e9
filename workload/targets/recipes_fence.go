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

// probe asks the fence, once for a token, to guard a write that fails, and to admit older tokens then. It
// returns lock.ErrNoFence if the fence admits one. It has no second write come while the first is under
// way: a client whose process stands still would wait with the fence of all.
func (p *probed) probe(token histories.Token) error {
	p.mu.Lock()
	again := p.last == token
	p.last = token
	p.mu.Unlock()
	if again {
		return nil
	}
	_ = p.guard(token, func() error { return errFailed })
	for _, older := range []histories.Token{{Zxid: token.Zxid - 1, Sub: token.Sub + 1}, {Zxid: token.Zxid, Sub: token.Sub - 1}} {
		if p.guard(older, func() error { return nil }) == nil {
			return fmt.Errorf("%w: it admitted %d.%d after %d.%d", lock.ErrNoFence, older.Zxid, older.Sub, token.Zxid, token.Sub)
		}
	}
	return nil
}
