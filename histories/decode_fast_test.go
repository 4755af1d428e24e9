package histories

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"testing"
)

// FuzzReader checks that encoding/json reads each line that the fast reader accepts as the fast
// reader does.
func FuzzReader(f *testing.F) {
	for _, line := range append(corpusLines(f),
		`{"time":1,"type":"ok","process":-1}`,
		`{"time":01,"type":"ok","process":1}`,
		`{"time":1,"type":"ok","process":1,"time":2}`,
		`{"time":1,"type":"o\u006b","process":1}`,
		`{"time":1,"type":"ok","process":1}}`,
		`{"time":1,"type":"ok","process":-0}`,
		`{"time":9223372036854775808,"type":"ok","process":1}`,
		`{"time":1,"type":"ok","process":2147483648}`,
		`{"time":1,"type":"ok","process":1,"token":{"zxid":1,"sub":4294967296}}`,
		`{"time":1,"type":"ok","process":1,"token":{}}`,
		`{"Time":1,"type":"ok","process":1}`,
		`{"time":1.0,"type":"ok","process":1}`,
		`{"time":1,"type":"ok"}`,
		`{"time":3,"type":"says","process":1,"lock":"a","saying":{"asked":2,"valid":true,"left":-5,"depth":1,"ended":false,"held":true,"told":"lost"}}`,
		`{"time":3,"type":"says","process":1,"lock":"a","saying":{"asked":2,"state":"held"}}`,
		`{"time":3,"type":"says","process":1,"lock":"a","saying":{"asked":2,"left":5,"firm":true}}`,
		`{"time":3,"type":"says","process":1,"saying":{"asked":2,"connection":"lost","client":4}}`,
		`{"time":3,"type":"says","process":1,"lock":"a","saying":{"asked":2,"valid":null}}`,
		`{"time":3,"type":"says","process":1,"lock":"a","saying":{"asked":2,"asked":3}}`,
		`{"time":3,"type":"says","process":1,"lock":"a","saying":{"asked":2,"queue":[]}}`,
		`{"time":3,"type":"says","process":1,"lock":"a","saying":{}}`,
		`{"time":3,"type":"says","process":1,"lock":"a","saying":null}`,
		`{"time":3,"type":"says","process":1,"lock":"a","saying":{"asked":2}x}`,
		`{}`, `{`, ``, `[]`, `null`,
	) {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var r reader
		var fast Event
		if !r.event(line, &fast) {
			return
		}
		if slow, err := decodeEvent(line); err != nil || !reflect.DeepEqual(slow, fast) {
			t.Errorf("read as %+v; encoding/json: %+v, %v", fast, slow, err)
		}
	})
}

// The fast reader must read the frequent events itself; else it is no faster.
func TestTheFastReaderReadsAllThatProcessesDo(t *testing.T) {
	n := 0
	for _, line := range corpusLines(t) {
		e, err := decodeEvent([]byte(line))
		if err != nil || e.Parts != nil || e.Error != "" || e.Fault != nil || e.Census != nil || e.Server != nil || e.Phase != "" || e.Saying != nil && (e.Saying.Queue != nil || e.Saying.Node != "") {
			continue
		}
		var r reader
		var fast Event
		if n++; !r.event([]byte(line), &fast) || !reflect.DeepEqual(e, fast) {
			t.Errorf("%s: %+v", line, fast)
		}
	}
	if n < 1000 {
		t.Errorf("%d events in the corpus", n)
	}
}

// corpusLines returns the events of the corpus, as Encode writes them.
func corpusLines(t testing.TB) (lines []string) {
	files, err := filepath.Glob("corpus/*/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		h, err := ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := range h.Events {
			var b bytes.Buffer
			if err := json.NewEncoder(&b).Encode(&h.Events[i]); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))))
		}
	}
	return lines
}
