package selftest

import (
	"encoding/xml"
	"fmt"
	"io"
	"time"
)

// JUnit writes the matrix as JUnit XML, which every CI reads: a case for each
// trial.
func (m *Matrix) JUnit(w io.Writer) error {
	type message struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	type testcase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Time    string   `xml:"time,attr"`
		Failure *message `xml:"failure,omitempty"`
		Skipped *message `xml:"skipped,omitempty"`
	}
	type suite struct {
		XMLName  xml.Name   `xml:"testsuite"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Time     string     `xml:"time,attr"`
		Cases    []testcase `xml:"testcase"`
	}
	seconds := func(s Seconds) string { return fmt.Sprintf("%.2f", time.Duration(s).Seconds()) }
	out := suite{Name: "zkverify selftest", Tests: len(m.Trials), Time: seconds(m.Took)}
	for _, t := range m.Trials {
		c := testcase{Class: t.Provocation, Name: t.Target + " is caught by " + t.Guarantee, Time: seconds(t.Took)}
		if t.Guarantee == "" {
			c.Name = t.Target + " passes"
		}
		switch {
		case t.NotRun:
			out.Skipped++
			c.Skipped = &message{Message: t.Why}
		case !t.OK:
			out.Failures++
			c.Failure = &message{t.Why, t.Sentence()}
		}
		out.Cases = append(out.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(out); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
