package model_test

import (
	"fmt"
	"strings"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// Transcript lists the observations of a program's sessions, step by step.
type Transcript struct{ Steps [][]Observation }

// Kind is the kind of an observation.
type Kind string

// The kinds.
const (
	Reply     Kind = "reply"
	Event     Kind = "notification"
	Connected Kind = "connected"
	Expired   Kind = "session expired" // as the answer to a connect request
	Closed    Kind = "connection closed"
	Silent    Kind = "no answer"
	Kept      Kind = "not deleted by the server" // a container, or a node whose time to live is over
)

// Observation is an event that a session saw, or a change of a node.
type Observation struct {
	Session string
	Kind    Kind
	Op      wire.Op   // of a reply
	Err     wire.Code // of a reply
	Zxid    string    // of a reply or a notification
	Body    string
}

// String returns the observation in one line.
func (o Observation) String() string {
	text := o.Session + " " + string(o.Kind)
	if o.Kind == Reply {
		text = fmt.Sprintf("%s %s: code %d", o.Session, opName(o.Op), o.Err)
	}
	if o.Zxid != "" {
		text += " zxid " + o.Zxid
	}
	return strings.TrimSpace(text + " " + o.Body)
}

// String returns the transcript, a paragraph for each step.
func (t Transcript) String() string {
	var b strings.Builder
	for i, step := range t.Steps {
		fmt.Fprintf(&b, "%d\n", i)
		for _, o := range step {
			fmt.Fprintf(&b, "    %s\n", o)
		}
	}
	return b.String()
}
