package main

import (
	"fmt"

	"github.com/zkverify/zkverify/checker"
)

// Conventions settle what a history does not say.
type Conventions struct {
	ReleaseNotHeld string `help:"How to read a failed release by a holder that was not notified of a loss: as a late notification (as-lost), or as proof that the lock was taken away without one (violation). The default is as-lost for zkverify's histories, and violation for files without its header, such as Jepsen's." placeholder:"as-lost|violation"`
}

// Validate is called by kong.
func (c Conventions) Validate() error {
	switch checker.ReleaseNotHeld(c.ReleaseNotHeld) {
	case "", checker.NotHeldAsLost, checker.NotHeldAsViolation:
		return nil
	}
	return fmt.Errorf(`--release-not-held must be one of "as-lost","violation" but got %q`, c.ReleaseNotHeld)
}

func (c Conventions) options() []checker.Option {
	return []checker.Option{checker.WithReleaseNotHeld(checker.ReleaseNotHeld(c.ReleaseNotHeld))}
}

// args are what a command has to be given to read a history in the same way.
func (c Conventions) args() []string {
	if c.ReleaseNotHeld == "" {
		return nil
	}
	return []string{"--release-not-held=" + c.ReleaseNotHeld}
}
