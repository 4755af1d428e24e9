package trackrecord

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Script is a list of steps for three servers.
type Script struct {
	// ZooKeeper is the version of the servers.
	ZooKeeper string `yaml:"zookeeper"`
	// Steps are carried out one after another.
	Steps []Step `yaml:"steps"`
	// Shows is the kind of finding that the steps lead to.
	Shows Kind `yaml:"shows"`
}

// Step is one step of a script.
type Step struct {
	// Do is the name of the step:
	//
	//	kill, pause  the server
	//	start        the server; it is not waited for
	//	serve        waits until the server takes part in a quorum
	//	write        n nodes, through the server
	//	connect      a session begins at the server
	//	propose      that session creates n ephemeral nodes, which the server cannot commit
	//	load, rest   n clients create and delete nodes through the server all the time; they end
	//	cut          the connections of the server From that follow the server
	//	heal         undoes cut
	//	await        waits until the server has printed a text since the step before began
	Do string `yaml:"do"`
	// Server is leader, the one that leads when the script begins, or first or second: the
	// others, by their ids.
	Server string `yaml:"server,omitempty"`
	From   string `yaml:"from,omitempty"`
	N      int    `yaml:"n,omitempty"`
	Text   string `yaml:"text,omitempty"`
}

// String returns the step in words.
func (s Step) String() string {
	words := []string{s.Do}
	if s.N > 0 {
		words = append(words, fmt.Sprint(s.N))
	}
	if s.From != "" {
		words = append(words, s.From, "from")
	}
	if s.Server != "" {
		words = append(words, s.Server)
	}
	if s.Text != "" {
		words = append(words, fmt.Sprintf("%q", s.Text))
	}
	return strings.Join(words, " ")
}

// The roles of the servers in a script.
const (
	leader = "leader"
	first  = "first"
	second = "second"
)

var roles = []string{leader, first, second}

// Validate returns an error that names the first mistake.
func (s Script) Validate() error {
	if s.ZooKeeper == "" || len(s.Steps) == 0 {
		return errors.New("it needs a version of zookeeper, and steps")
	}
	if !slices.Contains(kinds, s.Shows) {
		return fmt.Errorf("steps cannot show %q, only one of %q", s.Shows, kinds)
	}
	connected := false
	for i, step := range s.Steps {
		if err := step.validate(); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
		if step.Do == "propose" && !connected || step.Do == "connect" && connected {
			return fmt.Errorf("step %d: one step connect comes before all that propose", i+1)
		}
		connected = connected || step.Do == "connect"
	}
	return nil
}

func (s Step) validate() error {
	a, known := actions()[s.Do]
	if !known {
		return fmt.Errorf("no step is called %q, only %q", s.Do, slices.Sorted(maps.Keys(actions())))
	}
	switch {
	case (s.Server != "") != a.server, (s.From != "") != a.from:
		return fmt.Errorf("%s names other servers", s.Do)
	case a.server && !slices.Contains(roles, s.Server), a.from && !slices.Contains(roles, s.From):
		return fmt.Errorf("a server is one of %q", roles)
	case s.N < 0, (s.N > 0) != a.n:
		return fmt.Errorf("%s has n: %t", s.Do, a.n)
	case (s.Text != "") != a.text:
		return fmt.Errorf("%s has a text: %t", s.Do, a.text)
	}
	return nil
}
