package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// campaign waits until the election's candidate leads.
func campaign(t *testing.T, e *recipes.Election) *recipes.Lease {
	t.Helper()
	term, err := e.Campaign(within(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = term.Release(context.Background()) })
	return term
}

func TestCandidatesLeadOneAfterTheOther(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	first := campaign(t, recipes.NewElection(connect(t, addrsOf(t)), path))
	const n = 6
	clients := []*recipes.Client{connect(t, addrsOf(t)), connect(t, addrsOf(t))}
	var mu sync.Mutex
	var order []int
	last := first.Token()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			term, err := recipes.NewElection(clients[i%2], path).Campaign(within(t))
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if order = append(order, i); term.Token().Compare(last) <= 0 || !term.Valid() {
				t.Errorf("term %v after %v, valid: %v", term.Token(), last, term.Valid())
			}
			last = term.Token()
			if err := term.Release(within(t)); err != nil {
				t.Error(err)
			}
		})
		eventually(t, "the candidate is in the queue", func() bool { return len(contenders(t, conn, path)) == i+2 })
	}
	if err := first.Release(within(t)); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	if !slices.IsSorted(order) || len(order) != n {
		t.Errorf("they led in the order %v", order)
	}
	if left := contenders(t, conn, path); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestACandidateThatWithdrawsLeavesNothing(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	leads := campaign(t, recipes.NewElection(connect(t, addrsOf(t)), path))
	ctx, cancel := context.WithCancelCause(within(t))
	enough := errors.New("enough")
	withdrawn := make(chan error)
	go func() {
		_, err := recipes.NewElection(connect(t, addrsOf(t)), path).Campaign(ctx)
		withdrawn <- err
	}()
	eventually(t, "the candidate is in the queue", func() bool { return len(contenders(t, conn, path)) == 2 })
	cancel(enough)
	if err := <-withdrawn; !errors.Is(err, enough) {
		t.Errorf("Campaign returned %v", err)
	}
	eventually(t, "the candidate has gone", func() bool { return len(contenders(t, conn, path)) == 1 })
	if !leads.Valid() {
		t.Error("the leader leads no more")
	}
}

