package recipes_test

import (
	"cmp"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/recipes"
)

var (
	_ encoding.TextMarshaler   = recipes.Token{}
	_ encoding.TextUnmarshaler = (*recipes.Token)(nil)
	_ driver.Valuer            = recipes.Token{}
	_ sql.Scanner              = (*recipes.Token)(nil)
)

// drawnToken has numbers of all lengths.
func drawnToken(r *rand.Rand) recipes.Token {
	return recipes.Token{Zxid: int64(r.Uint64() >> (1 + r.IntN(63))), Sub: int32(r.Uint32() >> (1 + r.IntN(31)))}
}

// edges returns the tokens at the ends of the ranges.
func edges() (all []recipes.Token) {
	for _, zxid := range []int64{0, 1, 0xf, 0x10, 1<<32 - 1, 1 << 32, math.MaxInt64} {
		for _, sub := range []int32{0, 1, 9, 10, math.MaxInt32} {
			all = append(all, recipes.Token{Zxid: zxid, Sub: sub})
		}
	}
	return all
}

// A token is the same after each encoding and decoding.
func TestATokenComesBackFromTextJSONAndADatabase(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	all := edges()
	for range 2_000 {
		all = append(all, drawnToken(r))
	}
	for _, want := range all {
		if got, err := recipes.ParseToken(want.String()); err != nil || got != want {
			t.Fatalf("%v is read as %v, %v", want, got, err)
		}
		type message struct {
			Token recipes.Token
			All   map[recipes.Token]bool
		}
		text, err := json.Marshal(message{want, map[recipes.Token]bool{want: true}})
		if err != nil {
			t.Fatal(err)
		}
		var got message
		if err := json.Unmarshal(text, &got); err != nil || got.Token != want || !got.All[want] {
			t.Fatalf("%s is read as %+v, %v", text, got, err)
		}
		value, err := want.Value()
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []any{value, []byte(value.(string)), want.String()} {
			var got recipes.Token
			if err := got.Scan(v); err != nil || got != want {
				t.Fatalf("%v is scanned as %v, %v", v, got, err)
			}
		}
	}
}

// A WHERE clause compares tokens in the order of their values.
func TestTheOrderOfTokensInADatabaseIsTheirOwn(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	all := edges()
	for range 200 {
		all = append(all, drawnToken(r))
	}
	for _, a := range all {
		for _, b := range all {
			va, erra := a.Value()
			vb, errb := b.Value()
			if erra != nil || errb != nil || cmp.Compare(va.(string), vb.(string)) != a.Compare(b) {
				t.Fatalf("%v and %v, %v and %v: %v, %v", a, b, va, vb, erra, errb)
			}
		}
	}
}

func TestWhatIsNoTokenIsRefused(t *testing.T) {
	for _, text := range []string{
		"", "0x", "0", "10", "0x.", "0x1.", "0x1.2.3", "0X1", "0xA", "x1", " 0x1", "0x1 ", "0x1\n", "0x-1", "-0x1", "0x+1", "0x1.-1", "0x1.+1", "0x_1", "0x1_0",
		"0x1.0x1", "0x1,2", "0x8000000000000000", "0xffffffffffffffff", "0x00000000000000001", "0x1.2147483648", "0x1.00000000001", "0x１", "null", strings.Repeat("0x1", 1<<20),
	} {
		was := recipes.Token{Zxid: 7, Sub: 7}
		got := was
		if parsed, err := recipes.ParseToken(text); !errors.Is(err, recipes.ErrBadToken) || !parsed.IsZero() || len(err.Error()) > 300 {
			t.Errorf("%.40q is read as %v, %v", text, parsed, err)
		}
		if err := got.UnmarshalText([]byte(text)); !errors.Is(err, recipes.ErrBadToken) || got != was {
			t.Errorf("%.40q is read as %v, %v", text, got, err)
		}
		if err := got.Scan(text); !errors.Is(err, recipes.ErrBadToken) || got != was {
			t.Errorf("%.40q is scanned as %v, %v", text, got, err)
		}
	}
	for _, value := range []any{int64(1), 1.5, true} {
		var got recipes.Token
		if err := got.Scan(value); !errors.Is(err, recipes.ErrBadToken) {
			t.Errorf("%v is scanned as %v, %v", value, got, err)
		}
	}
	for _, bad := range []recipes.Token{{Zxid: -1}, {Sub: -1}, {Zxid: math.MinInt64}} {
		_, text := bad.MarshalText()
		_, value := bad.Value()
		if !errors.Is(text, recipes.ErrBadToken) || !errors.Is(value, recipes.ErrBadToken) {
			t.Errorf("%v is written: %v, %v", bad, text, value)
		}
	}
	null := recipes.Token{Zxid: 7}
	if err := null.Scan(nil); err != nil || !null.IsZero() {
		t.Errorf("NULL is %v, %v", null, err)
	}
}

func FuzzParseToken(f *testing.F) {
	for _, text := range []string{"0x0", "0x10000002a", "0x10000002a.3", "0x000000010000002a.0000000003", "0x7fffffffffffffff.2147483647", "", "0x", "0x1.", "0x-1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		token, err := recipes.ParseToken(text)
		if err != nil {
			if !errors.Is(err, recipes.ErrBadToken) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if again, err := recipes.ParseToken(token.String()); err != nil || again != token {
			t.Fatalf("%q is %v, which is read as %v, %v", text, token, again, err)
		}
		value, err := token.Value()
		if err != nil || len(value.(string)) != 29 {
			t.Fatalf("%q is %v in a database, %v", text, value, err)
		}
		if again, err := recipes.ParseToken(value.(string)); err != nil || again != token {
			t.Fatalf("%q is %v in a database, which is read as %v, %v", text, value, again, err)
		}
	})
}
