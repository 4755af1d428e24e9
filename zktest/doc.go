// Package zktest provides ZooKeeper servers for tests in Go. The servers run in the test's own
// process and answer as real servers do; a test can cut them off, kill, pause and restart them.
// It needs no Java, no container and no network, and a test of a lock's loss takes milliseconds.
//
// It serves tests of services that use the locks of package recipes, go-zookeeper, or any client
// that takes a dialer, and clients in other languages over TCP.
//
// # Virtual time
//
// In a bubble of [testing/synctest] time is virtual: it passes only while every goroutine of the
// test waits. A session timeout of 10 s passes at once.
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
// Pass the t of the bubble to Start, and close every client before the test ends: a bubble waits
// for its goroutines. Goroutines that wait for the network, a process or a mutex stop the
// bubble's clock.
//
// Outside a bubble the same test runs in real time: set a short tick ([Tick]) and session
// timeout there. Clients that take no dialer connect to [Client.Addrs].
//
// # Faults
//
// A client has a name and, through its dialer, a link to each server:
// e.Client("worker-1").Cut() cuts off that worker only. [Client] has the faults of links, and of
// the servers' answers to that client ([Client.Answer]); [Ensemble] has the faults of servers and
// sessions. [Ensemble.Node], [Ensemble.Children] and [Ensemble.Tree] read the servers' nodes.
//
// # Seeded, not exact
//
// All random choices of the servers and links come from [Seed], and in a bubble their time is
// virtual. Go and the client determine the rest: which of two goroutines runs first at one
// instant, and the random numbers of a client. The same seed therefore makes nearly the same run,
// and a test must pass in every order. To look for orders in which it fails, run it with many
// seeds.
//
// # The servers
//
// The servers are a model of ZooKeeper 3.8 and 3.9: an ensemble of voting servers with elections,
// quorums, followers that lag, sessions, watches, transactions, containers, TTL nodes and
// permissions, and SASL with DIGEST-MD5. Observers, reconfiguration, Kerberos and TLS are not
// modelled. Disks are in memory; the seed determines which part of an unsynced log survives a
// crash.
package zktest
