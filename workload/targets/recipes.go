package targets

import (
	"context"
	"errors"
	"path"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/workload/lock"
)

// recipesTarget is package recipes: its mutex, the locks of recipes_locker.go, and the recipes of
// the files recipes_<recipe>.go.
type recipesTarget struct{ ofRecipes }

var _ lock.Collection = recipesTarget{}

func (recipesTarget) Name() string   { return "recipes" }
func (recipesTarget) Recipe() string { return "mutex" }
func (recipesTarget) Description() string {
	return "recipes.Mutex: fair, reentrant, with tokens, tells of a loss before it can matter"
}

// Recipes returns all recipes: package recipes has them all.
func (recipesTarget) Recipes() []histories.Recipe { return histories.Recipes() }

// ofRecipes is the common part of package recipes and its mutants. It has the defect of that
// name, or none.
type ofRecipes struct{ defect string }

// Concurrent returns true: a Client is for all goroutines of a process.
func (ofRecipes) Concurrent() bool { return true }

// MixesLocks returns true: a MultiLock may contain semaphores.
func (ofRecipes) MixesLocks() bool { return true }

func (ofRecipes) Promises(s lock.Settings) histories.Promises {
	return histories.Promises{
		Tokens: true, TellsLoss: true, FIFO: true, FirstNode: true, Reentrant: true, Guards: true, Says: true, Returns: true,
		LossBound:     s.LossBound(),
		RevokeBound:   s.RevokeBound(),
		TurnBound:     s.TurnBound(),
		ProgressBound: s.ProgressBound(),
		Connects:      connectBound,
		Repeats:       repeatBound,
	}
}

func (t ofRecipes) Open(ctx context.Context, env lock.Env) (lock.Client, error) {
	options := []recipes.Option{
		recipes.WithSessionTimeout(env.SessionTimeout),
		recipes.WithIdentity("zkverify"), // the same in every process: a simulated run is repeated exactly
		recipes.WithDialer(env.Dial),
		recipes.WithObserver(recipesObserver(env)),
	}
	if m := env.Auth.SASL(); m != nil {
		options = append(options, recipes.WithSASL(m), recipes.WithACL(env.Auth.ACL()...))
	} else if scheme := env.Auth.Scheme(); scheme != "" {
		options = append(options, recipes.WithAuth(scheme, env.Auth.Secret()), recipes.WithACL(env.Auth.ACL()...))
	}
	options = append(options, recipesOptions(env)...)
	switched, err := switchedOn(t.defect)
	if err != nil {
		return nil, err
	}
	options = append(options, switched...)
	if env.TickTime > 0 {
		options = append(options, recipes.WithServerTick(env.TickTime))
	}
	c, err := recipes.Connect(ctx, env.Servers, options...)
	if err != nil {
		return nil, err
	}
	conn := recipesConn{c, env}
	return &recipesClient{conn, recipesBarriers{conn, new(recipesMembers)}, queued(conn.doing)}, nil
}

// recipesObserver returns the observer that reports to the harness.
func recipesObserver(env lock.Env) recipes.Observer {
	return recipes.Observer{
		Acquiring: func(ctx context.Context, a recipes.Acquiring) context.Context {
			lock.Told(ctx, lock.Notification{What: histories.ToldAcquiring, Lock: path.Base(a.Path)})
			return ctx
		},
		Enqueued: func(ctx context.Context, e recipes.Enqueued) {
			env.Enqueued(ctx, lock.Place{
				Lock: path.Base(e.Path), Token: histories.Token(e.Token), Sequence: lock.Sequence(e.Node), Ahead: e.Ahead,
			})
		},
		GaveUp: func(ctx context.Context, a recipes.Acquiring, err error) {
			lock.Told(ctx, lock.Notification{What: histories.ToldGaveUp, Lock: path.Base(a.Path), Err: err})
		},
		Acquired: func(l *recipes.Lease, _ time.Duration) {
			n := recipesNotification(histories.ToldAcquired, l)
			n.Owner = lock.OwnerOf(l.Context())
			env.Told(n)
		},
		Lost: func(l *recipes.Lease, _ recipes.LossReason, _ time.Duration) {
			env.Told(recipesNotification(histories.ToldLost, l))
		},
		Released:  func(l *recipes.Lease, _ time.Duration) { env.Told(recipesNotification(histories.ToldReleased, l)) },
		Suspended: func(l *recipes.Lease) { env.Suspended(histories.Token(l.Token()), true) },
		Resumed:   func(l *recipes.Lease) { env.Suspended(histories.Token(l.Token()), false) },
		RevokeRequested: func(l *recipes.Lease) {
			lock.Told(l.Context(), recipesNotification(histories.ToldRevokeRequested, l))
		},
	}
}

