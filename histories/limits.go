package histories

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// What a reader takes in at a time. Beyond any of these a file is no history: it is refused
// instead of being read into memory whole.
const (
	maxLine   = 16 << 20 // bytes of a line, or of an operation in EDN
	maxText   = 1 << 20  // bytes of a text in it
	maxValues = 1 << 20  // values in it
)

var errLongText = fmt.Errorf("a text is longer than %d bytes", maxText)

// withinLine reports whether a line that encoding/json is to read has more texts or values than
// it may have. Most lines are too short for that.
func withinLine(line []byte) error {
	if len(line) > maxValues && bytes.Count(line, []byte(",")) > maxValues {
		return fmt.Errorf("the line has more than %d values", maxValues)
	}
	if len(line) <= maxText {
		return nil
	}
	for d := json.NewDecoder(bytes.NewReader(line)); ; {
		token, err := d.Token()
		if err != nil {
			return nil // at the end, or what is wrong is told by who reads it
		}
		if text, is := token.(string); is && len(text) > maxText {
			return errLongText
		}
	}
}
