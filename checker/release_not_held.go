package checker

import "github.com/zkverify/zkverify/histories"

// ReleaseNotHeld says how to read that a holder, who had not been told of a loss,
// releases its lock and is answered that it did not hold it: a release that
// fails. Histories of other tools do not say which reading is right, and the verdict may
// depend on it.
type ReleaseNotHeld string

const (
	// NotHeldAsLost takes the answer for a notification of the loss: the belief had ended when
	// the release was called, as with any other, and nothing follows. It is the
	// default of histories that a run of zkverify has left. A lock that promises to tell of losses before is judged by
	// [LossIsTold].
	NotHeldAsLost ReleaseNotHeld = histories.NotHeldAsLost
	// NotHeldAsViolation takes it for a proof that the lock had been taken away
	// from its holder without a notification: a violation of mutual exclusion, of
	// read/write or of permits, whether or not another holder is on record. A
	// forced expiry excuses it within the bound, and so does a notification of the loss that
	// came while the release was under way.
	NotHeldAsViolation ReleaseNotHeld = histories.NotHeldViolation
)

// WithReleaseNotHeld chooses how a release that is answered "not held" is read.
// The default, and what an empty one means, is what the header of the history says.
func WithReleaseNotHeld(r ReleaseNotHeld) Option { return func(c *check) { c.notHeld = r } }
