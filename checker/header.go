package checker

import (
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/histories"
)

// conventions sets, from the header, the conventions that the options do not set.
func (c *check) conventions(header *histories.Header) {
	asSaid := c.notHeld == ""
	if asSaid {
		c.notHeld = ReleaseNotHeld(header.ReleaseNotHeld)
	}
	c.engines.NotHeldViolates = c.notHeld == NotHeldAsViolation
	if asSaid && c.notHeld == NotHeldAsViolation {
		c.engines.Notes = append(c.engines.Notes, "the history has no header of zkverify, or has been made of one that has none; it is read as Knossos reads it: an operation that fails had no effect, so a holder whose release fails, and who was not told of a loss, still believed to hold the lock (--release-not-held violation; as-lost is the other reading)")
	}
}

// shrunk adds a note if the history was shrunk. It returns an error if the header leaves
// nothing to judge.
func (c *check) shrunk(header *histories.Header) error {
	s := header.Shrunk
	switch {
	case s == nil:
		return nil
	case len(c.judging) > 0:
		c.engines.Notes = append(c.engines.Notes, fmt.Sprintf("the history was shrunk, from %d events, for a violation of %s: it is judged on nothing else", s.Events, s.Guarantee))
		return nil
	}
	if _, err := guaranteeNamed(s.Guarantee, slices.Concat(guarantees, c.own)); err != nil {
		return fmt.Errorf("the header says that the history was shrunk for %w", err)
	}
	if c.service == nil && ofServers(s.Guarantee) {
		return notViolated{fmt.Sprintf("%s, for which the history was shrunk, was not judged: what the servers did is not known", s.Guarantee)}
	}
	return fmt.Errorf("%w: the header says that the history was shrunk for %s, which none of its locks has", ErrNoGuarantee, s.Guarantee)
}
