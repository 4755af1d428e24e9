package verdict

import (
	"fmt"
	"strings"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// At returns an instant of the run as text.
func At(d time.Duration) string { return fmt.Sprintf("%.6f s", d.Seconds()) }

// Ms returns a duration as text.
func Ms(d time.Duration) string {
	switch {
	case d < 999500*time.Nanosecond: // else %.3g rounds it up to 1e+03
		return fmt.Sprintf("%.3g µs", float64(d)/1e3)
	case d < 10*time.Second:
		return fmt.Sprintf("%.4g ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.4g s", d.Seconds())
}

// Token returns a fencing token as text.
func Token(t histories.Token) string {
	if t.Sub == 0 {
		return fmt.Sprintf("%#x", t.Zxid)
	}
	return fmt.Sprintf("%#x/%d", t.Zxid, t.Sub)
}

// Because returns the error of an operation in the form in which a sentence ends with it.
func Because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + strings.ReplaceAll(why, "\n", "; ")
}
