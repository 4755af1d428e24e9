package locks

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes/inspect"
)

func TestWhatDoesNotPrintIsEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"web-3/4711":              "web-3/4711",
		"Zürich 東京":               "Zürich 東京",
		"a\x1b[2Jb\r\n\t":         `a\u001b[2Jb\r\n\t`,
		"right\u202eleft":         `right\u202eleft`,
		"\xff\x00":                `\xff\u0000`,
		strings.Repeat("x", 41):   strings.Repeat("x", 40) + "…",
		strings.Repeat("\xfe", 4): `\xfe\xfe\xfe\xfe`,
	} {
		if got := printable(text, 40); got != want {
			t.Errorf("%q is printed as %s, want %s", text, got, want)
		}
	}
}

func TestAContenderIsNamedByItsDataOrElseByItsSession(t *testing.T) {
	for want, c := range map[string]inspect.Contender{
		"web-1":                       {Read: true, Data: []byte("web-1"), Size: 5, Session: 10},
		"session 0xa":                 {Read: true, Session: 10},
		"session 0xfffffffffffffff6":  {Read: true, Session: -10},
		"session 0xb":                 {Read: true, Session: 11, Data: []byte("__REVOKE__"), Size: 10},
		"session 0xc":                 {Read: true, Session: 12, Hidden: true, Size: 3},
		"no session":                  {Read: true},
		"?":                           {},
		strings.Repeat("é", 40) + "…": {Read: true, Data: []byte(strings.Repeat("é", 200))[:255], Size: 1_000_000, Session: 1},
	} {
		if got := who(&c); got != want {
			t.Errorf("%+v is %s, want %s", c, got, want)
		}
	}
}

func TestAgesHaveTwoUnitsAtMost(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 350 * time.Millisecond: "350ms", 4321 * time.Millisecond: "4.3s", 59 * time.Second: "59s",
		5*time.Minute + 20*time.Second: "5m20s", 3*time.Hour + 5*time.Minute: "3h5m", 12*24*time.Hour + 4*time.Hour: "12d4h",
	} {
		if got := ageText(d); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
}

// A server may send any time.
func TestTimesThatJSONDoesNotHaveAreNull(t *testing.T) {
	for _, millis := range []int64{math.MaxInt64, math.MinInt64, 253402300800000} {
		at := time.UnixMilli(millis)
		l := &inspect.Lock{Path: "/l", Queue: []inspect.Contender{{Since: at, Holds: true}}, Round: &inspect.Round{Since: at}}
		text, err := json.Marshal(detailsOf(l, &inspect.Sessions{}, time.Now()))
		if err != nil || !strings.Contains(string(text), `"since":null`) {
			t.Errorf("%d: %s, %v", millis, text, err)
		}
	}
}
