package ports

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
			c := newChooser(claim)
			given := map[int]int{} // the order, by port
			for i := 0; i < 3*most*size; {
				ports, err := c.free(9)
				if err != nil {
					t.Fatal(err)
				}
				for _, port := range ports {
					if last, again := given[port]; again && i-last < most*size/2 {
						t.Fatalf("port %d was given again after %d others", port, i-last-1)
					}
					given[port] = i
					i++
				}
			}
			if len(c.blocks) != most {
				t.Errorf("the chooser took %d blocks, want %d", len(c.blocks), most)
			}
		})
	}
}

func TestTooManyPortsAtOnce(t *testing.T) {
	c := newChooser(func(int) (io.Closer, error) { return io.NopCloser(nil), nil })
	if ports, err := c.free(most*size + 1); !errors.Is(err, ErrNone) {
		t.Errorf("got %d ports and %v, wanted ErrNone", len(ports), err)
	}
}
