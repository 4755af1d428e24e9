package report

import (
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzNight reads arbitrary parts of nights. A part that is read can be reported and merged
// alone, and is the same after writing and reading it again.
func FuzzNight(f *testing.F) {
	for _, text := range []string{
		`{"firstSeed":1,"seeds":2,"options":{"a":"b"},"results":[{"seed":1,"outcome":"holds","cases":[{"guarantee":"g","outcome":"holds"}]}]}`,
		`{"firstSeed":1,"seeds":4,"shard":"2/4","options":{"a":"b"},"results":[{"seed":2,"outcome":"violated","reason":"r","trouble":"t","folder":"seed-2","voidRuns":["v"],"cases":[{"recipe":"mutex","guarantee":"g","outcome":"violated","witnesses":"w"}]}],"coverage":[{"fault":"down","starts":1}],"meetings":[{"fault":"down","recipe":"mutex","met":{"idle":1}}]}`,
		`{"firstSeed":-9223372036854775808,"seeds":1000000,"options":{"a":"b"},"results":[{"seed":9223372036854775807,"tookNs":-1,"operations":-5}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		n := new(Night)
		if json.Unmarshal(text, n) != nil || n.Check() != nil {
			return
		}
		if n.Seeds > 1000 {
			n.Seeds = 1000 // a report takes time in proportion to the seeds that are left
		}
		for _, write := range []func(io.Writer) error{n.WriteHTML, n.JUnit().Write} {
			if err := write(io.Discard); err != nil {
				t.Errorf("it is read, and not told: %v", err)
			}
		}
		n.Markdown("dir")
		n.Summary("dir")
		for _, r := range n.Results {
			r.Annotation()
		}
		if _, err := MergeNights([]*Night{n}); err != nil {
			t.Errorf("it is read, and is no night by itself: %v", err)
		}
		once, err := json.Marshal(n)
		again := new(Night)
		if err = errors.Join(err, json.Unmarshal(once, again), again.Check()); err != nil {
			t.Fatalf("written as %s it is not read: %v", once, err)
		}
		twice, err := json.Marshal(again)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(once), string(twice)); diff != "" {
			t.Errorf("it is read as another one: %s", diff)
		}
	})
}
