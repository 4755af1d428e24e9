package checker

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/zkverify/zkverify/checker/internal/explain"
)

// ErrNoPicture is returned by [Explanation.Picture] for a violation of which
// Porcupine has no model.
var ErrNoPicture = errors.New("there is no picture of it: Porcupine has models of mutual exclusion, the queue of a mutex, read/write, permits and the single barrier")

// Picture writes Porcupine's own picture of the violation, an HTML page. It shows the
// operations around the violation, at most 500, the orders that Porcupine tried, and the
// operation at which each order failed. Faults, losses and the ends of sessions stand below the
// processes. Time runs from left to right, but not to scale.
//
// Picture leaves out complete holds, places in the queue, and steps at a barrier, the farthest
// ones first. None of them can make the others legal.
func (x *Explanation) Picture(ctx context.Context, w io.Writer) error {
	d := explain.Drawing{Guarantee: x.Verdict.Guarantee, Witness: x.Witness, Trace: x.trace, Excerpt: x.excerpt}
	if x.guarantee.draw != nil {
		d.Draw = x.guarantee.draw(x.trace, x.Witness)
	}
	if d.Draw == nil {
		return fmt.Errorf("%s: %w", x.Verdict.Guarantee, ErrNoPicture)
	}
	return d.Write(ctx, w)
}
