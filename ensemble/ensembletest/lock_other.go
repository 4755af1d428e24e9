//go:build !unix

package ensembletest

import "os"

// lockFile does nothing: tests of this repository with real servers run on Unix.
func lockFile(*os.File) error { return nil }
