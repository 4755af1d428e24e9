// Package kerberos authenticates clients of package recipes by Kerberos. It has the SASL
// mechanism GSSAPI, for recipes.WithSASL. It uses github.com/jcmturner/gokrb5, and needs no C
// library.
//
//	m, err := kerberos.New(kerberos.Config{Keytab: "/etc/app.keytab"})
//	if err != nil {
//		return err
//	}
//	client, err := recipes.Connect(ctx, servers, recipes.WithSASL(m))
//
// The client asks each server to prove that it has the key of its principal. The connection is
// not encrypted by this: the servers offer authentication alone, so use WithTLS too.
//
// # Tickets
//
// The Mechanism keeps a server's ticket in memory and reuses it until it is about to expire. The
// next connection then gets a new ticket from the KDC: with the keytab, or with the
// ticket-granting ticket of the credential cache, which kinit or a daemon has to renew. The
// Mechanism reads the keytab or the cache again for each new ticket. An established connection
// outlives its ticket, as with other ZooKeeper clients.
//
// # Goroutines
//
// A Mechanism has at most one goroutine. It asks the KDC, and runs only while a connection is
// made. gokrb5 takes no context: when the connection is given up, the goroutine continues until
// the KDCs have answered, or for 5 seconds for each KDC and each of at most four requests.
package kerberos
