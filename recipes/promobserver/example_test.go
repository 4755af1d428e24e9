package promobserver_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/promobserver"
)

func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	registry := prometheus.NewRegistry() // a service has one that it serves by promhttp
	metrics, err := promobserver.New(registry, promobserver.WithLabel(func(path string) string {
		return strings.TrimRight(path, "/0123456789") // one lock for each order: one label for all
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := recipes.Connect(ctx, []string{server},
		recipes.WithObserver(metrics.Observer()),
		recipes.WithConnectionListener(metrics.Listener()))
	if err != nil {
		fmt.Println(err)
		return
	}
	for order := range 3 {
		lock := recipes.NewMutex(client, fmt.Sprintf("/locks/example/%d", order))
		if err := lock.Do(ctx, func(context.Context, *recipes.Lease) error { return nil }); err != nil {
			fmt.Println(err)
		}
	}
	if err := client.Close(ctx); err != nil { // waits for the observer
		fmt.Println(err)
	}

	families, err := registry.Gather()
	if err != nil {
		fmt.Println(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if h := m.GetHistogram(); h != nil {
				fmt.Println(f.GetName(), m.GetLabel()[0].GetValue(), h.GetSampleCount())
			}
		}
	}
	// Output:
	// zk_lock_acquire_seconds /locks/example 3
	// zk_lock_hold_seconds /locks/example 3
}
