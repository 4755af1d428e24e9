// Package zktest is ZooKeeper for tests in Go: servers in the test's own process, which
// tell a service what real servers would tell it, and which a test cuts off, kills,
// pauses and restarts. It needs no Java, no container and no network, and a test of a
// lock's loss takes milliseconds.
//
// It is for services that use the locks of package recipes, go-zookeeper, or any client
// that takes a dialer, and for clients in other languages over TCP.
//
// # Virtual time
//
// In a bubble of [testing/synctest] time is virtual: it passes when every goroutine of
// the test waits, and not otherwise. A session timeout of 10 s passes at once.
//
//	func TestMyService(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) {
//			e := zktest.Start(t)
//			worker := e.Client("worker-1")
//			client, err := recipes.Connect(t.Context(), e.Servers(), recipes.WithDialer(worker.DialContext))
//			if err != nil {
//				t.Fatal(err)
//			}
//			defer client.Close(context.Background())
//			// … the service acquires its lock, and works
//			worker.Cut()
//			// … the service must stop before another one has the lock
//		})
//	}
//
// Start must be given the t of the bubble, and every client be closed before the test
// ends: a bubble waits for its goroutines. Goroutines that wait for the network, a
// process or a mutex stop the bubble's clock.
//
// Outside a bubble the same test runs in real time: set a short tick ([Tick]) and session
// timeout there. Clients that take no dialer connect to [Client.Addrs].
//
// # Who is cut off
//
// A client has a name and, through its dialer, a link to each server:
// e.Client("worker-1").Cut() cuts off that worker and nobody else. [Client] has the
// faults of links, and of the servers' answers to that client ([Client.Answer]); [Ensemble] has
// those of servers and sessions. [Ensemble.Node],
// [Ensemble.Children] and [Ensemble.Tree] look inside the servers.
//
// # Seeded, not exact
//
// All that the servers and links leave to chance comes from [Seed], and in a bubble their
// time is virtual. The rest is the test's own program: which of two goroutines runs first
// at one instant, and what a client draws at random, is up to Go and the client. The same
// seed therefore makes nearly the same run, and a test must pass whatever the order. To
// look for orders in which it does not, run it with many seeds.
//
// # What the servers are
//
// A model of ZooKeeper 3.8 and 3.9: an ensemble of voting servers with elections, quorums,
// followers that lag, sessions, watches, transactions, containers, TTL nodes and
// permissions, and SASL with DIGEST-MD5. Observers, reconfiguration, Kerberos and TLS are not modelled. Disks are in
// memory, and keep of an unsynced log what the seed says.
package zktest
