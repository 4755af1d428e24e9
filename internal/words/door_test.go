package words

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestWhatDoesNotPrintIsEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"plain, ä, 漢字, ✗ …":      "plain, ä, 漢字, ✗ …",
		"a\x1b]0;title\x07b":     `a\u001b]0;title\u0007b`,
		"\x7f\u0085\u009b":       `\u007f\u0085\u009b`,
		"\u202eabc\u2066\u200b":  `\u202eabc\u2066\u200b`,
		"\ufeff\u2028\u00a0":     `\ufeff\u2028\u00a0`,
		"\u3164\ufe0f":           `\u3164\ufe0f`, // invisible letters
		"\U000e0041":             `\udb40\udc41`,
		"\x9b\xff":               `\x9b\xff`,
		"two\nlines\r\n\tand it": `two\nlines\r\n\tand it`,
		`\`:                      `\`,
	} {
		if got := Line(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
		if again := Line(Line(text)); again != Line(text) {
			t.Errorf("%q: escaped twice it is %s", text, again)
		}
	}
	if got := Lines("a\n\tb\r"); got != "a\n\tb"+`\r` {
		t.Errorf("%q", got)
	}
}

// commands are lines that CI takes for commands.
var commands = []string{"::error::x", "  ::set-env name=A::b", "\t::add-mask::x", "##[error]x", "text ##[group]x", "##vso[task.setvariable]x", "###teamcity[x]"}

func TestADoorLetsNoCommandPass(t *testing.T) {
	for _, command := range commands {
		for cut := range len(command) + 1 { // written in two pieces
			var out bytes.Buffer
			door := Terminal(&out)
			for _, part := range []string{command[:cut], command[cut:] + "\n"} {
				if n, err := door.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			if isCommand(out.String()) {
				t.Errorf("%q, cut at %d, passes: %q", command, cut, out.String())
			}
		}
	}
	for _, text := range []string{"a::b\n", "time: 10:00\n", "## head\n", "list[0] of #3\n", ": one\n", "a ::b\n", Paint(Red, "VIOLATED:") + " x\n"} {
		var out bytes.Buffer
		if _, err := Colored(Terminal(&out)).Write([]byte(text)); err != nil || out.String() != text {
			t.Errorf("%q became %q, %v", text, out.String(), err)
		}
	}
}

// isCommand reports whether the runners of CI take a line for a command.
func isCommand(text string) bool {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			return true
		}
		for rest := line; ; {
			_, after, found := strings.Cut(rest, "##")
			if !found {
				break
			}
			if strings.HasPrefix(strings.TrimLeftFunc(strings.TrimLeft(after, "#"), unicode.IsLetter), "[") {
				return true
			}
			rest = after
		}
	}
	return false
}

func FuzzDoor(f *testing.F) {
	for _, text := range append(commands, "\x1b[32mgreen\x1b[0m", "a\x1b[2J", "ä\xc3", "\U000e0041") {
		f.Add(text, len(text)/2)
	}
	f.Fuzz(func(t *testing.T, text string, cut int) {
		cut = max(0, min(cut, len(text)))
		whole, parts, page := new(bytes.Buffer), new(bytes.Buffer), new(bytes.Buffer)
		Colored(whole).Write([]byte(text)) //nolint:errcheck // into memory
		door := Colored(parts)
		door.Write([]byte(text[:cut])) //nolint:errcheck // into memory
		door.Write([]byte(text[cut:])) //nolint:errcheck // into memory
		Page(page).Write([]byte(text)) //nolint:errcheck // into memory
		if whole.String() != parts.String() && !strings.Contains(text[:cut], "\x1b") {
			t.Errorf("cut at %d: %q, whole: %q", cut, parts, whole)
		}
		if isCommand(whole.String()) {
			t.Errorf("%q passes as %q", text, whole)
		}
		for _, c := range []Color{Red, Green, Yellow, "0"} {
			whole = bytes.NewBufferString(strings.ReplaceAll(whole.String(), "\x1b["+string(c)+"m", ""))
		}
		for _, out := range []string{whole.String(), page.String()} {
			for _, r := range out {
				if !prints(r) && r != '\n' && r != '\t' {
					t.Errorf("%q passes as %q", text, out)
				}
			}
		}
		if line := Line(text); strings.ContainsAny(line, "\n\t") || !utf8.ValidString(line) {
			t.Errorf("%q is the line %q", text, line)
		}
		// Escaped JSON is still JSON, with the same value.
		if b, err := json.Marshal(text); err == nil {
			var out bytes.Buffer
			Terminal(&out).Write(b) //nolint:errcheck // into memory
			var back, was string
			if err := json.Unmarshal(out.Bytes(), &back); err != nil {
				t.Errorf("%q becomes %q: %v", b, out.String(), err)
			}
			if json.Unmarshal(b, &was); back != was { //nolint:errcheck // of Marshal
				t.Errorf("%q becomes %q", was, back)
			}
		}
	})
}

func TestWordsOfACommandAreQuoted(t *testing.T) {
	for word, want := range map[string]string{
		"a,b=1": "a,b=1", "": "''", "a b": "'a b'", "it's; rm": `'it'\''s; rm'`, "$(x)": "'$(x)'", "=ls": "'=ls'", "~": "'~'", "a\nb": `$'a\012b'`, "\x9b'\\": `$'\233\'\\'`, "漢": "'漢'",
	} {
		if got := Shell(word); got != want {
			t.Errorf("%q is quoted as %s, want %s", word, got, want)
		}
	}
	if got := ShellPath("-rf"); got != "./-rf" {
		t.Error(got)
	}
}

// A shell returns the words that were quoted.
func TestAShellReadsQuotedWords(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	all := []string{"a b", "it's", "$(touch x)", "`x`", "a\nb\r\t", "\x1b[31m'\\", "\x9b\xff1", "!x", "~", "\u202e7", "", "-n", "\\"}
	out, err := exec.Command(bash, "-c", "printf '%s\\0' "+Command(all...)).Output()
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); err != nil || strings.Join(got, "|") != strings.Join(all, "|") {
		t.Errorf("got %q, want %q, %v", got, all, err)
	}
}

func TestMarkdownShowsDataAsItIs(t *testing.T) {
	for text, want := range map[string]string{
		"a_b*c": `a\_b\*c`, "x | y": `x \| y`, "<b>&": "&lt;b&gt;&amp;", "[l](u)": `\[l\](u)`, "https://x": `https:\/\/x`, "www.x": `www\.x`, "@you": `\@you`, "a\n# b": `a\\n\# b`,
	} {
		if got := Markdown(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{"zkverify run": "`zkverify run`", "a`b": "`` a`b ``", "``": "``` `` ```", "a|b\n": "`a\\|b\\n`"} {
		if got := Code(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestAnAnnotationIsOneCommand(t *testing.T) {
	if got := Annotation("error", "seed 1,x:y", "50%\n::error::b"); got != `::error title=seed 1%2Cx%3Ay::50%25%0A::error::b` {
		t.Error(got)
	}
}
