package explain

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"io"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/internal/words"
)

// maxDrawn bounds the operations of a picture, and maxSearched the time of Porcupine's search
// for it, which is exponential where operations have no answer.
const (
	maxDrawn    = 500
	maxSearched = 5 * time.Second
)

// Drawing is a violation to be drawn.
type Drawing struct {
	Guarantee string
	Witness   verdict.Witness
	Trace     *facts.Trace
	Excerpt   Excerpt            // the events of the trace
	Draw      func(n int) *Scene // draws at most n operations
}

// Write writes Porcupine's picture of the violation, an HTML page.
func (x *Drawing) Write(ctx context.Context, w io.Writer) error {
	for n := maxDrawn; ; n /= 2 {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		s := x.Draw(n)
		s.layOut(&x.Trace.Header)
		result, info := porcupine.CheckOperationsVerbose(s.model, s.ops, maxSearched)
		if result == porcupine.Unknown && n > 8 {
			continue // fewer operations are searched faster
		}
		info.AddAnnotations(x.annotations(s))
		var page bytes.Buffer
		if err := porcupine.Visualize(s.model, info, &page); err != nil {
			return err
		}
		_, err := io.WriteString(w, x.caption(page.String(), s, result))
		return err
	}
}

// caption adds a description above Porcupine's picture.
func (x *Drawing) caption(page string, s *Scene, result porcupine.CheckResult) string {
	found := "Porcupine finds no order of these operations that is allowed."
	switch result {
	case porcupine.Ok:
		found = "Porcupine finds an order of these operations that is allowed: what is wrong is not their order."
	case porcupine.Unknown:
		found = "Porcupine's time was up before it had tried every order."
	}
	text := fmt.Sprintf("<h1>%s</h1>\n<p>%s</p>\n<p>%s of lock %q. %s Jump to the first error, and point at an operation for its times and for the state before and after it. Time is not to scale.</p>\n",
		html.EscapeString(x.Guarantee+": violated"), html.EscapeString(x.Witness.String()),
		words.Count(len(s.ops), "operation"), html.EscapeString(short(x.Witness.Lock)), found)
	page = strings.Replace(page, "<title>Porcupine</title>", "<title>"+html.EscapeString(x.Guarantee)+": violated</title>\n<style>body { font-family: sans-serif; margin: 1em } h1 { font-size: 1.2em; margin-top: 2em } p { max-width: 60em }</style>", 1)
	return strings.Replace(page, "<body>", "<body>\n"+text, 1)
}

// short shortens a name that does not fit into a box.
func short(name string) string { return atMost(40, name) }

func atMost(n int, text string) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}
