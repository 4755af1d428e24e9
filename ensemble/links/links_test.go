package links_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2/client"

	"github.com/zkverify/zkverify/ensemble/links"
)

func TestRemoteSaysSoWhenNoToxiproxyAnswers(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	url := "http://" + listener.Addr().String()
	listener.Close()
	_, err = links.Remote(url)
	if !errors.Is(err, links.ErrUnreachable) || !strings.Contains(err.Error(), url) {
		t.Fatalf("want ErrUnreachable that names %s, got %v", url, err)
	}
	if _, err := links.Remote("localhost"); err == nil {
		t.Fatal("an address without a scheme was taken")
	}
}

func TestRemoteStaysWithinThePortsItIsGiven(t *testing.T) {
	first := threeFreePorts(t)
	network, err := links.Remote(apiServer(t, 0), links.WithPorts(first, first+2), links.WithListenHost("127.0.0.1"))
	must(t, err)
	defer closeNetwork(t, network)
	server := newEcho(t)
	for _, name := range []string{"a", "b", "c"} {
		link, err := network.Link(testContext(t), name, server.Addr().String())
		must(t, err)
		if port := netip.MustParseAddrPort(link.Addr()).Port(); int(port) < first || int(port) > first+2 {
			t.Fatalf("link at %s", link.Addr())
		}
		dial(t, link.Addr()).mustAnswer(t)
	}
	if _, err := network.Link(testContext(t), "d", server.Addr().String()); err == nil {
		t.Fatal("a fourth link found a port in a range of three")
	}
}

func TestRemoteListensWhereItIsReached(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skip(err) // loopback is one address on macOS
	}
	url := apiServerOn(t, listener, 0)
	network, err := links.Remote(url)
	must(t, err)
	defer closeNetwork(t, network)
	link, err := network.Link(testContext(t), "a", newEcho(t).Addr().String())
	must(t, err)
	proxies, err := toxiproxy.NewClient(url).Proxies()
	must(t, err)
	for _, proxy := range proxies {
		if proxy.Listen != link.Addr() || !strings.HasPrefix(proxy.Listen, "127.0.0.2:") {
			t.Errorf("the link is at %s, the proxy at %s", link.Addr(), proxy.Listen)
		}
	}
	if len(proxies) != 1 {
		t.Errorf("%d proxies", len(proxies))
	}
}

// threeFreePorts returns the first of three free ports in a row, below the ports of other
// tests.
func threeFreePorts(t *testing.T) int {
	t.Helper()
	for first := 5100; first < 9900; first += 3 {
		if links.CheckPort(first) == nil && links.CheckPort(first+1) == nil && links.CheckPort(first+2) == nil {
			return first
		}
	}
	t.Fatal("no three free ports in a row")
	return 0
}

// A receiver that reads nothing, with full buffers, blocks Toxiproxy: a toxic can neither
// be added to nor taken off its connection. The goroutines of the connection hang for
// ever, so only this test does not look for leaks.
func TestALinkWhoseReceiverIsStuckStillChangesInTime(t *testing.T) {
	for _, made := range []func() (links.Network, error){
		func() (links.Network, error) { return links.InProcess() },
		func() (links.Network, error) { return links.Remote(apiServer(t, 1)) },
	} {
		network, err := made()
		must(t, err)
		defer closeNetwork(t, network)
		stuck, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		defer stuck.Close()
		link, err := network.Link(testContext(t), "stuck", stuck.Addr().String())
		must(t, err)
		conn, err := net.Dial("tcp", link.Addr())
		must(t, err)
		defer conn.Close()
		held, err := stuck.Accept()
		must(t, err)
		defer held.Close()
		for chunk := make([]byte, 1<<16); ; {
			_ = conn.SetWriteDeadline(time.Now().Add(silence))
			if _, err := conn.Write(chunk); err != nil {
				break // the buffers are full
			}
		}
		for _, change := range []func(context.Context) error{
			func(ctx context.Context) error { return link.Cut(ctx, links.BlackHole) },
			link.Heal,
			func(ctx context.Context) error { return link.Delay(ctx, time.Millisecond, 0) },
		} {
			start := time.Now()
			must(t, change(testContext(t)))
			if took := time.Since(start); took > 4*time.Second {
				t.Fatalf("the change took %v", took)
			}
		}
		echoes := newEcho(t)
		next, err := network.Link(testContext(t), "next", echoes.Addr().String())
		must(t, err)
		dial(t, next.Addr()).mustAnswer(t)
	}
}

func TestAnEndedContextEndsTheWait(t *testing.T) {
	network, err := links.InProcess()
	must(t, err)
	defer closeNetwork(t, network)
	link := newLink(t, network, newEcho(t))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := link.Cut(ended, links.Down); !errors.Is(err, context.Canceled) && err != nil {
		t.Fatal(err)
	}
	must(t, link.Cut(testContext(t), links.BlackHole))
	must(t, link.Heal(testContext(t)))
	dial(t, link.Addr()).mustAnswer(t)
}

func TestLinksOfThisProcessAreReachedByItsMachineAlone(t *testing.T) {
	noLeaks(t)
	network, err := links.InProcess()
	must(t, err)
	t.Cleanup(func() { closeNetwork(t, network) })
	link := newLink(t, network, newEcho(t))
	host, port, err := net.SplitHostPort(link.Addr())
	if err != nil || host != "127.0.0.1" {
		t.Errorf("the link is at %s, error %v", link.Addr(), err)
	}
	addrs, err := net.InterfaceAddrs()
	must(t, err)
	for _, a := range addrs {
		ip, ok := a.(*net.IPNet)
		if !ok || ip.IP.IsLoopback() || ip.IP.To4() == nil {
			continue
		}
		if conn, err := net.DialTimeout("tcp", net.JoinHostPort(ip.IP.String(), port), time.Second); err == nil {
			conn.Close()
			t.Errorf("the link can be reached at %s", ip.IP)
		}
	}
}
