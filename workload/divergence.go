package workload

import (
	"context"
	"errors"
	"fmt"

	"github.com/zkverify/zkverify/ensemble"
)

// divergences counts, for each server whose output can be read, how often it has found
// that its tree was not the leader's.
type divergences map[int]int

// divergedServers says of each server that has found since before was counted that its
// tree was not the leader's, and counts anew. It may have the leader's tree again by
// now, as after it was sent a snapshot: then compareServers finds no difference. What
// clients were told by it in between was wrong all the same.
func (r *run) divergedServers(ctx context.Context, before divergences) (now divergences, differences []string, err error) {
	processes, ok := r.cfg.Ensemble.(ensemble.Processes)
	if !ok {
		return nil, nil, nil
	}
	now = make(divergences)
	var errs []error
	for _, s := range r.cfg.Ensemble.Servers() {
		text, err := processes.Output(ctx, s.ID)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		zxids := ensemble.Divergences(text)
		now[s.ID] = len(zxids)
		for _, zxid := range zxids[min(before[s.ID], len(zxids)):] {
			differences = append(differences, fmt.Sprintf("server %d found at transaction %s that its tree was not the leader's", s.ID, zxid))
		}
	}
	return now, differences, errors.Join(errs...)
}
