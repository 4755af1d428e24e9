package histories

import (
	"io"
	"iter"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAFormOfEDNIsReadAsWhatItSays(t *testing.T) {
	many, _ := new(big.Int).SetString("99999999999999999999", 10)
	for text, want := range map[string]any{
		"nil": nil, "true": true, "false": false, "nils": symbol("nils"),
		"0": int64(0), "-7": int64(-7), "+7": int64(7), "41N": int64(41), "9223372036854775807": int64(1<<63 - 1),
		"99999999999999999999N": many, "4/2": int64(2), "1.5": 1.5, "-2e3": -2000.0, "1E-1M": 0.1, "3M": 3.0,
		":a": keyword("a"), ":a/b": keyword("a/b"), ":1": keyword("1"), "a": symbol("a"), "/": symbol("/"), "-": symbol("-"), "+a": symbol("+a"), "..": symbol(".."),
		`"a b"`: "a b", "\"a\nb\"": "a\nb", `"\t\r\n\\\"\b\f\/"`: "\t\r\n\\\"\b\f/", `"\u0041\u00e9"`: "Aé", `"\ud83d\ude00"`: "😀", `"日"`: "日",
		`\a`: 'a', `\newline`: '\n', `\space`: ' ', `\u0041`: 'A', `\u`: 'u', `\[`: '[', `\;`: ';',
		"(1 2)": []any{int64(1), int64(2)}, "[,1,]": []any{int64(1)}, "[]": []any{}, "{:a 1 :b [2]}": ednMap{{keyword("a"), int64(1)}, {keyword("b"), []any{int64(2)}}},
		"#{1 [2]}": ednSet{int64(1), []any{int64(2)}}, "#a/b c": tagged{"a/b", symbol("c")}, `#inst "2020-01-02T03:04:05Z"`: time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC),
		"[1 #_2 #_ #_ 3 4 5]": []any{int64(1), int64(5)}, "[1 ; 2]\n 3]": []any{int64(1), int64(3)}, "[#_ [1 2]]": []any{}, "{[1] 2}": ednMap{{[]any{int64(1)}, int64(2)}},
		"[a\"b\"\\c(d)]": []any{symbol("a"), "b", 'c', []any{symbol("d")}},
	} {
		v, err := newEDNReader(strings.NewReader("#a " + text)).operation()
		if d := cmp.Diff(tagged{"a", want}, v, cmp.AllowUnexported(tagged{}, ednPair{}), cmp.Comparer(func(a, b *big.Int) bool { return a.Cmp(b) == 0 })); err != nil || d != "" {
			t.Errorf("%s: %v %s", text, err, d)
		}
	}
	for _, text := range []string{
		"007", "1.", "1.e2", "1e", "1/0", "1/02", "1/-2", "1/2/3", "1.5/2", "0x1f", "1a", "1N2", "9223372036854775808", "1e999", ".5", "'a", "@a", "a@b", ":", "::a", ":/a", ":a/", ":a/b/c", "a/", "a/b/c", "/a",
		`"\q"`, `"\u12g4"`, `"\ud800"`, `"\ud800a"`, `"\ud800\u0041"`, `"\udc00"`, `"a`, `\ `, `\newlin`, `\u00`, `\ud800`, `\ab`, `\`,
		"(1]", "[1", "{:a}", "{:a 1 :a 2}", "{1 2 1N 3}", "#{1 1}", "#{nil nil}", "#", "#1", "# a", "#a", "#a/ 1", "#inst 1", `#inst "today"`, "#_", "[#_]", "\xff", "\"\xff\"", ";\xff\n",
	} {
		if v, err := newEDNReader(strings.NewReader("[#a [" + text + "]")).operation(); err == nil || err == io.EOF {
			t.Errorf("%q was read as %v", text, v)
		}
	}
}

// A repeated value is found among many values as among few.
func TestOnceKnowsWhatItWasAskedFor(t *testing.T) {
	var o once
	for round := range 2 {
		for i := range 100 {
			if was := o.has(int64(i)); was != (round == 1) {
				t.Errorf("round %d: %d was there: %v", round, i, was)
			}
			if o.has([]any{i}) {
				t.Error("a collection was there")
			}
		}
	}
}

// Operations of Jepsen's form and of zkverify's are read one at a time, in memory that does not
// grow with their number.
func TestReadingEDNTakesNoMoreMemoryForMoreEvents(t *testing.T) {
	var ours strings.Builder
	if err := EncodeEDN(&ours, &History{Header: Header{Version: Version}}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ head, lines string }{
		"ours":   {ours.String(), "{:type :invoke, :process 0, :f :acquire, :time 1, :value nil, :zkverify/lock \"a\"}\n{:type :ok, :process 0, :f :acquire, :time 1, :value nil, :zkverify/lock \"a\"}\n"},
		"vector": {"[", "{:type :invoke, :process 0, :f :acquire, :time 1}\n{:type :ok, :process 0, :f :acquire, :time 1}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			n := len(c.lines) * 10_000
			s, err := newForeign(formatEDN, io.MultiReader(strings.NewReader(c.head), io.LimitReader(&pattern{text: c.lines}, int64(n)), strings.NewReader("]")))
			if err != nil {
				t.Fatal(err)
			}
			if !s.ours {
				s.as(&Reading{Key: keyNone})
			}
			steady(t, s.Stream(), 20_000, name == "ours")
		})
	}
}

// steady reads all events, and fails the test if the memory in use grows. The last event may be
// refused.
func steady(t *testing.T, events iter.Seq2[*Event, error], want int, refused bool) {
	t.Helper()
	n := 0
	var least, most uint64
	for _, err := range events {
		if err != nil {
			if n == want && refused {
				break
			}
			t.Fatal(err)
		}
		if n++; n%5_000 == 0 {
			now := inUse()
			if least == 0 {
				least = now
			}
			most = max(most, now)
		}
	}
	if n != want || most > least+1<<20 {
		t.Errorf("%d events, from %d to %d bytes", n, least, most)
	}
}
