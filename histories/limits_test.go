package histories

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// pattern repeats its text without end, and counts the bytes that were read.
type pattern struct {
	text string
	n    int64
}

func (p *pattern) Read(b []byte) (int, error) {
	n := copy(b, p.text[p.n%int64(len(p.text)):])
	p.n += int64(n)
	return n, nil
}

// allocated returns the number of bytes that f allocates in all.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

const gigabyte = 1 << 30

// enough is the memory that refusing any file may take: a few lines of the greatest
// length.
const enough = 256 << 20

func TestALineWithoutEndIsRefusedBeforeItFillsTheMemory(t *testing.T) {
	for _, c := range []struct {
		name, head, text string
		decode           func(io.Reader) (*History, error)
	}{
		{"no header", "", "x", Decode},
		{"a line of the history", header, `{"time":1,`, Decode},
		{"one string", header + `{"time":1,"error":"`, "x", Decode},
		{"nesting of JSON", header + `{"time":`, "[", Decode},
		{"a number of JSON", header + `{"time":`, "7", Decode},
		{"parts without end", header + `{"time":1,"parts":[`, "{},", Decode},
		{"a key of JSON", header + `{"`, "k", Decode},
		{"spaces of EDN", "", " ", DecodeEDN},
		{"a symbol of EDN", "{:type ", "s", DecodeEDN},
		{"a keyword of EDN", "{:", "k", DecodeEDN},
		{"values of EDN", "{:type [", "1 ", DecodeEDN},
		{"nesting of EDN", "{:type ", "[", DecodeEDN},
		{"tags of EDN", "{:type ", "#a ", DecodeEDN},
		{"what is discarded of EDN", "{:type ", "#_", DecodeEDN},
		{"a string of EDN", `{:type "`, "x", DecodeEDN},
		{"a string of EDN in many lines", `{:type "`, "xxxxxxxx\n", DecodeEDN},
		{"a number of EDN", "{:type ", "7", DecodeEDN},
		{"a comment of EDN", ";", ";", DecodeEDN},
		{"brackets of EDN", "", "[\n", DecodeEDN},
	} {
		t.Run(c.name, func(t *testing.T) {
			endless := &pattern{text: strings.Repeat(c.text, 4096)}
			var err error
			n := allocated(func() {
				_, err = c.decode(io.MultiReader(strings.NewReader(c.head), io.LimitReader(endless, gigabyte)))
			})
			var f *FormatError
			if !errors.As(err, &f) {
				t.Errorf("got %v, want a *FormatError", err)
			}
			if n > enough || endless.n > enough {
				t.Errorf("it took %d MB of memory, and read %d MB", n>>20, endless.n>>20)
			}
		})
	}
}

func TestACompressedGigabyteIsRefusedBeforeItFillsTheMemory(t *testing.T) {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	// Consecutive frames are one text.
	begin := z.EncodeAll([]byte(header+`{"time":1,"error":"`), nil)
	megabyte := z.EncodeAll(bytes.Repeat([]byte("x"), 1<<20), nil)
	bomb := append(begin, bytes.Repeat(megabyte, gigabyte>>20)...)
	path := t.TempDir() + "/bomb.jsonl.zst"
	if err := os.WriteFile(path, bomb, 0o600); err != nil || len(bomb) > 1<<20 {
		t.Fatalf("it is no bomb: %d bytes, %v", len(bomb), err)
	}
	n := allocated(func() { _, err = ReadFile(path) })
	var fe *FormatError
	if !errors.As(err, &fe) || fe.Line != 2 || fe.File != path {
		t.Errorf("got %v, want a *FormatError of line 2", err)
	}
	if n > enough {
		t.Errorf("it took %d MB", n>>20)
	}
}

// A few bytes can make the decompressor allocate a window of gigabytes.
func TestACompressedFileThatAsksForTooMuchMemoryIsRefused(t *testing.T) {
	path := t.TempDir() + "/h.jsonl.zst"
	const window = 19 << 3 // 2 to the power of 10+19 bytes
	block := 64<<3 | 1<<1 | 1
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, window, byte(block), byte(block >> 8), byte(block >> 16), 'x'}
	if err := os.WriteFile(path, frame, 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	n := allocated(func() { _, err = ReadFile(path) })
	if err == nil || !strings.Contains(err.Error(), "window") {
		t.Errorf("got %v", err)
	}
	if n > enough {
		t.Errorf("it took %d MB", n>>20)
	}
}

// The memory of a reader does not grow with the number of events.
func TestScanningTakesNoMoreMemoryForMoreEvents(t *testing.T) {
	lines := `{"time":1,"type":"invoke","process":0,"op":"acquire","lock":"a"}` + "\n" + `{"time":1,"type":"ok","process":0,"op":"acquire","lock":"a"}` + "\n"
	s, err := NewScanner(io.MultiReader(strings.NewReader(header), io.LimitReader(&pattern{text: lines}, int64(len(lines)*25_000))))
	if err != nil {
		t.Fatal(err)
	}
	steady(t, s.Stream(), 50_000, false)
}

// inUse returns the number of bytes in use.
func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestAFileThatWasCutOffInTheMiddleOfACharacterIsReadUpToItsLastWholeLine(t *testing.T) {
	h, err := Decode(bytes.NewReader([]byte(header + `{"time":1,"type":"crash","process":0,"error":"` + "\xe2\x82")))
	if err != nil || !h.Truncated || len(h.Events) != 0 {
		t.Errorf("%v, %v", h, err)
	}
}

// A line that is complete and too large is refused as an endless line is.
func TestALineThatIsWholeIsRefusedIfATextOrItsValuesAreTooMany(t *testing.T) {
	long, many := strings.Repeat("x", maxText+1), strings.Repeat("{},", maxValues)
	for name, line := range map[string]string{
		"longer than 1048576 bytes":       `{"time":1,"type":"crash","process":0,"error":"` + long + `"}`,
		"text is longer than 1048576":     `{"time":1,"type":"crash","process":0,"` + long + `":1}`,
		"line has more than 1048576 valu": `{"time":1,"type":"lost","process":0,"parts":[` + many + `{}]}`,
	} {
		_, err := Decode(strings.NewReader(header + line + "\n"))
		var f *FormatError
		if !errors.As(err, &f) || f.Line != 2 || !strings.Contains(err.Error(), name) {
			t.Errorf("%.200v; want %q of line 2", err, name)
		}
	}
	just := strings.Repeat("\x01", maxText) // six times as long in JSON
	h, err := Decode(strings.NewReader(header + `{"time":1,"type":"crash","process":0}` + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	h.Events[0].Error = just
	again(t, h, Encode)
	again(t, h, EncodeEDN)
}
