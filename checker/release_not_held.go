package checker

import "github.com/zkverify/zkverify/histories"

// ReleaseNotHeld selects the reading of a failed release whose answer is that its caller, which
// had not been told of a loss, did not hold the lock. Histories of other tools do not state
// which reading is right, and the verdict may depend on it.
type ReleaseNotHeld string

const (
	// NotHeldAsLost takes the answer for a notification of the loss: the belief had ended when
	// the release was called, as with any other, and nothing follows. It is the default for
	// histories of zkverify's runs. [LossIsTold] judges whether a lock that promises to tell of
	// losses did so earlier.
	NotHeldAsLost ReleaseNotHeld = histories.NotHeldAsLost
	// NotHeldAsViolation takes the answer for a proof that the lock had been taken away from
	// its holder without a notification. That is a violation of mutual exclusion, of read/write
	// or of permits, whether or not another holder is on record. A forced expiry excuses it
	// within the bound, and so does a notification of the loss that came while the release was
	// under way.
	NotHeldAsViolation ReleaseNotHeld = histories.NotHeldViolation
)

// WithReleaseNotHeld selects the reading of a release that is answered "not held". The default,
// which an empty one stands for too, is the reading that the header of the history names.
func WithReleaseNotHeld(r ReleaseNotHeld) Option { return func(c *check) { c.notHeld = r } }
