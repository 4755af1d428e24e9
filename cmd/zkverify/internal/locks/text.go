package locks

import (
	"fmt"
	"strings"
	"time"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/recipes/inspect"
)

// revokeData is the data of a node while its holder is asked to release.
const revokeData = "__REVOKE__"

// printable returns a text as a part of a line, cut after the given number of letters.
func printable(text string, most int) string {
	n := 0
	for i := range text {
		if n++; n > most {
			return words.Line(text[:i]) + "…"
		}
	}
	return words.Line(text)
}

// The numbers of letters that are shown of texts which others have written.
const (
	shownData = 40
	shownPath = 300
)

func pathText(path string) string { return printable(path, shownPath) }

// dataText returns a node's data as a text.
func dataText(c *inspect.Contender) string {
	text := string(c.Data)
	if c.Size > len(c.Data) { // it was cut, perhaps within a letter
		text = strings.ToValidUTF8(text, "") + "…"
	}
	switch {
	case !c.Read:
		return ""
	case c.Hidden:
		return "(no permission to read)"
	case text == revokeData:
		return "(asked to release)"
	}
	return printable(text, shownData)
}

// who names a contender: by its data, or else by its session.
func who(c *inspect.Contender) string {
	if c.Read && c.Size > 0 && !c.Hidden && string(c.Data) != revokeData {
		return dataText(c)
	}
	return sessionText(c)
}

// identified names a contender by all that identifies it.
func identified(c *inspect.Contender) string {
	if name := who(c); name != sessionText(c) {
		return fmt.Sprintf("%s (%s, token %v)", name, sessionText(c), c.Token)
	}
	return fmt.Sprintf("%s (token %v)", sessionText(c), c.Token)
}

func sessionText(c *inspect.Contender) string {
	switch {
	case !c.Read:
		return "?"
	case c.Session == 0:
		return "no session"
	}
	return "session " + sessionID(c.Session)
}

func sessionID(id int64) string { return fmt.Sprintf("0x%x", uint64(id)) }

// ageText formats an age with two units at most: 350ms, 12s, 5m20s, 3h5m, 12d4h.
func ageText(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	case d < day:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	d = d.Round(time.Hour)
	return fmt.Sprintf("%dd%dh", d/day, d%day/time.Hour)
}

// recipeText names a recipe, and the library if its nodes do not have the names that recipes
// and Curator use.
func recipeText(l *inspect.Lock) string {
	of := make(map[inspect.Library]bool)
	for i := range l.Queue {
		of[l.Queue[i].Library] = true
	}
	if len(of) != 1 || l.Recipe == inspect.Unknown {
		return string(l.Recipe)
	}
	for library := range of {
		if library == inspect.LibraryKazoo || library == inspect.LibraryZK {
			return string(l.Recipe) + " (" + string(library) + ")"
		}
	}
	return string(l.Recipe)
}
