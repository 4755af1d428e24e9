package words

import (
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Line returns a text as a part of one line. Letters that do not print are escaped as JSON
// does, \n and \u202e, also the ends of lines and letters that make text run backwards or
// invisible.
func Line(text string) string { return escaped(text, false) }

// Lines is Line, but the text keeps its lines and its tabs.
func Lines(text string) string { return escaped(text, true) }

func escaped(text string, lines bool) string {
	for i := 0; ; i++ {
		if i == len(text) {
			return text
		}
		if c := text[i]; c < ' ' || c > '~' {
			break
		}
	}
	out := make([]byte, 0, len(text)+16)
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if lines && (r == '\n' || r == '\t') {
			out = append(out, byte(r))
		} else {
			out = appendPrinted(out, r, text[:size])
		}
		text = text[size:]
	}
	return string(out)
}

// appendPrinted appends a letter, or the escape of one that does not print.
func appendPrinted(to []byte, r rune, letter string) []byte {
	switch {
	case r == utf8.RuneError && len(letter) == 1:
		return fmt.Appendf(to, `\x%02x`, letter[0])
	case prints(r):
		return append(to, letter...)
	case r == '\n':
		return append(to, `\n`...)
	case r == '\t':
		return append(to, `\t`...)
	case r == '\r':
		return append(to, `\r`...)
	case r > 0xffff:
		return fmt.Appendf(to, `\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
	}
	return fmt.Appendf(to, `\u%04x`, r)
}

// prints reports whether a letter is visible where it stands, and moves no other letter.
func prints(r rune) bool {
	if r <= '~' {
		return r >= ' '
	}
	return strconv.IsPrint(r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Door is the writer through which all text for people passes: to a terminal, a log, a
// page. It escapes letters that do not print, as [Lines] does. Several goroutines may write
// to it.
type Door struct {
	to       io.Writer
	terminal bool // or the log of CI
	colored  bool

	mu   sync.Mutex
	held []byte // the beginning of a letter, until the rest of it is written
	line lineState
}

// lineState is the beginning of a line, as far as the line could become a command to CI.
type lineState struct {
	words  bool // the line has more than blanks and one colon
	colon  bool // the line is one colon
	hashes int  // how many are together here; 2: two or more, or letters after them
}

// Page returns a door to a file that people read.
func Page(to io.Writer) *Door { return &Door{to: to} }

// Terminal returns a door to a terminal or the log of CI. It escapes lines that GitHub
// Actions or Azure Pipelines would take for a command: the second colon of ::error:: and
// the bracket of ##[error].
func Terminal(to io.Writer) *Door { return &Door{to: to, terminal: true} }

// Colored returns w as a door that lets the colors of [Paint] pass, for text that has
// passed [Line] before it was painted.
func Colored(w io.Writer) *Door {
	door := Terminal(w)
	if d, ok := w.(*Door); ok {
		door.to = d.to
	}
	door.colored = true
	return door
}

// Behind returns the writer behind the door, for drawing on a screen. The text must have
// passed [Line].
func (d *Door) Behind() io.Writer { return d.to }

// Write writes text. It returns the error of the writer behind the door.
func (d *Door) Write(text []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	rest := string(d.held) + string(text)
	out := make([]byte, 0, len(rest)+16)
	for len(rest) > 0 && utf8.FullRuneInString(rest) {
		if color := colorAt(rest); d.colored && color != "" {
			out = append(out, color...)
			rest = rest[len(color):]
			continue
		}
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case r == '\n':
			out = append(out, '\n')
			d.line = lineState{}
		case r == '\t':
			out = append(out, '\t')
		case d.terminal && d.line.commands(r):
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			out = appendPrinted(out, r, rest[:size])
		}
		rest = rest[size:]
	}
	d.held = append(d.held[:0], rest...)
	if _, err := d.to.Write(out); err != nil {
		return 0, err
	}
	return len(text), nil
}

// commands adds a letter to the line, and reports whether it would make the line a command.
func (l *lineState) commands(r rune) (command bool) {
	switch {
	case r == '#':
		l.hashes = min(l.hashes+1, 2)
	case r == '[' && l.hashes == 2:
		return true
	case l.hashes < 2 || !unicode.IsLetter(r):
		l.hashes = 0
	}
	switch {
	case l.words:
	case r == ':' && l.colon:
		l.words = true
		return true
	case r == ':':
		l.colon = true
	case r != ' ' || l.colon:
		l.words = true
	}
	return false
}

// Fprintf writes one or more lines. The ends of lines in the format are kept. Arguments
// that are strings, errors or Stringers pass [Line] first. It returns the error of w.
func Fprintf(w io.Writer, format string, args ...any) (int, error) {
	data := make([]any, len(args))
	for i, arg := range args {
		data[i] = arg
		text := reflect.ValueOf(arg).Kind() == reflect.String
		switch arg.(type) {
		case error, fmt.Stringer:
			kind := reflect.ValueOf(arg).Kind()
			text = text || kind == reflect.Struct || kind == reflect.Pointer || kind == reflect.Slice
		}
		if text {
			data[i] = Line(fmt.Sprint(arg))
		}
	}
	return fmt.Fprintf(w, format, data...)
}

// Color is a color of a terminal.
type Color string

// The colors.
const (
	Red    Color = "1;31"
	Green  Color = "32"
	Yellow Color = "33"
)

// Paint colors a text for a terminal.
func Paint(c Color, text string) string { return "\x1b[" + string(c) + "m" + text + plainAgain }

const plainAgain = "\x1b[0m"

// colorAt returns the change of color at the beginning of a text, or "" if there is none.
func colorAt(text string) string {
	if text[0] != '\x1b' {
		return ""
	}
	for _, c := range []Color{Red, Green, Yellow, "0"} {
		if change := "\x1b[" + string(c) + "m"; strings.HasPrefix(text, change) {
			return change
		}
	}
	return ""
}

// Annotation returns the line by which a GitHub workflow shows a text beside a run. level
// is error, warning or notice.
func Annotation(level, title, text string) string {
	property := strings.NewReplacer("%", "%25", ":", "%3A", ",", "%2C")
	return fmt.Sprintf("::%s title=%s::%s", level, property.Replace(Line(title)), strings.NewReplacer("%", "%25", "\n", "%0A").Replace(Lines(text)))
}

// markdownMarks escapes the letters that have a meaning in Markdown, or in GitHub's.
var markdownMarks = strings.NewReplacer(
	"\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "<", "&lt;", ">", "&gt;", "&", "&amp;", "|", "\\|", "#", "\\#",
	"~", "\\~", "@", "\\@", "!", "\\!", "$", "\\$", "://", ":\\/\\/", "www.", "www\\.")

// Markdown returns a text as a part of a line of Markdown that shows the text as it is,
// without markup, links, cells or tags. The line may not begin with it.
func Markdown(text string) string { return markdownMarks.Replace(Line(text)) }

// Code returns a text as inline code of Markdown, also in the cell of a table.
func Code(text string) string {
	text = strings.ReplaceAll(Line(text), "|", "\\|")
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if fence == "`" {
		return fence + text + fence
	}
	return fence + " " + text + " " + fence
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./,:@%+-][A-Za-z0-9_./,:@%+=-]*$`)

// Shell quotes a word for a POSIX shell, on one line. Letters that do not print are written
// as $'\x1b', which shells accept since POSIX.1-2024.
func Shell(word string) string {
	switch {
	case plainWord.MatchString(word):
		return word
	case Line(word) == word:
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	var out strings.Builder
	out.WriteString("$'")
	for _, letter := range strings.SplitAfter(word, "") {
		switch {
		case letter == "'" || letter == `\`:
			out.WriteString(`\` + letter)
		case Line(letter) == letter:
			out.WriteString(letter)
		default:
			for i := range len(letter) {
				fmt.Fprintf(&out, `\%03o`, letter[i])
			}
		}
	}
	return out.String() + "'"
}

// ShellPath is Shell for the path of a file. The result cannot be taken for an option.
func ShellPath(path string) string {
	if strings.HasPrefix(path, "-") {
		path = "./" + path
	}
	return Shell(path)
}

// Command quotes the words of a command for a POSIX shell.
func Command(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = Shell(word)
	}
	return strings.Join(quoted, " ")
}
