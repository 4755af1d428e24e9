package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/recipes"
)

// owners returns options of a client whose nodes belong to a user.
func owners(password string) []recipes.Option {
	return []recipes.Option{
		recipes.WithAuth("digest", []byte("owner:"+password)),
		recipes.WithACL(zk.DigestACL(zk.PermAll, "owner", "right")...),
	}
}

func TestAClientWithoutTheCredentialsIsRefusedAndLeavesNothing(t *testing.T) {
	needReal(t, "ZooKeeper checks the credentials")
	path := uniquePath(t)
	owner := connect(t, addrsOf(t), owners("right")...)
	conn := admin(t)
	if err := conn.AddAuth("digest", []byte("owner:right")); err != nil {
		t.Fatal(err)
	}
	l := acquire(t, within(t), recipes.NewMutex(owner, path))
	permit, err := recipes.NewSemaphore(owner, path+"-semaphore", 2).Acquire(within(t))
	if err != nil {
		t.Fatal(err)
	}
	census := func() string {
		return fmt.Sprint(contenders(t, conn, path),
			contenders(t, conn, path+"-semaphore/locks"), contenders(t, conn, path+"-semaphore/leases"))
	}
	before := census()
	for name, options := range map[string][]recipes.Option{
		"nobody":             nil,
		"a wrong password":   owners("wrong"),
		"another user":       {recipes.WithAuth("digest", []byte("other:right"))},
		"credentials, twice": {recipes.WithAuth("digest", []byte("a:b")), recipes.WithAuth("digest", []byte("c:d"))},
	} {
		t.Run(name, func(t *testing.T) {
			stranger := connect(t, addrsOf(t), options...)
			m := recipes.NewMutex(stranger, path)
			rw := recipes.NewReadWriteMutex(stranger, path)
			semaphore := recipes.NewSemaphore(stranger, path+"-semaphore", 2)
			for call, f := range map[string]func(context.Context) (*recipes.Lease, error){
				"Acquire": m.Acquire, "TryAcquire": m.TryAcquire,
				"Read": rw.Read().Acquire, "Write": rw.Write().TryAcquire,
				"Semaphore": semaphore.Acquire,
			} {
				if _, err := f(within(t)); !errors.Is(err, zk.ErrNoAuth) {
					t.Errorf("%s: %v", call, err)
				}
			}
			if _, err := m.Participants(within(t)); !errors.Is(err, zk.ErrNoAuth) {
				t.Errorf("Participants: %v", err)
			}
			if err := stranger.Revoke(within(t), l.Node()); !errors.Is(err, zk.ErrNoAuth) {
				t.Errorf("Revoke: %v", err)
			}
		})
	}
	if after := census(); after != before {
		t.Errorf("nodes %v became %v", before, after)
	}
	release(t, permit)
	release(t, l)
}

func TestCredentialsAreGivenInEveryConnectionAndSession(t *testing.T) {
	needReal(t, "ZooKeeper checks the credentials")
	a, ls := linked(t)
	var wire intercept
	heard := listen()
	c := connect(t, a, append(owners("right"), recipes.WithDialer(wire.dial), recipes.WithConnectionListener(heard.told),
		recipes.WithSessionTimeout(6*time.Second))...)
	m := recipes.NewMutex(c, uniquePath(t))
	l := acquire(t, within(t), m)
	heard.next(t, recipes.ConnConnected)
	cutAll(t, ls, links.Down)
	heard.next(t, recipes.ConnSuspended)
	healAll(t, ls)
	heard.next(t, recipes.ConnReconnected)
	release(t, l)
	l = acquire(t, within(t), m)
	before := l.SessionID()
	expire(t, &wire)
	<-l.Lost()
	if l = acquire(t, within(t), m); l.SessionID() == before {
		t.Error("the session did not expire")
	}
	release(t, l)
}

func TestSecretsAreInNoErrorAndShownToNoObserver(t *testing.T) {
	needServers(t)
	const secret = "pa55word"
	var mu sync.Mutex
	var said strings.Builder
	say := func(v ...any) {
		mu.Lock()
		defer mu.Unlock()
		for _, v := range v {
			fmt.Fprintf(&said, "%v %+v %s\n", v, v, v)
		}
	}
	cred := []byte("owner:" + secret)
	auth := recipes.WithAuth("digest", cred)
	c := connect(t, addrsOf(t), auth, recipes.WithACL(zk.DigestACL(zk.PermAll, "owner", secret)...),
		recipes.WithConnectionListener(func(s recipes.ConnectionState) { say(s) }),
		recipes.WithObserver(recipes.Observer{
			Enqueued: func(_ context.Context, e recipes.Enqueued) { say(e) },
			Acquired: func(l *recipes.Lease, _ time.Duration) { say(l, l.Context()) },
			Released: func(l *recipes.Lease, _ time.Duration) { say(l) },
		}))
	path := uniquePath(t)
	l := acquire(t, within(t), recipes.NewMutex(c, path))
	stranger := connect(t, addrsOf(t), recipes.WithAuth("digest", []byte("stranger:"+secret)))
	_, err := recipes.NewMutex(stranger, path).Acquire(within(t))
	if !errors.Is(err, zk.ErrNoAuth) {
		t.Errorf("a stranger acquires: %v", err)
	}
	say(err, c, stranger, l)
	if want := "lease of " + path + ", token " + l.Token().String() + ", held"; fmt.Sprint(l) != want {
		t.Errorf("a lease is printed as %q, want %q", l, want)
	}
	release(t, l)
	_, err = recipes.Connect(within(t), addrsOf(t), recipes.WithAuth("no-such-scheme", cred))
	if !errors.Is(err, zk.ErrAuthFailed) {
		t.Errorf("an unknown scheme: %v", err)
	}
	say(err)
	if err := c.Close(within(t)); err != nil { // the observer has been called
		t.Fatal(err)
	}
	say(fmt.Sprintf("%#v", c)) // as a debugger prints it; no goroutine uses it now
	if !strings.Contains(said.String(), "no-such-scheme") || !strings.Contains(said.String(), "Timeout:") {
		t.Fatalf("little was said: %q", said.String())
	}
	// %v prints bytes as numbers.
	for _, form := range []string{secret, strings.Trim(fmt.Sprint([]byte(secret)), "[]"), strings.Trim(fmt.Sprintf("%#v", []byte(secret)), "[]byte{}")} {
		if at := strings.Index(said.String(), form); at >= 0 {
			t.Errorf("the secret was told: %.300s", said.String()[max(0, at-100):])
		}
	}
}
