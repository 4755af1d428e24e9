package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/report"
	"github.com/zkverify/zkverify/workload/folder"
)

// hostile is a text with a meaning to each medium: lines and commands, colors and the title of a
// terminal, letters that run backwards or are invisible, markup, links, shell.
const hostile = "x\n::error title=forged::y\nFORGED: a line\r\x1b[2J\x1b[32mgreen\x1b]0;title\x07\x7f\u0085\u202eA\u200b\"'<script>alert(1)</script><img src=x onerror=alert(1)>`|**b**](http://x) ##[error]z ]]> $(touch forged) ```\n```\n## FORGED \U000e0041"

// fieldsOf adds to a set the paths of the strings in a type, as JSON names them: header.target,
// header.options.* for the values of a map and header.options.key for its keys.
func fieldsOf(t reflect.Type, at string, to map[string]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		fieldsOf(t.Elem(), at, to)
	case reflect.String:
		to[at] = true
	case reflect.Map:
		to[at+".key"] = true
		fieldsOf(t.Elem(), at+".*", to)
	case reflect.Struct:
		for field := range t.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if field.Anonymous && name == "" {
				fieldsOf(field.Type, at, to)
			} else if field.IsExported() && name != "-" && field.Type.Name() != "Time" {
				fieldsOf(field.Type, at+"."+name, to)
			}
		}
	}
}

// each calls do for each string in a value of JSON, with its path, and replaces the string by the
// result. It recognizes maps by the paths of fieldsOf.
func each(v any, at string, known map[string]bool, do func(path, text string) string) any {
	switch v := v.(type) {
	case string:
		return do(at, v)
	case []any:
		for i := range v {
			v[i] = each(v[i], at, known, do)
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			if isMap := known[at+".key"]; isMap {
				out[do(at+".key", key)] = each(value, at+".*", known, do)
			} else {
				out[key] = each(value, at+"."+key, known, do)
			}
		}
		return out
	}
	return v
}

// record is a history as JSON values, one a line.
type record []any

