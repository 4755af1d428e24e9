package spec

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"
)

func TestZZ(t *testing.T) {
	v, err := NewValidator()
	if err != nil {
		t.Fatal(err)
	}
	debug = os.Getenv("ZZ_DEBUG") != ""
	t0 := time.Now()
	r, err := v.Validate(context.Background(), os.Getenv("ZZ"))
	fmt.Println(r.Windows, r.Steps, r.Beyond, r.Why, err, time.Since(t0))
	for _, d := range r.Differs {
		fmt.Println(d)
	}
}