func TestATryToLead(t *testing.T) {
	path := uniquePath(t)
	client := connect(t, addrsOf(t))
	e, other := recipes.NewElection(client, path), recipes.NewElection(connect(t, addrsOf(t)), path)
	term, err := e.TryCampaign(within(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.TryCampaign(within(t)); !errors.Is(err, recipes.ErrNotAcquired) {
		t.Errorf("there are two leaders: %v", err)
	}
	if err := term.Err(); err != nil {
		t.Errorf("the term is over: %v", err)
	}
	if !e.Held() || other.Held() || recipes.NewMutex(client, path).Held() {
		t.Errorf("the one leads: %v, the other: %v", e.Held(), other.Held())
	}
	if err := term.Release(within(t)); err != nil {
		t.Fatal(err)
	}
	if err := term.Err(); e.Held() || !errors.Is(err, recipes.ErrNotHeld) {
		t.Errorf("it leads after its term: %v, %v", e.Held(), err)
	}
}

func TestALeaderCannotCampaign(t *testing.T) {
	for _, options := range [][]recipes.LockOption{nil, {recipes.WithLeaderSelector()}} {
		e := recipes.NewElection(connect(t, addrsOf(t)), uniquePath(t), options...)
		term := campaign(t, e)
		if _, err := e.Campaign(term.Context()); !errors.Is(err, recipes.ErrAlreadyHeld) {
			t.Errorf("it campaigns: %v", err)
		}
		if !term.Valid() {
			t.Error("the term is over")
		}
		if err := term.Release(within(t)); err != nil {
			t.Error(err)
		}
		if _, err := e.Campaign(term.Context()); !errors.Is(err, recipes.ErrNotHeld) {
			t.Errorf("it campaigns after its term: %v", err)
		}
	}
}

func TestALeaderLearnsThatItsSessionHasEnded(t *testing.T) {
	path := uniquePath(t)
	i := &intercept{}
	term := campaign(t, recipes.NewElection(connect(t, addrsOf(t), recipes.WithDialer(i.dial), recipes.WithSessionTimeout(timeout)), path))
	next := make(chan *recipes.Lease, 1)
	other := recipes.NewElection(connect(t, addrsOf(t)), path)
	go func() {
		term, err := other.Campaign(within(t))
		if err != nil {
			t.Error(err)
		}
		next <- term
	}()
	eventually(t, "there are two candidates", func() bool { return len(candidates(t, other)) == 2 })
	expire(t, i)
	select {
	case <-term.Lost():
	case <-time.After(patient):
		t.Fatal("it was not told")
	}
	<-term.Context().Done()
	if err := context.Cause(term.Context()); !errors.Is(err, recipes.ErrLeaseLost) || term.Valid() {
		t.Errorf("its context ended with %v; it is valid: %v", err, term.Valid())
	}
	if err := term.Err(); !errors.Is(err, recipes.ErrLeaseLost) || !strings.Contains(err.Error(), string(recipes.LossSessionExpired)) {
		t.Errorf("it was lost since %v", err)
	}
	if second := <-next; second != nil && second.Token().Compare(term.Token()) <= 0 {
		t.Errorf("term %v after %v", second.Token(), term.Token())
	}
	if err := term.Release(within(t)); !errors.Is(err, recipes.ErrLeaseLost) {
		t.Errorf("Resign returned %v", err)
	}
}

func candidates(t *testing.T, e *recipes.Election) []recipes.Participant {
	t.Helper()
	all, err := e.Participants(within(t))
	if err != nil {
		t.Error(err)
	}
	return all
}

// depose deletes the leader's node.
func depose(t *testing.T, conn outsider, term *recipes.Lease) {
	t.Helper()
	if err := conn.Delete(term.Node(), -1); err != nil {
		t.Error(err)
	}
}

func TestRunCampaignsAgainAfterALoss(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	e := recipes.NewElection(connect(t, addrsOf(t)), path)
	var terms []recipes.Token
	done := errors.New("done")
	err := e.Run(within(t), func(ctx context.Context, term *recipes.Lease) error {
		terms = append(terms, term.Token())
		switch len(terms) {
		case 3:
			return done
		case 2:
			depose(t, conn, term)
			<-term.Lost()
			<-ctx.Done()
			return fmt.Errorf("it writes: %w", context.Cause(ctx))
		}
		depose(t, conn, term)
		<-ctx.Done()
		return nil // the work of a lost term does not count
	})
	if !errors.Is(err, done) || errors.Is(err, recipes.ErrLeaseLost) || len(terms) != 3 || !slices.IsSortedFunc(terms, recipes.Token.Compare) {
		t.Errorf("Run returned %v, the terms were %v", err, terms)
	}
	if left := contenders(t, conn, path); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestRunEndsWithTheErrorOfALostTerm(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	full := errors.New("the disk is full")
	err := recipes.NewElection(connect(t, addrsOf(t)), path).Run(within(t), func(_ context.Context, term *recipes.Lease) error {
		depose(t, conn, term)
		<-term.Lost()
		return full
	})
	if !errors.Is(err, full) || !errors.Is(err, recipes.ErrLeaseLost) {
		t.Errorf("Run returned %v", err)
	}
}

// When lead returns during its term, Run ends after this one term with every result of lead, also
// if lead has lost another lock.
func TestRunEndsAsLeadReturns(t *testing.T) {
	e := recipes.NewElection(connect(t, addrsOf(t)), uniquePath(t))
	for _, returned := range []error{nil, context.Canceled, errors.New("the disk is full"), recipes.ErrLeaseLost, fmt.Errorf("orders: %w", recipes.ErrLeaseLost)} {
		terms := 0
		err := e.Run(within(t), func(context.Context, *recipes.Lease) error {
			if terms++; terms > 1 {
				return errors.New("another term is led")
			}
			return returned
		})
		if !errors.Is(err, returned) || terms != 1 {
			t.Errorf("Run returned %v after %d terms, want %v", err, terms, returned)
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	path := uniquePath(t)
	e := recipes.NewElection(connect(t, addrsOf(t)), path)
	enough := errors.New("enough")
	t.Run("while it leads", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(within(t))
		err := e.Run(ctx, func(ctx context.Context, _ *recipes.Lease) error {
			cancel(enough)
			<-ctx.Done()
			return context.Cause(ctx)
		})
		if !errors.Is(err, enough) {
			t.Errorf("Run returned %v", err)
		}
	})
	t.Run("while another leads", func(t *testing.T) {
		campaign(t, recipes.NewElection(connect(t, addrsOf(t)), path))
		ctx, cancel := context.WithCancelCause(within(t))
		time.AfterFunc(20*time.Millisecond, func() { cancel(enough) })
		err := e.Run(ctx, func(context.Context, *recipes.Lease) error {
			t.Error("there are two leaders")
			return nil
		})
		if !errors.Is(err, enough) {
			t.Errorf("Run returned %v", err)
		}
	})
}

func TestAnElectionAtABadPath(t *testing.T) {
	e := recipes.NewElection(connect(t, addrsOf(t)), "no/path")
	if _, err := e.Campaign(within(t)); !errors.Is(err, recipes.ErrBadPath) {
		t.Errorf("Campaign: %v", err)
	}
	if err := e.Run(within(t), nil); !errors.Is(err, recipes.ErrBadPath) {
		t.Errorf("Run: %v", err)
	}
	if _, err := e.Leader(within(t)); !errors.Is(err, recipes.ErrBadPath) {
		t.Errorf("Leader: %v", err)
	}
	if _, err := e.Participants(within(t)); !errors.Is(err, recipes.ErrBadPath) {
		t.Errorf("Participants: %v", err)
	}
	for _, err := range e.Observe(within(t)) {
		if !errors.Is(err, recipes.ErrBadPath) {
			t.Errorf("Observe: %v", err)
		}
	}
}

// Run waits after a loss, twice as long after each further loss in a row; a term that has lasted
// longer than a session timeout ends the row.
func TestRunWaitsTheLongerTheMoreTermsAreLostInARow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		admin := outsider{bubbleClient(t, e, "admin").Conn()}
		c := bubbleClient(t, e, "leader")
		const terms, long = 8, 5 // the term that lasts
		var ended time.Time
		var waits []time.Duration
		done := errors.New("done")
		err := recipes.NewElection(c, "/election").Run(within(t), func(ctx context.Context, term *recipes.Lease) error {
			if !ended.IsZero() {
				waits = append(waits, time.Since(ended))
			}
			if len(waits) == terms {
				return done
			}
			if len(waits) == long {
				time.Sleep(c.SessionTimeout() + time.Second)
			}
			depose(t, admin, term)
			<-ctx.Done()
			ended = time.Now()
			return nil
		})
		if !errors.Is(err, done) {
			t.Fatal(err)
		}
		for i, wait := range waits {
			row := i
			if i >= long {
				row = i - long
			}
			least := min(50*time.Millisecond<<row, c.SessionTimeout()/2)
			if most := 2*least + 30*time.Millisecond; wait < least || wait > most { // plus the time that the servers take
				t.Errorf("after loss %d it waits %v, want %v to %v", i+1, wait, least, most)
			}
		}
	})
}

func TestRunEndsWithItsContextWhileItWaitsAfterALoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		admin := outsider{bubbleClient(t, e, "admin").Conn()}
		ctx, cancel := context.WithCancelCause(within(t))
		enough := errors.New("enough")
		err := recipes.NewElection(bubbleClient(t, e, "leader"), "/election").Run(ctx, func(inTerm context.Context, term *recipes.Lease) error {
			depose(t, admin, term)
			<-inTerm.Done()
			time.AfterFunc(25*time.Millisecond, func() { cancel(enough) })
			return nil
		})
		if !errors.Is(err, enough) || !strings.Contains(err.Error(), "campaign /election") {
			t.Errorf("Run returned %v", err)
		}
	})
}
