package main

import "github.com/zkverify/zkverify/checker"

// Conventions settle what a history does not say.
type Conventions struct {
	ReleaseNotHeld string `enum:"as-lost,violation" default:"as-lost" help:"How to read a release that fails, by a holder who was not told of a loss: as word of one (as-lost), or as proof that the lock was taken away without a word (violation)." placeholder:"as-lost|violation"`
}

func (c Conventions) options() []checker.Option {
	return []checker.Option{checker.WithReleaseNotHeld(checker.ReleaseNotHeld(c.ReleaseNotHeld))}
}
