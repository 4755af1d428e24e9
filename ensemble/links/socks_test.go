package links_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"testing"

	"github.com/zkverify/zkverify/ensemble/links"
)

func TestASOCKSClientIsRoutedByTheAddressThatItAsksFor(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Host) }))
	defer server.Close()
	r, err := links.OpenSOCKS(func(to netip.AddrPort) string {
		if to.String() == "127.0.0.1:7" {
			return server.Listener.Addr().String()
		}
		return "127.0.0.1:1" // closed
	})
	must(t, err)
	defer r.Close()
	transport := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "socks5", Host: r.Addr()})}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport}
	answer, err := client.Get("http://127.0.0.1:7/")
	must(t, err)
	defer answer.Body.Close()
	if body, err := io.ReadAll(answer.Body); err != nil || string(body) != "127.0.0.1:7" {
		t.Errorf("routed: %q, %v", body, err)
	}
	for what, at := range map[string]string{"refused": "http://127.0.0.1:8/", "a name": "http://name.invalid/"} {
		if answer, err := client.Get(at); err == nil {
			answer.Body.Close()
			t.Errorf("%s: %v", what, answer.Status)
		}
	}
}
