package verdict

import (
	"fmt"
	"math"
)

// Figure is one measured number.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"` // "ms", "ms after the session ended", or empty for a count
}

// AfterSessionEnd is the unit of an instant that is given as its distance from the end of the
// session. It is negative before the end.
const AfterSessionEnd = "ms after the session ended"

// String returns the name and the number of the figure.
func (f Figure) String() string {
	switch f.Unit {
	case "":
		return fmt.Sprintf("%s: %.10g", f.Name, f.Value)
	case AfterSessionEnd:
		side := "after"
		if f.Value < 0 {
			side = "before"
		}
		return fmt.Sprintf("%s: %s %s the session ended", f.Name, inWords(math.Abs(f.Value)), side)
	}
	return fmt.Sprintf("%s: %s", f.Name, inWords(f.Value))
}

// inWords returns milliseconds in a form for people.
func inWords(ms float64) string {
	if ms >= 1000 {
		return fmt.Sprintf("%.1f s", ms/1000)
	}
	return fmt.Sprintf("%.3g ms", ms)
}
