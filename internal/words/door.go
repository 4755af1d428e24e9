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

// Line is a text as a part of one line: what does not print is escaped as JSON does, \n and
// \u202e, also the ends of lines and what makes text run backwards or not be seen.
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

// prints tells whether a letter is seen where it stands, and moves no other.
func prints(r rune) bool {
	if r <= '~' {
		return r >= ' '
	}
	return strconv.IsPrint(r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Door is what all words pass on their way to people: a terminal, a log, a page. It escapes
// what does not print, as [Lines] does. It may be written to by several goroutines.
type Door struct {
	to       io.Writer
	terminal bool // and the log of CI
	colored  bool

	mu   sync.Mutex
	held []byte // the begin of a letter, until the rest of it is written
	line lineState
}

// lineState is how a line has begun, as far as it could become a command to CI.
type lineState struct {
	words  bool // there is more in it than blanks, and one colon
	colon  bool // it is one colon
	hashes int  // how many stand together here; 2: more, and letters behind them
}

// Page returns a door to a file that people read.
func Page(to io.Writer) *Door { return &Door{to: to} }

// Terminal returns a door to a terminal or the log of CI. It lets no line pass that GitHub Actions
// or Azure Pipelines would take for a command: the second colon of ::error:: and the bracket of
// ##[error] are escaped.
func Terminal(to io.Writer) *Door { return &Door{to: to, terminal: true} }

// Colored is w as a door that lets the colors of [Paint] pass: for words that have passed [Line]
// before they were painted.
func Colored(w io.Writer) *Door {
	door := Terminal(w)
	if d, ok := w.(*Door); ok {
		door.to = d.to
	}
	door.colored = true
	return door
}

// Behind is what is behind the door: for what is drawn on a screen, of words that have
// passed [Line].
func (d *Door) Behind() io.Writer { return d.to }

// Write writes text. The error is that of what is behind the door.
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

// commands tells whether a letter would make the line a command, and takes it in.
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

// Fprintf writes a line, or several, of which those of the format are ours: strings, errors and
// what else tells itself pass [Line] on their way in. The error is that of w.
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

// Color is one of those of a terminal.
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

// colorAt returns the change of color that a text begins with, "" if it does not.
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

// Annotation is the line by which a GitHub workflow shows a text beside a run: level is error,
// warning or notice.
func Annotation(level, title, text string) string {
	property := strings.NewReplacer("%", "%25", ":", "%3A", ",", "%2C")
	return fmt.Sprintf("::%s title=%s::%s", level, property.Replace(Line(title)), strings.NewReplacer("%", "%25", "\n", "%0A").Replace(Lines(text)))
}

// markdownMarks are the letters that mean something to Markdown, or to GitHub's.
var markdownMarks = strings.NewReplacer(
	"\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "<", "&lt;", ">", "&gt;", "&", "&amp;", "|", "\\|", "#", "\\#",
	"~", "\\~", "@", "\\@", "!", "\\!", "$", "\\$", "://", ":\\/\\/", "www.", "www\\.")

// Markdown is a text as a part of a line of Markdown that shows it as it is: no markup, link,
// cell or tag of it. The line may not begin with it.
func Markdown(text string) string { return markdownMarks.Replace(Line(text)) }

// Code is a text as inline code of Markdown, also in the cell of a table.
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

// Shell quotes a word for a POSIX shell, on one line: what does not print is written as $'\x1b',
// which shells take since POSIX.1-2024.
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

// ShellPath is Shell for a file, which is no option either.
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
