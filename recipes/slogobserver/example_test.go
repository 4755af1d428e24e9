package slogobserver_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/slogobserver"
)

func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			switch a.Key { // attributes that differ from run to run
			case slog.TimeKey, "node", "token", "session", "waited", "held":
				return slog.Attr{}
			}
			return a
		},
	}))
	client, err := recipes.Connect(ctx, []string{server}, recipes.WithObserver(slogobserver.New(logger)))
	if err != nil {
		fmt.Println(err)
		return
	}
	err = recipes.NewMutex(client, "/locks/example").Do(ctx, func(context.Context, *recipes.Lease) error { return nil })
	if err != nil {
		fmt.Println(err)
	}
	if err := client.Close(ctx); err != nil { // waits for the observer
		fmt.Println(err)
	}
	// Output:
	// level=DEBUG msg="lock enqueued" path=/locks/example ahead=0
	// level=DEBUG msg="lock acquired" path=/locks/example
	// level=DEBUG msg="lock released" path=/locks/example
}
