package main

import (
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// helpOfFlag returns the help of a flag, with its default at the end unless the text
// mentions it.
func helpOfFlag(v *kong.Value) string {
	text := kong.DefaultHelpValueFormatter(v)
	if !v.HasDefault || v.Default == "" || v.Target.Kind() == reflect.Bool || saysDefault(text, v.Default) {
		return text
	}
	return strings.TrimSuffix(text, ".") + "; default " + v.Default + "."
}

// saysDefault reports whether a help text mentions the default of its flag.
func saysDefault(text, value string) bool {
	return strings.Contains(text, "efault") || value != "" && strings.Contains(text, "("+value+")")
}
