package links

import (
	"sync"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// quiet turns off zerolog for the whole process: Toxiproxy's bandwidth toxic
// writes to zerolog's global logger, which would print JSON into the terminal.
var quiet = sync.OnceFunc(func() { zerolog.SetGlobalLevel(zerolog.Disabled) })

// InProcessOption changes a default of InProcess.
type InProcessOption func(*inProcessConfig)

type inProcessConfig struct{ listen string }

// WithListenAddress sets the address of this machine on which the links listen, in the
// network of the clients that dial them. The default is 127.0.0.1.
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
	p := newLocalProxy(d.server, name, listen, upstream)
	for _, t := range toxics {
		if err := p.add(t); err != nil {
			return nil, err
		}
	}
	if err := p.start(listen); err != nil {
		return nil, err
	}
	return p, nil
}
