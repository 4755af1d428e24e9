package inspect

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/zkverify/zkverify/recipes"
)

// ReadCount reads a shared count, which gives a semaphore its size (recipes.SharedCount,
// Curator's SharedCount). Unlike these it does not create the node. Errors: those of
// [Read]; [recipes.ErrBadCount], when the node has no count.
func ReadCount(ctx context.Context, src Source, path string) (int, error) {
	r := newReader(ctx, src, nil)
	data, _, err := r.get(path)
	if err == nil && len(data) != 4 {
		err = recipes.ErrBadCount
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return int(int32(binary.BigEndian.Uint32(data))), nil
}
