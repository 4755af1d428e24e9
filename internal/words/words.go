// Package words holds the functions that sentences for people share: doors to terminals,
// pages and shells, counts, help with examples, and the refusal of a name.
package words

import (
	"fmt"
	"strings"
	"time"
)

// Time returns a time from another program for JSON. It returns nil, which is null, for a
// time that JSON cannot represent, before the year 0 or after 9999.
func Time(t time.Time) *time.Time {
	if year := t.UTC().Year(); year < 0 || year > 9999 {
		return nil
	}
	t = t.UTC()
	return &t
}

// Some lists the first of n items, at most as many as most, and tells how many more there are.
func Some(items []string, most, n int) string {
	items = items[:min(most, len(items))]
	text := strings.Join(items, ", ")
	if more := n - len(items); more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// Count returns "1 thing" or "n things".
func Count[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %s", n, plural(thing))
}

// plural returns the plural of a noun, or of words that end with one: "lost update" and
// "member of a barrier", whose first word is counted.
func plural(thing string) string {
	noun, of, found := strings.Cut(thing, " of ")
	if found {
		of = " of " + of
	}
	switch {
	case strings.HasSuffix(noun, "ss"), strings.HasSuffix(noun, "ch"):
		noun += "es"
	case strings.HasSuffix(noun, "try"):
		noun = strings.TrimSuffix(noun, "y") + "ies"
	default:
		noun += "s"
	}
	return noun + of
}

// Times returns "once" or "n times".
func Times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
