package links

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// quiet turns off zerolog for the whole process: Toxiproxy's bandwidth toxic
// writes to zerolog's global logger, which would print JSON into the terminal.
var quiet = sync.OnceFunc(func() { zerolog.SetGlobalLevel(zerolog.Disabled) })

// InProcessOption changes a default of InProcess.
type InProcessOption func(*inProcessConfig)

type inProcessConfig struct{ listen string }

// WithListenAddress sets the address of this machine on which the links listen:
// that of the network which those who dial them are in. The default is 127.0.0.1.
func WithListenAddress(ip string) InProcessOption {
	return func(c *inProcessConfig) { c.listen = ip }
}

// InProcess returns a network whose Toxiproxy runs inside this process and
// listens on loopback, if no option says otherwise. It turns off zerolog's
// global level.
func InProcess(options ...InProcessOption) (Network, error) {
	quiet()
	config := inProcessConfig{listen: "127.0.0.1"}
	for _, option := range options {
		option(&config)
	}
	return &network{
		driver: inProcess{toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())},
		dial:   config.listen,
		listen: config.listen,
		choose: freePort,
		links:  map[string]*link{},
		end:    func() error { return nil },
	}, nil
}

type inProcess struct{ server *toxiproxy.ApiServer }

func (d inProcess) open(name, listen, upstream string, toxics []toxic) (proxy, error) {
	p := localProxy{toxiproxy.NewProxy(d.server, name, listen, upstream)}
	for _, t := range toxics {
		if err := p.add(t); err != nil {
			return nil, err
		}
	}
	if err := p.Start(); err != nil {
		return nil, err
	}
	return p, nil
}

// localProxy is started once and stopped once. Restarting a Toxiproxy proxy is
// a data race in itself: Start overwrites the state that Stop's goroutines read.
type localProxy struct{ *toxiproxy.Proxy }

func (p localProxy) add(t toxic) error {
	if t.Type == "slicer" {
		t.Type = slicerType
	}
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	_, err = p.Toxics.AddToxicJson(bytes.NewReader(text))
	return err
}

func (p localProxy) remove(name string) error {
	// RemoveToxic takes a context for its logger alone; see link.do for its end.
	return p.Toxics.RemoveToxic(context.Background(), name)
}

// drainLimit is how long stop waits for a proxy to drop what is in flight.
const drainLimit = 100 * time.Millisecond

// stop drops what is in flight before it closes the connections. A chunk on
// its way to a connection that is closed under it has no reader any more, and
// Toxiproxy's goroutines wait for one for ever.
func (p localProxy) stop() error {
	dropped := make(chan struct{})
	// Ends when both toxics are in place, at the latest with the connections.
	go func() {
		defer close(dropped)
		for _, t := range (condition{cut: BlackHole}).toxics() {
			t.Name = "stop-" + t.Stream
			_ = p.add(t)
		}
	}()
	timer := time.NewTimer(drainLimit)
	defer timer.Stop()
	select {
	case <-dropped:
	case <-timer.C:
	}
	p.Stop()
	return nil
}
