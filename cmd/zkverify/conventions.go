package main

import (
	"fmt"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
)

// Conventions settle questions that a history leaves open.
type Conventions struct {
	asFlags
	ReleaseNotHeld string `help:"How to read a failed release by a holder that was not notified of a loss: as a late notification (as-lost), or as proof that the lock was taken away without one (violation). The default is as-lost for zkverify's histories, and violation for files without its header, such as Jepsen's." placeholder:"as-lost|violation"`
}

// Validate is called by kong.
func (c Conventions) Validate() error {
	if c.Model != "" && c.ReleaseNotHeld == string(checker.NotHeldAsLost) {
		return fmt.Errorf("--release-not-held as-lost and --model %s: no model reads a release that fails as a loss", c.Model)
	}
	switch checker.ReleaseNotHeld(c.ReleaseNotHeld) {
	case "", checker.NotHeldAsLost, checker.NotHeldAsViolation:
		return nil
	}
	return fmt.Errorf(`--release-not-held must be one of "as-lost","violation" but got %q`, c.ReleaseNotHeld)
}

func (c Conventions) options() []checker.Option {
	return []checker.Option{checker.WithReleaseNotHeld(checker.ReleaseNotHeld(c.ReleaseNotHeld))}
}

// as returns the options for reading a file without a header of zkverify.
func (c Conventions) as() histories.As {
	as := c.asFlags.as()
	as.EveryRelease = c.ReleaseNotHeld != ""
	return as
}

// args returns the flags with which a command reads a history in the same way.
func (c Conventions) args() []string {
	args := c.asFlags.args()
	if c.ReleaseNotHeld != "" {
		args = append(args, "--release-not-held="+c.ReleaseNotHeld)
	}
	return args
}
