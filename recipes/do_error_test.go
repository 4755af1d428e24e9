package recipes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

func TestTheErrorOfDoIsOneLineThatSaysEverythingOnce(t *testing.T) {
	lost := opError("release", "/locks/orders", ErrLeaseLost)
	failed := errors.New("disk full")
	for _, c := range []struct {
		name         string
		err, release error
		want         string
		is           []error
	}{
		{"all went well", nil, nil, "", nil},
		{"the lease was lost, and the function noticed nothing", nil, lost, "release /locks/orders: recipes: lease lost", []error{ErrLeaseLost}},
		{"the function returned the cause of its context", ErrLeaseLost, lost, "release /locks/orders: recipes: lease lost", []error{ErrLeaseLost}},
		{"the function says what it was doing when the lease was lost", fmt.Errorf("write: %w", ErrLeaseLost), lost, "write: recipes: lease lost", []error{ErrLeaseLost}},
		{"the function failed, and the lease was lost", failed, lost, "disk full; release /locks/orders: recipes: lease lost", []error{ErrLeaseLost, failed}},
		{"the function failed", failed, nil, "disk full", []error{failed}},
		{"the function returned the end of its context", context.Canceled, lost, "context canceled; release /locks/orders: recipes: lease lost", []error{ErrLeaseLost, context.Canceled}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := andRelease(c.err, c.release)
			if text := fmt.Sprint(got); c.want != "" && text != c.want || c.want == "" && got != nil {
				t.Errorf("got %q, want %q", text, c.want)
			}
			if strings.Contains(fmt.Sprint(got), "\n") {
				t.Errorf("%q is not one line", got)
			}
			for _, is := range c.is {
				if !errors.Is(got, is) {
					t.Errorf("%v is not %v", got, is)
				}
			}
		})
	}
}

func TestTheErrorOfAMultiLeaseIsOneLine(t *testing.T) {
	err := session.Errors{opError("release", "/a", ErrLeaseLost), opError("release", "/b", ErrClosed)}
	if want := "release /a: recipes: lease lost; release /b: recipes: client closed"; err.Error() != want || !errors.Is(err, ErrLeaseLost) || !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
}
