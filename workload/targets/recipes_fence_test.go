package targets

import (
	"errors"
	"sync"
	"testing"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

func TestAFenceIsProbed(t *testing.T) {
	errStale := errors.New("stale token")
	for name, test := range map[string]struct {
		late, open, coarse bool
	}{
		"right": {},
		"admits the token of a write when it has succeeded": {late: true},
		"admits a write while another is under way":         {open: true},
		"compares the transaction alone":                    {coarse: true},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var newest histories.Token
			p := probed{guard: func(token histories.Token, write func() error) error {
				mu.Lock()
				defer mu.Unlock()
				if test.coarse {
					token.Sub = 0
				}
				if token.Less(newest) {
					return errStale
				}
				if !test.late {
					newest = token
				}
				if test.open {
					mu.Unlock()
					defer mu.Lock()
				}
				err := write()
				if err == nil {
					newest = token
				}
				return err
			}}
			wrong := p.probe(histories.Token{Zxid: 2, Sub: 1})
			if err := p.probe(histories.Token{Zxid: 1}); name == "right" && err != nil {
				t.Errorf("a stale token: %v", err)
			}
			for i := int64(3); i < 1000 && test.open && wrong == nil; i++ { // the other write may come too late
				wrong = p.probe(histories.Token{Zxid: i})
			}
			if errors.Is(wrong, lock.ErrNoFence) == (name == "right") {
				t.Errorf("a new token: %v", wrong)
			}
		})
	}
}
