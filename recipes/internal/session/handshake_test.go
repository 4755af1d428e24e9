package session

import (
	"strings"
	"testing"
	"time"
)

// Answers that no ZooKeeper server gives to a client that asked for a new session, and to
// one that asked to resume one.
func TestImplausibleAnswersToAConnectRequest(t *testing.T) {
	const asked, mine, other = 4 * time.Second, 5, 6
	for name, c := range map[string]struct {
		answer       handshake
		fresh, again bool // whether it can be the answer
	}{
		"a session":               {handshake{timeout: asked, session: mine, password: passwordSize}, true, true},
		"another session":         {handshake{timeout: asked, session: other, password: passwordSize}, true, false},
		"that it has expired":     {handshake{password: passwordSize}, false, true},
		"no timeout":              {handshake{session: mine, password: passwordSize}, false, false},
		"no session":              {handshake{timeout: asked, password: passwordSize}, false, false},
		"too short a timeout":     {handshake{timeout: leastTimeout - 1, session: mine, password: passwordSize}, false, false},
		"too long a timeout":      {handshake{timeout: longestTimeout + 1, session: mine, password: passwordSize}, false, false},
		"another protocol":        {handshake{protocol: 1, timeout: asked, session: mine, password: passwordSize}, false, false},
		"a password of no length": {handshake{timeout: asked, session: mine}, false, false},
	} {
		for session, can := range map[int64]bool{0: c.fresh, mine: c.again} {
			if err := c.answer.implausible(session, asked); (err == nil) != can {
				t.Errorf("%s, to a client that asked for session %d: %v", name, session, err)
			}
		}
	}
}

func TestAnAnswerWithAnotherPasswordIsSaidToHaveOne(t *testing.T) {
	answer := handshake{timeout: time.Second, session: 5, password: 7}
	if err := answer.implausible(0, time.Second); err == nil || !strings.HasSuffix(err.Error(), "a password of 7 bytes instead of 16") {
		t.Error(err)
	}
}
