// Package kerberos authenticates clients of package recipes by Kerberos: by the SASL mechanism
// GSSAPI, for recipes.WithSASL. It is on github.com/jcmturner/gokrb5, and needs no library of C.
//
//	m, err := kerberos.New(kerberos.Config{Keytab: "/etc/app.keytab"})
//	if err != nil {
//		return err
//	}
//	client, err := recipes.Connect(ctx, servers, recipes.WithSASL(m))
//
// A server is asked to prove that it has the key of its principal. The connection is
// not encrypted for that: the servers offer authentication alone, so use WithTLS too.
//
// # Tickets
//
// A ticket for a server is kept in memory and used again until it is about to end. The next
// connection then gets another from the KDC: with the keytab, or with the ticket-granting ticket of the
// credential cache, which kinit or a daemon has to renew. Both files are read anew for that. An established
// connection outlives its ticket, as with other clients of ZooKeeper.
//
// # Goroutines
//
// One asks the KDC for a Mechanism, at most, and only while a connection is made. gokrb5 takes no
// context: when the connection is given up, that goroutine goes on until the KDCs have answered, or for
// 5 seconds for each KDC and each of at most four requests.
package kerberos
