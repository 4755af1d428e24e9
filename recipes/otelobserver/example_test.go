package otelobserver_test

import (
	"context"
	"fmt"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/simulated"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/otelobserver"
)

func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	servers, err := simulated.Start(ctx, ensemble.LocalConfig{Servers: 1}) // a service has real ones
	if err != nil {
		fmt.Println(err)
		return
	}
	defer servers.Close()
	spans := tracetest.NewInMemoryExporter() // a service exports to a collector
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))

	client, err := recipes.Connect(ctx, []string{servers.Servers()[0].Addr},
		recipes.WithObserver(otelobserver.New(otelobserver.WithTracerProvider(provider))))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, request := provider.Tracer("orders").Start(ctx, "request")
	err = recipes.NewMutex(client, "/locks/orders").Do(ctx, func(context.Context, *recipes.Lease) error { return nil })
	if err != nil {
		fmt.Println(err)
	}
	if err := client.Close(ctx); err != nil { // waits for the observer
		fmt.Println(err)
	}
	for _, span := range spans.GetSpans() {
		ofRequest := span.Parent.SpanID() == request.SpanContext().SpanID()
		fmt.Println(span.Name, span.Attributes[0].Value.AsString(), "child of the request:", ofRequest)
	}
	// Output:
	// lock wait /locks/orders child of the request: true
	// lock hold /locks/orders child of the request: true
}