type recipesClient struct {
	recipesConn
	recipesBarriers
	recipesQueued[doing]
}

// recipesConn is a client of package recipes, and the environment that it was opened with.
type recipesConn struct {
	client *recipes.Client
	env    lock.Env
}

// path returns the path of a lock, below the client's namespace.
func (c recipesConn) path(name string) string {
	if c.env.Choices.Namespace {
		return "/" + name
	}
	return path.Join(c.env.Root, name)
}

func recipesNotification(what string, l *recipes.Lease) lock.Notification {
	return lock.Notification{What: what, Lock: path.Base(l.Path()), Token: histories.Token(l.Token()), Session: l.SessionID()}
}

// recipesQueue converts a queue to the types of the harness.
func recipesQueue(all []recipes.Participant, err error) (queue []histories.Participant, _ error) {
	for _, p := range all {
		queue = append(queue, histories.Participant{Token: histories.Token(p.Token), Session: lock.SessionName(p.Session)})
	}
	return queue, err
}

func (c *recipesClient) Conn() *zk.Conn                  { return c.client.Conn() }
func (c *recipesClient) Close(ctx context.Context) error { return c.client.Close(ctx) }

// Crash closes the client after its network is gone, so no close request reaches a
// server.
func (c *recipesClient) Crash() { _ = c.client.Close(context.Background()) }

func (c recipesConn) mutex(name string) *recipes.Mutex {
	return recipes.NewMutex(c.client, c.path(name), recipesRule(c.env)...)
}

func (c recipesConn) doing(name string) doing { return doing{c.mutex(name), c.env.Choices.Do} }

// recipesLease adapts a recipes.Lease to the harness.
type recipesLease struct{ *recipes.Lease }

func wrapLease(l *recipes.Lease, err error) (lock.Lease, error) {
	switch {
	case err == nil:
		return &recipesLease{l}, nil
	case errors.Is(err, recipes.ErrNotAcquired):
		return nil, errors.Join(lock.ErrNotAcquired, err)
	case errors.Is(err, recipes.ErrLeaseLost):
		return nil, errors.Join(lock.ErrLost, err)
	}
	return nil, err
}

// Nodes returns the lease's one lock node.
func (l *recipesLease) Nodes() []string { return []string{l.Node()} }

// Token returns the lease's token as an application reads it again that has stored it: as text, or in a
// database.
func (l *recipesLease) Token() histories.Token {
	var stored recipes.Token
	if text, err := l.Lease.Token().MarshalText(); err != nil || stored.UnmarshalText(text) != nil {
		return histories.Token{}
	}
	row, err := stored.Value()
	if stored = (recipes.Token{}); err != nil || stored.Scan(row) != nil {
		return histories.Token{}
	}
	return histories.Token(stored)
}

func (l *recipesLease) Release(ctx context.Context) error {
	err := end(ctx, l.Lease)
	if errors.Is(err, recipes.ErrLeaseLost) {
		return errors.Join(lock.ErrLost, err)
	}
	return err
}

// SetGuarded calls Lease.Multi for one node.
func (l *recipesLease) SetGuarded(ctx context.Context, node string, data []byte) error {
	_, err := l.Multi(ctx, &zk.SetDataRequest{Path: node, Data: data, Version: -1})
	return recipesGuarded(err)
}

// recipesGuarded converts the error of a guarded write to those of the harness.
func recipesGuarded(err error) error {
	switch {
	case err == nil, errors.Is(err, recipes.ErrOutcomeUnknown):
		return err
	case errors.Is(err, recipes.ErrLeaseLost), errors.Is(err, recipes.ErrNotHeld):
		return errors.Join(lock.ErrLost, err)
	}
	return errors.Join(lock.ErrNotWritten, err)
}
