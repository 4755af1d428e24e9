package recipes_test

import (
	"errors"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

func TestAHolderIsAskedToReleaseAndItsDataSurvives(t *testing.T) {
	path := uniquePath(t)
	c, other := connect(t, addrsOf(t)), connect(t, addrsOf(t))
	asked := make(chan *recipes.Lease, 10)
	m := recipes.NewMutex(c, path, recipes.WithData([]byte("me")), recipes.WithRevocation(func(l *recipes.Lease) { asked <- l }))
	l := acquire(t, within(t), m)
	waiting := acquiring(within(t), m)
	conn := admin(t)
	eventually(t, "one waits", func() bool { return len(contenders(t, conn, path)) == 2 })
	for range 3 {
		if err := other.Revoke(within(t), l.Node()); err != nil {
			t.Fatal(err)
		}
		if got := <-asked; got != l {
			t.Errorf("asked for %v", got.Node())
		}
		eventually(t, "the data is back", func() bool {
			ps, err := m.Participants(within(t))
			return err == nil && len(ps) == 2 && string(ps[0].Data) == "me"
		})
	}
	if !l.Valid() {
		t.Error("the lease was taken by force")
	}
	release(t, l)
	next := (<-waiting).ok(t)
	select {
	case got := <-asked:
		t.Errorf("the next holder was asked too: %v", got.Node())
	default:
	}
	if err := other.Revoke(within(t), l.Node()); err != nil {
		t.Errorf("revoking what is gone: %v", err)
	}
	release(t, next)
	eventually(t, "no watch is left", func() bool { return watchesBelow(t, path) == 0 })
}

// A request that comes before there is a listener, while the contender waits or before OnRevoke,
// still reaches the holder (Curator loses it between create and watch, and asks waiters too).
func TestARequestFromBeforeTheWatchIsHeard(t *testing.T) {
	path := uniquePath(t)
	c, other := connect(t, addrsOf(t)), connect(t, addrsOf(t))
	held := acquire(t, within(t), recipes.NewMutex(other, path))
	asked := make(chan *recipes.Lease, 10)
	m := recipes.NewMutex(c, path, recipes.WithRevocation(func(l *recipes.Lease) { asked <- l }))
	waiting := acquiring(within(t), m)
	eventually(t, "it waits", func() bool { return len(contenders(t, admin(t), path)) == 2 })
	if err := other.Revoke(within(t), participants(t, m, 2)[1].Node); err != nil {
		t.Fatal(err)
	}
	select {
	case <-asked:
		t.Error("a waiter was asked")
	default:
	}
	release(t, held)
	l := (<-waiting).ok(t)
	if got := <-asked; got != l {
		t.Error("another lease was asked")
	}
	late := make(chan *recipes.Lease, 1)
	l.OnRevoke(func(l *recipes.Lease) { late <- l })
	<-late
	release(t, l)
}

// The client does not wait again for a watch that has fired.
func TestARequestIsReadOnce(t *testing.T) {
	path := uniquePath(t)
	c, sent := counted(t)
	asked := make(chan *recipes.Lease, 10)
	l := acquire(t, within(t), recipes.NewMutex(c, path, recipes.WithRevocation(func(l *recipes.Lease) { asked <- l })))
	other := connect(t, addrsOf(t))
	sent()
	const n = 3
	for range n {
		if err := other.Revoke(within(t), l.Node()); err != nil {
			t.Fatal(err)
		}
		<-asked
	}
	time.Sleep(300 * time.Millisecond)
	if got := sent(); got[opGetData] > 10*n {
		t.Errorf("%d requests, and the node was read %d times", n, got[opGetData])
	}
	release(t, l)
}

// The holder hears of a request, the write that puts its data back is lost, and another request
// comes. It must not pass for that write.
func TestARequestIsHeardWhereTheHoldersOwnWriteIsLost(t *testing.T) {
	path := uniquePath(t)
	var wire intercept
	c, other := connect(t, addrsOf(t), recipes.WithDialer(wire.dial)), connect(t, addrsOf(t))
	asked := make(chan *recipes.Lease, 10)
	l := acquire(t, within(t), recipes.NewMutex(c, path, recipes.WithRevocation(func(l *recipes.Lease) { asked <- l })))
	wire.on(once(opSetData, func() bool {
		if err := other.Revoke(within(t), l.Node()); err != nil {
			t.Error(err)
		}
		return cut()
	}), nil)
	if err := other.Revoke(within(t), l.Node()); err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		select {
		case <-asked:
		case <-time.After(patient):
			t.Errorf("it hears of %d requests; want 2", n)
		}
	}
	release(t, l)
}

// A request whose watch event was lost is read after a reconnect.
func TestARequestWhoseEventWasLostIsHeardAfterAReconnect(t *testing.T) {
	path := uniquePath(t)
	var wire intercept
	c, other := connect(t, addrsOf(t), recipes.WithDialer(wire.dial)), connect(t, addrsOf(t))
	asked, read := make(chan *recipes.Lease, 10), make(chan struct{})
	m := recipes.NewMutex(c, path, recipes.WithRevocation(func(l *recipes.Lease) { asked <- l }))
	wire.on(nil, once(opGetData, func() bool { close(read); return true }))
	l := acquire(t, within(t), m)
	<-read // the watch is set
	wire.loseEvents()
	if err := other.Revoke(within(t), l.Node()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-asked:
		t.Fatal("it has heard of it before the reconnect")
	case <-time.After(100 * time.Millisecond):
	}
	wire.on(nil, once(opBeat, cut))
	select {
	case <-asked:
	case <-time.After(patient):
		t.Error("it does not hear of it after the reconnect")
	}
	release(t, l)
}

func TestAListenerThatWasTakenAwayIsNotCalledAndOthersAre(t *testing.T) {
	path := uniquePath(t)
	c := connect(t, addrsOf(t))
	l := acquire(t, within(t), recipes.NewMutex(c, path))
	gone, stays := make(chan struct{}, 1), make(chan struct{}, 1)
	stop := l.OnRevoke(func(*recipes.Lease) { gone <- struct{}{} })
	l.OnRevoke(func(*recipes.Lease) { stays <- struct{}{} })
	stop()
	if err := c.Revoke(within(t), l.Node()); err != nil {
		t.Fatal(err)
	}
	<-stays
	select {
	case <-gone:
		t.Error("called")
	default:
	}
	release(t, l)
	if err := c.Revoke(within(t), "nowhere"); !errors.Is(err, recipes.ErrBadPath) {
		t.Errorf("got %v", err)
	}
}

func TestAnObserverIsToldOfARequest(t *testing.T) {
	path := uniquePath(t)
	asked := make(chan *recipes.Lease, 2)
	c := connect(t, addrsOf(t), recipes.WithObserver(recipes.Observer{RevokeRequested: func(l *recipes.Lease) { asked <- l }}))
	l := acquire(t, within(t), recipes.NewMutex(c, path))
	heard := make(chan struct{})
	defer l.OnRevoke(func(*recipes.Lease) { close(heard) })()
	if err := connect(t, addrsOf(t)).Revoke(within(t), l.Node()); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-asked:
		if got != l {
			t.Errorf("told of %v, want %v", got, l)
		}
	case <-time.After(patient):
		t.Fatal("it is not told")
	}
	<-heard
	release(t, l)
	if len(asked) > 0 {
		t.Error("it is told twice")
	}
}
