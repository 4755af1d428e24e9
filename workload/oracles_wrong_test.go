package workload_test

import (
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// Each oracle must find the violation that it is for.
func TestTheOraclesSeeWhatIsWrong(t *testing.T) {
	type e = histories.Event
	const (
		invoke, ok = histories.Invoke, histories.OK
		acquire    = histories.Acquire
		release    = histories.Release
	)
	read := e{Lock: "l", Mode: histories.ModeRead, Depth: 1}
	write := e{Lock: "l", Mode: histories.ModeWrite, Depth: 1}
	two := e{Lock: "l", Permits: 2, Depth: 1}
	node := histories.Token{Zxid: 5}
	did := func(process int, op histories.Op, types ...histories.Type) func(e) []e {
		return func(with e) (out []e) {
			for _, typ := range types {
				with.Process, with.Op, with.Type, with.Owner = process, op, typ, string(rune('a'+process))
				out = append(out, with)
			}
			return out
		}
	}
	both := []histories.Type{invoke, ok}
	for _, c := range []struct {
		name   string
		recipe histories.Recipe
		size   int
		events [][]e
		wrong  bool
	}{
		{"a reader and a writer", histories.ReadWrite, 0, [][]e{did(0, acquire, both...)(read), did(1, acquire, both...)(write)}, true},
		{"two writers", histories.ReadWrite, 0, [][]e{did(0, acquire, both...)(write), did(1, acquire, both...)(write)}, true},
		{"two readers", histories.ReadWrite, 0, [][]e{did(0, acquire, both...)(read), did(1, acquire, both...)(read)}, false},
		{"a writer after a reader", histories.ReadWrite, 0, [][]e{did(0, acquire, both...)(read), did(0, release, invoke)(read), did(1, acquire, both...)(write)}, false},
		{"a writer after a downgrade", histories.ReadWrite, 0, [][]e{
			did(0, acquire, both...)(write), did(0, acquire, both...)(read), did(0, release, both...)(write), did(1, acquire, both...)(write),
		}, true},
		{"a reader that reads another value", histories.ReadWrite, 0, [][]e{
			did(0, acquire, both...)(read), did(0, histories.Read, both...)(e{Lock: "l", Mode: read.Mode, Store: histories.StorePlain}),
			did(0, histories.Read, both...)(e{Lock: "l", Mode: read.Mode, Store: histories.StorePlain, Value: 1}),
		}, true},
		{"four permits of three", histories.Semaphore, 3, [][]e{did(0, acquire, both...)(two), did(1, acquire, both...)(two)}, true},
		{"four permits of four", histories.Semaphore, 4, [][]e{did(0, acquire, both...)(two), did(1, acquire, both...)(two)}, false},
		{"a crash gives back", histories.Semaphore, 3, [][]e{did(0, acquire, both...)(two), {{Type: histories.Crash}}, did(1, acquire, both...)(two)}, false},
		{"four permits when it was shrunk", histories.SharedSemaphore, 4, [][]e{
			did(2, histories.SetSize, both...)(e{Lock: "l", Size: 3}), did(0, acquire, both...)(two), did(1, acquire, both...)(two),
		}, true},
		{"four permits when it was shrunk later", histories.SharedSemaphore, 4, [][]e{
			did(0, acquire, both...)(two), did(1, acquire, both...)(two), did(2, histories.SetSize, both...)(e{Lock: "l", Size: 3}),
		}, false},
		{"four permits while it is shrunk", histories.SharedSemaphore, 4, [][]e{
			did(0, acquire, both...)(two), did(1, acquire, invoke)(two), did(2, histories.SetSize, both...)(e{Lock: "l", Size: 3}), did(1, acquire, ok)(two),
		}, false},
		{"a request that no client made", histories.Revocation, 0, [][]e{{{Type: histories.RevokeRequested, Lock: "l", Token: node}}}, true},
		{"a request that does not reach its holder", histories.Revocation, 0, [][]e{
			did(0, acquire, both...)(e{Lock: "l", Token: node, Depth: 1}), did(1, histories.Revoke, both...)(e{Lock: "l", Token: node}),
		}, true},
		{"a wait while it is up", histories.Barrier, 0, [][]e{did(0, histories.Set, both...)(e{Lock: "l"}), did(1, histories.Wait, both...)(e{Lock: "l"})}, true},
		{"a wait while it may be down", histories.Barrier, 0, [][]e{
			did(0, histories.Set, both...)(e{Lock: "l"}), did(1, histories.Wait, invoke)(e{Lock: "l"}),
			did(0, histories.Remove, invoke)(e{Lock: "l"}), did(1, histories.Wait, ok)(e{Lock: "l"}),
		}, false},
		{"too few enter", histories.DoubleBarrier, 2, [][]e{did(0, histories.Enter, both...)(e{Lock: "l", Generation: 1})}, true},
		{"one of an earlier round does not count", histories.DoubleBarrier, 2, [][]e{
			did(1, histories.Enter, invoke, histories.Fail)(e{Lock: "l", Generation: 1}), did(0, histories.Enter, both...)(e{Lock: "l", Generation: 2}),
		}, true},
		{"one leaves early", histories.DoubleBarrier, 2, [][]e{
			did(0, histories.Enter, invoke)(e{Lock: "l", Generation: 1}), did(1, histories.Enter, both...)(e{Lock: "l", Generation: 1}),
			did(0, histories.Enter, ok)(e{Lock: "l", Generation: 1}), did(1, histories.Leave, both...)(e{Lock: "l", Generation: 1}),
		}, true},
		{"one leaves when the other has crashed", histories.DoubleBarrier, 2, [][]e{
			did(0, histories.Enter, invoke)(e{Lock: "l", Generation: 1}), did(1, histories.Enter, both...)(e{Lock: "l", Generation: 1}),
			did(0, histories.Enter, ok)(e{Lock: "l", Generation: 1}), {{Type: histories.Crash}}, did(1, histories.Leave, both...)(e{Lock: "l", Generation: 1}),
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &histories.History{Header: histories.Header{
				Version: histories.Version, Locks: map[string]histories.Lock{"l": {Recipe: c.recipe, Size: c.size}},
			}}
			for _, events := range c.events {
				for _, e := range events {
					e.Time = time.Duration(len(h.Events)) * time.Millisecond
					h.Events = append(h.Events, e)
				}
			}
			if err := histories.Validate(h); err != nil {
				t.Fatal(err)
			}
			if wrong := oracles[c.recipe](h); len(wrong) > 0 != c.wrong {
				t.Errorf("found %q, want something: %v", wrong, c.wrong)
			}
		})
	}
}
