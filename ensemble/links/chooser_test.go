package links

import (
	"errors"
	"io"
	"testing"
)

// TestAPortIsNotGivenAgainSoon: a cut link and a killed server will listen on their ports
// again.
func TestAPortIsNotGivenAgainSoon(t *testing.T) {
	for name, claim := range map[string]func(int) (io.Closer, error){
		"every block is free": func(int) (io.Closer, error) { return io.NopCloser(nil), nil },
		"others have claimed every block": func(int) (io.Closer, error) {
			return nil, errors.New("claimed")
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newPortChooser(claim)
			given := map[int]int{} // the order, by port
			for i := 0; i < 3*mostBlocks*portsInBlock; {
				ports, err := c.free(9)
				if err != nil {
					t.Fatal(err)
				}
				for _, port := range ports {
					if last, again := given[port]; again && i-last < mostBlocks*portsInBlock/2 {
						t.Fatalf("port %d was given again after %d others", port, i-last-1)
					}
					given[port] = i
					i++
				}
			}
			if len(c.blocks) != mostBlocks {
				t.Errorf("the portChooser took %d blocks, want %d", len(c.blocks), mostBlocks)
			}
		})
	}
}

func TestTooManyPortsAtOnce(t *testing.T) {
	c := newPortChooser(func(int) (io.Closer, error) { return io.NopCloser(nil), nil })
	if ports, err := c.free(mostBlocks*portsInBlock + 1); !errors.Is(err, ErrNoPort) {
		t.Errorf("got %d ports and %v, wanted ErrNoPort", len(ports), err)
	}
}