func readRecord(t *testing.T, path string) record {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all record
	for line := range bytes.Lines(text) {
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

// each calls do for all strings of the history, and replaces them by its results.
func (r record) each(known map[string]bool, do func(path, text string) string) {
	at := "header"
	for i := range r {
		r[i] = each(r[i], at, known, do)
		at = "event"
	}
}

func (r record) write(t *testing.T, path string) {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	for _, v := range r {
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	write(t, path, out.String())
}

// enriched sets the fields that the histories of the corpus lack.
func enriched(r record) record {
	header := r[0].(map[string]any)
	header["upgrade_to"], header["release_not_held"] = "3.9.9", histories.NotHeldAsLost
	header["ensemble"], header["zookeeper"], header["servers"] = "local", "3.9.8", 3
	header["models"] = []any{"mutex"}
	header["options"] = map[string]any{"duration": "1s", "faults": "all"}
	header["shrunk"] = map[string]any{"guarantee": "mutual exclusion", "events": 1000, "written": []any{map[string]any{"lock": "a", "store": "s", "value": 7}}}
	for _, v := range r[1:] {
		e := v.(map[string]any)
		if census, ok := e["census"].(map[string]any); ok {
			census["disagreements"], census["watched"] = []any{"server 1 has /a"}, []any{"/a"}
			census["uncounted"] = map[string]any{"watch": "refused"}
		}
		if server, ok := e["server"].(map[string]any); ok {
			server["zookeeper"] = "3.9.9"
		}
		if fault, ok := e["fault"].(map[string]any); ok {
			fault["params"] = map[string]any{"ms": "7"}
		}
	}
	return r
}

// The hostile text is put into every field of a history, and one of the two pages that people read
// first is examined, in turn. TestWordsOfAHistoryPassEveryDoor examines both, every night.
func TestWordsOfAHistoryPassADoor(t *testing.T) {
	n := 0
	eachField(t, func(t *testing.T, r record) {
		file := filepath.Join(t.TempDir(), folder.History)
		r.write(t, file)
		if n++; n%2 == 0 {
			lookAtCommand(t, "explain", file)
		} else {
			lookAtCommand(t, "check", "--verbose", file)
		}
	})
}

// The hostile text is put into every field of a history, and all output is examined.
func TestWordsOfAHistoryPassEveryDoor(t *testing.T) {
	ensembletest.EveryNight(t)
	eachField(t, lookAtAll)
}

// eachField calls look for histories that have the hostile text in one field each.
func eachField(t *testing.T, look func(*testing.T, record)) {
	known := make(map[string]bool)
	fieldsOf(reflect.TypeFor[histories.Header](), "header", known)
	fieldsOf(reflect.TypeFor[histories.Event](), "event", known)
	left := maps.Clone(known)
	corpus := filepath.Join("..", "..", "histories", "corpus")
	if err := filepath.WalkDir(corpus, func(path string, e fs.DirEntry, err error) error {
		if err != nil || len(left) == 0 || !strings.HasSuffix(path, ".jsonl") {
			return err
		}
		for rich := range 2 {
			read := func() record {
				r := readRecord(t, path)
				if rich == 1 {
					r = enriched(r)
				}
				return r
			}
			values := make(map[string]string) // of the fields that are still to be tested
			read().each(known, func(path, text string) string {
				if left[path] && text != "" {
					values[path] = text
				}
				return text
			})
			for _, field := range slices.Sorted(maps.Keys(values)) {
				delete(left, field)
				r := read()
				// Replace the value everywhere, so that equal names stay equal.
				r.each(known, func(path, text string) string {
					if text == values[field] {
						return text + hostile
					}
					return text
				})
				t.Run(field, func(t *testing.T) { look(t, r) })
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for field := range left {
		t.Errorf("no history has the field %s: let enriched add it", field)
	}
}

// lookAtAll runs all commands that print a history or parts of it, and examines their output.
func lookAtAll(t *testing.T, r record) {
	file := filepath.Join(t.TempDir(), folder.History)
	r.write(t, file)
	page, small := filepath.Join(filepath.Dir(file), "page.html"), filepath.Join(filepath.Dir(file), "small.jsonl")
	for _, args := range [][]string{
		{"check", file}, {"check", "--verbose", file}, {"check", "--json", file}, {"explain", file}, {"shrink", "--out", small, file},
		{"report", "--out", page, file}, {"schedule", "--of", file}, {"replay", "--ensemble", "simulated", "--duration", "1ns", file},
	} {
		lookAtCommand(t, args...)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return // it is not a valid history any more
	}
	lookAtMarkup(t, "the page", string(text))
	lookAtData(t, string(text))
	_, judged, err := folder.JudgeFile(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	h, err := histories.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var junit bytes.Buffer
	if err := report.JUnitOf(h.Header, judged, 1).Write(&junit); err != nil {
		t.Fatal(err)
	}
	lookAtMarkup(t, "junit.xml", junit.String())
}

// lookAtCommand runs zkverify, and examines its output.
func lookAtCommand(t *testing.T, args ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	zkverify(args, &console{out: &out, err: &errs})
	lookAt(t, strings.Join(args, " "), out.String()+"\n"+errs.String())
}

// lookAt reports text that a terminal or CI would take for commands, and forged lines.
func lookAt(t *testing.T, what, text string) {
	t.Helper()
	lookAtLetters(t, what, text)
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") || strings.HasPrefix(line, "FORGED") {
			t.Errorf("%s: has the line %q", what, line)
		}
	}
}

// lookAtLetters reports letters that are not printable.
func lookAtLetters(t *testing.T, what, text string) {
	t.Helper()
	for i, r := range text {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) || r == utf8.RuneError {
			t.Fatalf("%s: has %q in %q", what, r, text[max(0, i-60):min(len(text), i+20)])
		}
	}
}

// lookAtMarkup reports text that HTML and XML would take for markup.
func lookAtMarkup(t *testing.T, what, text string) {
	t.Helper()
	lookAtLetters(t, what, text)
	for _, bad := range []string{"<script>alert", "<img src=x", "]]>", `title="FORGED`} {
		if i := strings.Index(text, bad); i >= 0 {
			t.Errorf("%s: has %q in %q", what, bad, text[max(0, i-100):min(len(text), i+50)])
		}
	}
}

// lookAtData reports letters in the data of a page's script that are not printable.
func lookAtData(t *testing.T, page string) {
	t.Helper()
	_, letters, _ := strings.Cut(page, `id="data">`)
	letters, _, _ = strings.Cut(letters, "<")
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(letters)))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(data[4:4+binary.LittleEndian.Uint32(data)], &v); err != nil {
		t.Fatal(err)
	}
	each(v, "data", nil, func(path, text string) string {
		lookAtLetters(t, path, text)
		return text
	})
}

// The lines of a text cannot pass for several messages of zkverify.
func TestFurtherLinesAreSetIn(t *testing.T) {
	var said bytes.Buffer
	(&console{err: &said}).behindDoors().say("zkverify: a\nFORGED\n  b\n::error::c")
	if said.String() != "zkverify: a\n  FORGED\n  b\n  :\\u003aerror::c\n" {
		t.Errorf("%q", said.String())
	}
}

// printed returns an error as the console prints it.
func printed(err error) string {
	var said bytes.Buffer
	(&console{err: &said}).behindDoors().print(err.Error())
	return said.String()
}

// Only the console writes to the outputs of the process, through its doors, and the files that
// speak a protocol with another process.
func TestNothingGoesAroundTheDoors(t *testing.T) {
	protocols := map[string]bool{"cmd/zkverify/sim.go": true, "cmd/zkverify/selftest.go": true, "workload/campaign/host.go": true}
	root := filepath.Join("..", "..")
	for _, dir := range []string{"cmd", "report", "checker", "workload", "nemesis", "ensemble", "histories", "recipes", "internal/words", "internal/wait"} {
		if err := filepath.WalkDir(filepath.Join(root, dir), func(path string, e fs.DirEntry, err error) error {
			name, _ := filepath.Rel(root, path)
			name = filepath.ToSlash(name)
			if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || protocols[name] || name == "cmd/zkverify/console.go" {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			// Other programs may write to their outputs: benchmarks, examples, generators.
			if file.Name.Name == "main" && !strings.HasPrefix(name, "cmd/zkverify/") {
				return nil
			}
			ast.Inspect(file, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				x, ok := s.X.(*ast.Ident)
				if ok && (x.Name == "os" && (s.Sel.Name == "Stdout" || s.Sel.Name == "Stderr") || x.Name == "fmt" && strings.HasPrefix(s.Sel.Name, "Print")) {
					t.Errorf("%s uses %s.%s", name, x.Name, s.Sel.Name)
				}
				return true
			})
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}
