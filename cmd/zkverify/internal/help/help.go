// Package help writes the help texts of commands and flags.
package help

import (
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// WithExamples returns the detailed help of a command: a text, and examples on lines of
// their own.
func WithExamples(text string, examples ...string) string {
	word := "Example:"
	if len(examples) > 1 {
		word = "Examples:"
	}
	return strings.TrimSpace(text + "\n\n" + word + "\n\n    " + strings.Join(examples, "\n    "))
}

// OfFlag returns the help of a flag, with its default at the end unless the text
// mentions it.
func OfFlag(v *kong.Value) string {
	text := kong.DefaultHelpValueFormatter(v)
	if !v.HasDefault || v.Default == "" || v.Target.Kind() == reflect.Bool || SaysDefault(text, v.Default) {
		return text
	}
	return strings.TrimSuffix(text, ".") + "; default " + v.Default + "."
}

// SaysDefault reports whether a help text mentions the default of its flag.
func SaysDefault(text, value string) bool {
	return strings.Contains(text, "efault") || value != "" && strings.Contains(text, "("+value+")")
}
