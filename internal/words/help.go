package words

import "strings"

// WithExamples returns the detailed help of a command: a text, and examples on lines of
// their own.
func WithExamples(text string, examples ...string) string {
	word := "Example:"
	if len(examples) > 1 {
		word = "Examples:"
	}
	return strings.TrimSpace(text + "\n\n" + word + "\n\n    " + strings.Join(examples, "\n    "))
}
