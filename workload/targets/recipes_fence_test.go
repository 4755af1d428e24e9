package targets

import (
	"errors"
	"testing"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

func TestAFenceIsProbed(t *testing.T) {
	errStale := errors.New("stale token")
	for name, test := range map[string]struct {
		late, coarse bool
	}{
		"right": {},
		"admits the token of a write when it has succeeded": {late: true},
		"compares the transaction alone":                    {coarse: true},
	} {
		t.Run(name, func(t *testing.T) {
			var newest histories.Token
			p := probed{guard: func(token histories.Token, write func() error) error {
				if test.coarse {
					token.Sub = 0
				}
				if token.Less(newest) {
					return errStale
				}
				if !test.late {
					newest = token
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
			if errors.Is(wrong, lock.ErrNoFence) == (name == "right") {
				t.Errorf("a new token: %v", wrong)
			}
		})
	}
}
