package recipes_test

import (
	"context"
	"testing"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// bubbleClient connects a client with a name to servers in a synctest bubble. The client is
// closed at the end of the bubble.
func bubbleClient(t *testing.T, e *zktest.Ensemble, name string, options ...recipes.Option) *recipes.Client {
	t.Helper()
	c, err := recipes.Connect(t.Context(), e.Servers(), append([]recipes.Option{recipes.WithDialer(e.Client(name).DialContext)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// interceptedClient is bubbleClient for a client whose packets the test intercepts.
func interceptedClient(t *testing.T, e *zktest.Ensemble, name string, options ...recipes.Option) (*recipes.Client, *intercept) {
	t.Helper()
	wire := &intercept{through: e.Client(name).DialContext}
	return bubbleClient(t, e, name, append(options, recipes.WithDialer(wire.dial))...), wire
}
