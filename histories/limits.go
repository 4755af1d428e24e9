package histories

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// The limits of one line. A file that exceeds one of them is no history: it is refused instead
// of being read into memory whole.
const (
	maxLine   = 16 << 20 // bytes of a line, or of an operation in EDN
	maxText   = 1 << 20  // bytes of a text in a line
	maxValues = 1 << 20  // values in a line
)

var errLongText = fmt.Errorf("a text is longer than %d bytes", maxText)

// withinLine returns an error if a line that encoding/json is about to read exceeds the limits of
// texts and values. Most lines are too short for that.
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
			return nil // the end, or bad JSON, which the decoder of the line reports
		}
		if text, is := token.(string); is && len(text) > maxText {
			return errLongText
		}
	}
}
