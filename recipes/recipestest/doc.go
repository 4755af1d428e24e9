// Package recipestest helps to unit-test code that uses the locks of package recipes: it makes
// leases that a test loses on purpose, in one line.
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
// The lease is real. It is a lease of package recipes, whose client is connected to servers in
// memory (package zktest), and each loss has its real cause: the session expires, the lock node
// is deleted, the network fails until the deadline passes. So the code under test needs no
// interface for its tests, and sees the same errors as in production.
//
// Give a client ([NewClient]) to code that acquires its locks itself. [Client.Lease] waits until
// that code holds a lock, and returns the lease to lose. [Client.Occupy] makes the code's
// acquires wait and its tries be refused; [Client.DenyAcquires] makes both fail.
//
// In a bubble of [testing/synctest] a loss takes virtual time only; the rules for bubbles are
// those of package zktest. Outside a bubble a loss takes as long as in production: with the
// session timeout of these clients, 2 s, the client notices a forced expiry or a deleted node
// within a third of a second, and a deadline passes after about 2 s. With a shorter timeout
// (recipes.WithSessionTimeout, at least 400 ms) losses are faster, but on a busy machine leases
// may be lost by themselves.
//
// For tests of a whole service, with several clients and failing servers, use package zktest;
// [Client.Servers] and [Client.Link] return its types.
package recipestest
