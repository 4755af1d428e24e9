package recipes_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/recipes"
)

// BenchmarkFailOver closes the link that a client uses, while one or both of the other two
// servers are healthy, and measures the time that the client is without a connection. For
// comparison it makes a bare handshake with a healthy server each time.
func BenchmarkFailOver(b *testing.B) {
	for _, healthy := range []int{2, 1} {
		b.Run(fmt.Sprintf("healthy=%d", healthy), func(b *testing.B) {
			var took, bare []time.Duration
			for b.Loop() {
				t, h := failOver(b, healthy)
				took, bare = append(took, t), append(bare, h)
			}
			slices.Sort(took)
			slices.Sort(bare)
			middle, floor := took[len(took)/2], bare[len(bare)/2]
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(middle)/1e6, "median-ms")
			b.ReportMetric(float64(took[len(took)-1])/1e6, "worst-ms")
			b.ReportMetric(float64(middle)/float64(floor), "handshakes")
		})
	}
}

func failOver(b *testing.B, healthy int) (took, bare time.Duration) {
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	var list []string
	byAddr := make(map[string]links.Link)
	for _, s := range serversOf(b).Servers() {
		l, err := network.Link(ctx, fmt.Sprintf("%s-%d", b.Name(), nextID.Add(1)), s.Addr)
		must(err)
		defer l.Close()
		list, byAddr[l.Addr()] = append(list, l.Addr()), l
	}
	dialed := make(chan string, 100)
	states := make(chan recipes.ConnectionState, 100)
	c, err := recipes.Connect(ctx, list, recipes.WithSessionTimeout(timeout), recipes.WithServerTick(tick),
		recipes.WithConnectionListener(func(s recipes.ConnectionState) { states <- s }),
		recipes.WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
			dialed <- addr
			return new(net.Dialer).DialContext(ctx, network, addr)
		}))
	must(err)
	defer c.Close(ctx)
	used := <-dialed
	time.Sleep(timeout / 4) // a connection that lasts
	var others []string
	for _, addr := range list {
		if addr != used {
			others = append(others, addr)
		}
	}
	for _, addr := range others[healthy:] {
		must(byAddr[addr].Cut(ctx, links.Down))
	}
	start := time.Now()
	must(byAddr[used].Cut(ctx, links.Down))
	for <-states != recipes.ConnReconnected {
	}
	took = time.Since(start)
	start = time.Now()
	conn, err := net.Dial("tcp", others[0])
	must(err)
	defer conn.Close()
	// A connect request: protocol, last zxid, timeout in ms, session, password.
	request := append([]byte{0, 0, 0, 44, 15: 0}, make([]byte, 32)...)
	request[4+4+8+2], request[4+4+8+4+8+3] = 8, 16
	_, err = conn.Write(request)
	must(err)
	_, err = io.ReadFull(conn, make([]byte, 40))
	must(err)
	return took, time.Since(start)
}
