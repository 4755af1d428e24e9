//go:build !linux

package ensemble

import "errors"

// hasMonotonic is false where it is not known which clock a JVM uses.
const hasMonotonic = false

func monotonic() (int64, error) { return 0, errors.ErrUnsupported }
