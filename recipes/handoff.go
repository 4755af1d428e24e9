package recipes

import (
	"context"
	"time"

	"github.com/zkverify/zkverify/recipes/internal/queue"
	"github.com/zkverify/zkverify/recipes/internal/session"
)

// handoff acquires the lock through the client's cohort.
func (m *Mutex) handoff(ctx context.Context, key ownership, block bool, asked time.Time) (h *hold, err error) {
	co := m.client.cohorts.enter(m.path)
	defer func() {
		if h == nil {
			m.client.cohorts.exit(m.path)
		} // else when it is released
	}()
	b, leads, err := co.lead(ctx, block)
	if leads && b.place != nil {
		on := m.handed(co, b)
		if err == nil {
			h, err = m.client.startHold(ctx, on, key, m.cfg.revoked, asked)
		}
		switch {
		case err == nil:
			return h, nil
		case ctx.Err() != nil:
			_ = co.pass(b, m.cfg.handoff) || co.retire(b.place)
			return nil, err
		}
		// The session of the place has ended, or another client has deleted its node: take a new
		// place.
		b.place.LeaveInBackground()
	} else if err != nil {
		if leads {
			co.resign()
		}
		return nil, err
	}
	h, err = m.client.inSession(ctx, func(s *session.Session) (*hold, error) {
		return m.contend(ctx, s, key, block, asked, func(c *queue.Contender) queue.Grant { return m.handed(co, baton{place: c}) })
	})
	if err != nil {
		co.resign()
	}
	return h, err
}

// handed returns the grant for a lease of the cohort. The release of the grant hands the place on
// to another contender of the client, within the limit of WithLocalHandoff.
func (m *Mutex) handed(co *cohort, b baton) queue.Grant {
	on := b.place.Grant()
	on.Sub = int32(b.passed)
	leave := on.Release
	on.Release = func(lost bool) error {
		defer m.client.cohorts.exit(m.path)
		if !lost && co.pass(b, m.cfg.handoff) {
			return nil
		}
		co.resign()
		return leave(lost)
	}
	return on
}
