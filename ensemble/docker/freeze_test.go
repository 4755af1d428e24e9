package docker

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestAContainerThatCannotBeFrozenAtOnceIsTriedAgain(t *testing.T) {
	refused, other := errors.New("OCI runtime pause failed: unable to freeze: unknown"), errors.New("no such container")
	for name, test := range map[string]struct {
		answers []error
		limit   time.Duration
		tries   int
		want    error
	}{
		"it freezes at once":          {[]error{nil}, time.Minute, 1, nil},
		"it freezes later":            {[]error{refused, refused, nil}, time.Minute, 3, nil},
		"it never freezes":            {[]error{refused}, time.Minute, freezeTries, refused},
		"another error is final":      {[]error{other}, time.Minute, 1, other},
		"the context ends in between": {[]error{refused}, freezePause / 2, 1, refused},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), test.limit)
				defer cancel()
				tries := 0
				err := freeze(ctx, func() error {
					tries++
					return test.answers[min(tries, len(test.answers))-1]
				})
				if !errors.Is(err, test.want) || tries != test.tries {
					t.Errorf("%d tries, %v; want %d, %v", tries, err, test.tries, test.want)
				}
			})
		})
	}
}
