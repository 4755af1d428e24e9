// Package recipestest is for unit tests of code that uses the locks of package recipes: it
// makes leases that a test loses on purpose, in one line.
//
//	func TestTheExportStopsWhenItsLeaseIsLost(t *testing.T) {
//		lease := recipestest.NewLease(t)
//		done := make(chan error)
//		go func() { done <- export(lease.Lease) }() // takes a *recipes.Lease
//		lease.Lose(recipes.LossSessionExpired)
//		if err := <-done; !errors.Is(err, recipes.ErrLeaseLost) {
//			t.Error(err)
//		}
//	}
//
// Nothing is faked. The lease is one of recipes, of a client of its own that is connected to
// servers in memory (package zktest), and each loss does what its reason says: the session
// expires, the lock node is deleted, the network fails until the deadline passes. So the
// code under test needs no interface for its tests, and sees what it will see in production.
//
// Code that acquires for itself gets a client ([NewClient]). [Client.Lease] waits until that
// code holds a lock, and returns the lease to lose. [Client.Occupy] makes its acquires wait
// and its tries be refused; [Client.DenyAcquires] makes both fail.
//
// In a bubble of [testing/synctest] all of this takes virtual time only; the rules for
// bubbles are those of package zktest. Outside a bubble a loss takes as long as in
// production: with the session timeout of these clients, 2 s, a forced expiry or a deleted
// node is told within a third of a second, and a deadline passes after about 2 s. A shorter
// timeout (recipes.WithSessionTimeout, at least 400 ms) is faster, and a busy machine may
// lose its leases without the test's doing.
//
// Tests of a whole service, with several clients and the death of servers, are the subject
// of package zktest; [Client.Servers] and [Client.Link] lead there.
package recipestest
