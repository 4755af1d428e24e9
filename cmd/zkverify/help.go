package main

import (
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/zkverify/zkverify/ensemble/docker"
	"github.com/zkverify/zkverify/ensemble/simulated"
)

// helpVars are what help texts of flags refer to.
func helpVars() kong.Vars {
	return kong.Vars{"version": versionText(), "image": docker.DefaultImage, "simulated": strings.Join(simulated.Versions(), " or ")}
}

// withExamples is the detailed help of a command: a text, and examples on lines of
// their own.
func withExamples(text string, examples ...string) string {
	word := "Example:"
	if len(examples) > 1 {
		word = "Examples:"
	}
	return strings.TrimSpace(text + "\n\n" + word + "\n\n    " + strings.Join(examples, "\n    "))
}

// flagHelp is the help of a flag with its default at the end, unless its text has
// said that.
func flagHelp(v *kong.Value) string {
	text := kong.DefaultHelpValueFormatter(v)
	if !v.HasDefault || v.Default == "" || v.Target.Kind() == reflect.Bool || saysDefault(text, v.Default) {
		return text
	}
	return strings.TrimSuffix(text, ".") + "; default " + v.Default + "."
}

// saysDefault reports whether a help text says what holds without the flag.
func saysDefault(text, value string) bool {
	return strings.Contains(text, "efault") || value != "" && strings.Contains(text, "("+value+")")
}
