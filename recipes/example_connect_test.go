package recipes_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
)

// connectWithin gives the servers half a minute.
func connectWithin(ctx context.Context, servers []string) (*recipes.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return recipes.Connect(ctx, servers,
		recipes.WithSessionTimeout(10*time.Second),
		recipes.WithServerTick(2*time.Second))
}

func ExampleConnect() {
	ctx := context.Background()
	client, err := connectWithin(ctx, addrs()) // host:port of each server
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("negotiated:", client.SessionTimeout())
	if err := client.Close(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// negotiated: 10s
}

// connectSecurely reaches servers whose certificates are signed by the company's
// authority, with a certificate of its own.
func connectSecurely(ctx context.Context, servers []string) (*recipes.Client, error) {
	authority, err := os.ReadFile("/etc/orders/zookeeper-ca.pem")
	if err != nil {
		return nil, err
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(authority) {
		return nil, errors.New("no certificate in zookeeper-ca.pem")
	}
	own, err := tls.LoadX509KeyPair("/etc/orders/cert.pem", "/etc/orders/key.pem")
	if err != nil {
		return nil, err
	}
	return recipes.Connect(ctx, servers, // host:port with the secureClientPort
		recipes.WithTLS(&tls.Config{RootCAs: trusted, Certificates: []tls.Certificate{own}}))
}

// The servers listen for TLS on their secureClientPort.
func ExampleWithTLS() {
	client, err := connectSecurely(context.Background(), []string{"zk1.example.com:2281", "zk2.example.com:2281"})
	if err != nil {
		log.Print(err)
		return
	}
	defer client.Close(context.Background())
}

// connectAsOrders returns a client whose nodes only their creator may use.
func connectAsOrders(ctx context.Context, servers []string, password string) (*recipes.Client, error) {
	return recipes.Connect(ctx, servers,
		recipes.WithAuth("digest", []byte("orders:"+password)),
		recipes.WithACL(zk.AuthACL(zk.PermAll)...))
}

func ExampleWithAuth() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	owner, err := connectAsOrders(ctx, addrs(), "secret")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer owner.Close(ctx)
	stranger, err := recipes.Connect(ctx, addrs())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stranger.Close(ctx)

	lease, err := recipes.NewMutex(owner, "/example-auth").Acquire(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer lease.Release(ctx)
	_, err = recipes.NewMutex(stranger, "/example-auth").TryAcquire(ctx)
	fmt.Println(errors.Is(err, zk.ErrNoAuth))
	// Output:
	// true
}

func ExampleWithNamespace() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := recipes.Connect(ctx, addrs(), recipes.WithNamespace("/example-namespace"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)
	fmt.Println(recipes.NewMutex(client, "/locks/orders").Path())
	// Output:
	// /example-namespace/locks/orders
}

// connectAndListen calls ready with true when the service can rely on ZooKeeper, and with false
// when it cannot.
func connectAndListen(ctx context.Context, servers []string, ready func(bool)) (*recipes.Client, error) {
	return recipes.Connect(ctx, servers,
		recipes.WithConnectionListener(func(state recipes.ConnectionState) {
			switch state {
			case recipes.ConnConnected, recipes.ConnReconnected:
				ready(true)
			case recipes.ConnSuspended:
				// The session lives on; it may be over in a moment.
			case recipes.ConnLost, recipes.ConnClosed:
				ready(false)
			}
		}))
}

func ExampleWithConnectionListener() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := connectAndListen(ctx, addrs(), func(ready bool) { fmt.Println("ready:", ready) })
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := client.Close(ctx); err != nil { // waits for the listener
		fmt.Println(err)
	}
	// Output:
	// ready: true
	// ready: false
}

func ExampleWithObserver_several() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	slow := recipes.Observer{
		Released: func(l *recipes.Lease, held time.Duration) {
			if held > time.Hour {
				fmt.Println(l.Path(), "was held for", held)
			}
		},
	}
	audit := recipes.Observer{
		Acquired: func(l *recipes.Lease, _ time.Duration) { fmt.Println("acquired", l.Path()) },
		Released: func(l *recipes.Lease, _ time.Duration) { fmt.Println("released", l.Path()) },
		Lost: func(l *recipes.Lease, why recipes.LossReason, _ time.Duration) {
			fmt.Println("lost", l.Path(), why)
		},
	}
	client, err := recipes.Connect(ctx, addrs(), recipes.WithObserver(slow), recipes.WithObserver(audit))
	if err != nil {
		fmt.Println(err)
		return
	}
	err = recipes.NewMutex(client, "/example-observers").Do(ctx, func(context.Context, *recipes.Lease) error { return nil })
	if err != nil {
		fmt.Println(err)
	}
	if err := client.Close(ctx); err != nil { // waits for the observers
		fmt.Println(err)
	}
	// Output:
	// acquired /example-observers
	// released /example-observers
}

// store holds the data that a service's lock protects.
type store interface {
	Write(ctx context.Context, order string, token recipes.Token) error
}

// ship works only while the lock is held.
func ship(ctx context.Context, lock *recipes.Mutex, orders []string, store store) error {
	return lock.Do(ctx, func(ctx context.Context, lease *recipes.Lease) error {
		for _, order := range orders {
			if !lease.Valid() { // asks the clock: right also after a pause
				return recipes.ErrLeaseLost
			}
			// The store refuses a token that is older than one it has seen.
			if err := store.Write(ctx, order, lease.Token()); err != nil {
				return err
			}
		}
		return nil
	})
}

// printer is a store.
type printer struct{ fence recipes.Fence }

func (p *printer) Write(_ context.Context, order string, token recipes.Token) error {
	return p.fence.Guard(token, func() error {
		fmt.Println("shipped", order)
		return nil
	})
}

func ExampleLease_Token() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := connectWithin(ctx, addrs())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)
	if err := ship(ctx, recipes.NewMutex(client, "/example-ship"), strings.Fields("one two"), new(printer)); err != nil {
		fmt.Println(err)
	}
	// Output:
	// shipped one
	// shipped two
}
