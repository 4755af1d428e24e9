package recipes

import (
	"errors"
	"testing"
)

func TestAFenceRefusesOlderTokens(t *testing.T) {
	t.Parallel()
	var f Fence
	for _, step := range []struct {
		token Token
		stale bool
	}{
		{Token{Zxid: 5}, false},
		{Token{Zxid: 5}, false}, // the same holder again
		{Token{Zxid: 7}, false},
		{Token{Zxid: 5}, true},
		{Token{Zxid: 7, Sub: 1}, false},
		{Token{Zxid: 7}, true},
		{Token{Zxid: 1 << 40}, false},
	} {
		if err := f.Admit(step.token); errors.Is(err, ErrStaleToken) != step.stale {
			t.Errorf("Admit(%v) = %v", step.token, err)
		}
	}
	called := false
	if err := f.Guard(Token{Zxid: 1}, func() error { called = true; return nil }); !errors.Is(err, ErrStaleToken) || called {
		t.Errorf("a stale write ran: %v", err)
	}
}
