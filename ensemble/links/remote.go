package links

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2/client"
)

// RemoteOption changes a default of Remote.
type RemoteOption func(*remoteConfig)

type remoteConfig struct {
	listen      string
	first, last int
	upstreams   map[string]string
}

// WithListenHost sets the address on which the Toxiproxy server opens the links' listeners. The
// default is the address at which the server is reached. A Toxiproxy in a container whose ports
// are published by its host needs 0.0.0.0.
func WithListenHost(host string) RemoteOption {
	return func(c *remoteConfig) { c.listen = host }
}

// WithPorts sets the ports of links, from first to last, for a server of which only these
// can be reached: a container publishes a fixed range. Without it a link gets any port
// that is free on this machine.
func WithPorts(first, last int) RemoteOption {
	return func(c *remoteConfig) { c.first, c.last = first, last }
}

// WithUpstreams maps addresses that this process knows to the addresses by which the
// Toxiproxy server reaches the same upstreams: servers in containers beside it, whose
// ports are published elsewhere. Addresses that are not in the map are the same for both.
func WithUpstreams(upstreams map[string]string) RemoteOption {
	return func(c *remoteConfig) { c.upstreams = upstreams }
}

// Remote returns a network whose links are proxies of the Toxiproxy server at address,
// such as http://127.0.0.1:8474. Clients dial the links on that host; upstream addresses
// are as seen from there. Close removes the network's own proxies and leaves all others
// alone; a proxy that hangs stays behind, disabled. ErrUnreachable is returned when no
// Toxiproxy answers. A link's name must not be in use on the server.
func Remote(address string, options ...RemoteOption) (Network, error) {
	host, err := hostOf(address)
	if err != nil {
		return nil, err
	}
	reached, err := net.ResolveIPAddr("ip", host)
	if err != nil {
		return nil, fmt.Errorf("%w at %s: %w", ErrUnreachable, WithoutSecrets(address), err)
	}
	config := remoteConfig{listen: reached.String()}
	for _, option := range options {
		option(&config)
	}
	client := toxiproxy.NewClient(address)
	client.UserAgent = "zkverify"
	if err := isToxiproxy(address); err != nil {
		return nil, fmt.Errorf("%w at %s (start one with toxiproxy-server, or leave the links to this process): %w", ErrUnreachable, WithoutSecrets(address), err)
	}
	return &network{
		driver: remote{client, config.upstreams},
		dial:   host,
		listen: config.listen,
		choose: config.ports(),
		links:  map[string]*link{},
		end:    func() error { http.DefaultClient.CloseIdleConnections(); return nil },
	}, nil
}

// probeLimit is the time that a Toxiproxy server has to answer with its version, and
// maxVersion the number of bytes: its client would read without an end.
const (
	probeLimit = 5 * time.Second
	maxVersion = 1 << 10
)

// plainVersion matches the answer of servers before 2.2.
var plainVersion = regexp.MustCompile(`^(git|\d+\.\d+\.\d+)\s*$`)

// isToxiproxy asks the server at address for its version.
func isToxiproxy(address string) error {
	ctx, cancel := context.WithTimeout(context.Background(), probeLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(address, "/")+"/version", nil)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", "zkverify")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxVersion))
	if err != nil {
		return err
	}
	var said struct{ Version string }
	if answer.StatusCode == http.StatusOK &&
		(json.Unmarshal(body, &said) == nil && said.Version != "" || plainVersion.Match(body)) {
		return nil
	}
	return fmt.Errorf("what answers is not Toxiproxy: %s with %.60q", answer.Status, body)
}

// WithoutSecrets returns a URL without the user name and the password that it may contain, or "?"
// if it is not a URL.
func WithoutSecrets(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return "?"
	}
	parsed.User = nil
	return parsed.String()
}

func hostOf(address string) (string, error) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Hostname() == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return "", fmt.Errorf("address of Toxiproxy %q: want http://host:port", WithoutSecrets(address))
	}
	return parsed.Hostname(), nil
}

// ports returns a function that returns ports in turn.
func (c remoteConfig) ports() func() (int, error) {
	if c.first == 0 {
		return freePort
	}
	var mu sync.Mutex
	next := c.first
	return func() (int, error) {
		mu.Lock()
		defer mu.Unlock()
		if c.last < c.first {
			return 0, fmt.Errorf("ports %d to %d: the range is empty", c.first, c.last)
		}
		port := next
		if next++; next > c.last {
			next = c.first
		}
		return port, nil
	}
}

type remote struct {
	client    *toxiproxy.Client
	upstreams map[string]string // see WithUpstreams
}

func (d remote) open(name, listen, upstream string, toxics []toxic) (proxy, error) {
	if other, ok := d.upstreams[upstream]; ok {
		upstream = other
	}
	made := d.client.NewProxy()
	made.Name, made.Listen, made.Upstream = name, listen, upstream
	// The proxy is switched on last, so that every connection has the toxics.
	if err := made.Save(); err != nil {
		return nil, explain(err)
	}
	p := remoteProxy{made}
	for _, t := range toxics {
		if err := p.add(t); err != nil {
			return nil, errors.Join(err, p.stop())
		}
	}
	if err := made.Enable(); err != nil {
		return nil, errors.Join(explain(err), p.stop())
	}
	return p, nil
}

type remoteProxy struct{ *toxiproxy.Proxy }

func (p remoteProxy) add(t toxic) error {
	attributes := toxiproxy.Attributes{}
	for name, value := range t.Attributes {
		attributes[name] = value
	}
	_, err := p.AddToxic(t.Name, t.Type, t.Stream, t.Toxicity, attributes)
	return explain(err)
}

func (p remoteProxy) remove(name string) error { return explain(p.RemoveToxic(name)) }

// stop disables the proxy before it deletes it. Both wait for the proxy's connections,
// which may hang; but the deletion does so under the server's lock on all proxies, and
// would block the whole server.
func (p remoteProxy) stop() error {
	err := p.Disable()
	if err == nil {
		err = p.Delete()
	}
	var status *toxiproxy.ApiError
	if errors.As(err, &status) && status.Status == http.StatusNotFound {
		return nil // removed already, as wanted
	}
	return explain(err)
}

// explain replaces an error by the one of this package that callers match.
func explain(err error) error {
	if err == nil {
		return nil
	}
	var status *toxiproxy.ApiError
	switch {
	case errors.As(err, &status) && status.Status == http.StatusConflict:
		return fmt.Errorf("%w on the Toxiproxy server: %w", ErrNameTaken, err)
	case errors.As(err, &status), errors.Is(err, context.Canceled):
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}
