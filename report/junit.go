package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"time"

	"github.com/zkverify/zkverify/internal/words"
)

// JUnit is a suite of test cases for JUnit XML, which every CI system reads.
type JUnit struct {
	Name      string
	Took      time.Duration
	ZooKeeper string // the servers' version, a property of the suite; empty if it is not known
	Cases     []JUnitCase
}

// JUnitCase is one case. It passed unless one of Failure, Error and Skipped gives a reason
// in one line.
type JUnitCase struct {
	Class, Name string
	Took        time.Duration
	Failure     string // the guarantee is violated
	Error       string // the guarantee could not be judged, or was not exercised
	Skipped     string // the run did not ask for the guarantee
	Detail      string // more about a Failure
}

// Write writes the suite as JUnit XML.
func (s *JUnit) Write(w io.Writer) error {
	type message struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	type testcase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Time    string   `xml:"time,attr"`
		Failure *message `xml:"failure,omitempty"`
		Error   *message `xml:"error,omitempty"`
		Skipped *message `xml:"skipped,omitempty"`
	}
	type property struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	type suite struct {
		XMLName    xml.Name   `xml:"testsuite"`
		Name       string     `xml:"name,attr"`
		Tests      int        `xml:"tests,attr"`
		Failures   int        `xml:"failures,attr"`
		Errors     int        `xml:"errors,attr"`
		Skipped    int        `xml:"skipped,attr"`
		Time       string     `xml:"time,attr"`
		Properties []property `xml:"properties>property"`
		Cases      []testcase `xml:"testcase"`
	}
	seconds := func(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()) }
	out := suite{Name: words.Line(s.Name), Tests: len(s.Cases), Time: seconds(s.Took)}
	if s.ZooKeeper != "" {
		out.Properties = []property{{"zookeeper", words.Line(s.ZooKeeper)}}
	}
	for _, c := range s.Cases {
		t := testcase{Class: words.Line(c.Class), Name: words.Line(c.Name), Time: seconds(c.Took)}
		switch {
		case c.Failure != "":
			out.Failures++
			t.Failure = &message{words.Line(c.Failure), words.Lines(c.Detail)}
		case c.Error != "":
			out.Errors++
			t.Error = &message{Message: words.Line(c.Error)}
		case c.Skipped != "":
			out.Skipped++
			t.Skipped = &message{Message: words.Line(c.Skipped)}
		}
		out.Cases = append(out.Cases, t)
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
