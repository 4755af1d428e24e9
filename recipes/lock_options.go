package recipes

import "github.com/go-zookeeper/zk"

// lockConfig is what the options of a lock set.
type lockConfig struct {
	data    []byte
	acl     []zk.ACL
	revoked func(*Lease)
	handoff int
	rule    GrantRule

	selector bool // an election is one of LeaderSelector
}

// A MutexOption configures one [Mutex]. Every LockOption is one.
type MutexOption interface{ set(*lockConfig) }

// An ElectionOption configures one [Election]. Every LockOption is one.
type ElectionOption interface {
	set(*lockConfig)
	anyElection()
}

// A LockOption configures one lock of any kind. Every NodeOption is one.
type LockOption interface {
	MutexOption
	ElectionOption
	anyLock()
}

// A NodeOption configures the nodes of one recipe of any kind, barriers included.
type NodeOption interface {
	LockOption
	anyRecipe()
}

type mutexOption func(*lockConfig)

func (o mutexOption) set(c *lockConfig) { o(c) }

type electionOption func(*lockConfig)

func (o electionOption) set(c *lockConfig) { o(c) }

func (electionOption) anyElection() {}

type lockOption struct{ mutexOption }

func (lockOption) anyLock() {}

func (lockOption) anyElection() {}

type nodeOption struct{ lockOption }

func (nodeOption) anyRecipe() {}

// newLockConfig fills in what the options leave open.
func newLockConfig[O interface{ set(*lockConfig) }](client *Client, options []O) lockConfig {
	var cfg lockConfig
	for _, o := range options {
		o.set(&cfg)
	}
	if cfg.data == nil {
		cfg.data = []byte(client.cfg.identity) // not nil if empty: a null would be told apart by other clients
	}
	if cfg.acl == nil {
		cfg.acl = client.cfg.ACL
	}
	return cfg
}

// WithData sets the data of the lock's nodes; participants see it, and observers of an
// [Election]. It should be short: acquires return [ErrTooLarge] when the nodes that one
// transaction makes, of all permits or of all mutexes of a multi-lock, exceed a megabyte.
// Default: the client's identity, see [WithIdentity].
func WithData(data []byte) NodeOption {
	return nodeOption{lockOption{func(c *lockConfig) { c.data = append([]byte{}, data...) }}}
}

// WithLockACL sets the access control list of the lock's contender nodes.
// Default: that of the Client, see [WithACL], which its parents always have.
// The client itself must be allowed to read, create and delete. Acquires return
// zk.ErrInvalidACL for a list that the servers do not take, an empty one say.
func WithLockACL(acl ...zk.ACL) NodeOption {
	return nodeOption{lockOption{func(c *lockConfig) { c.acl = append([]zk.ACL{}, acl...) }}}
}

// WithRevocation calls f for every lease of the lock that somebody asks the
// holder to give back, see [Client.Revoke] and [Lease.OnRevoke]. It costs a
// request and a watch a lease. Default: none.
func WithRevocation(f func(*Lease)) LockOption {
	return lockOption{func(c *lockConfig) { c.revoked = f }}
}

// WithLeaderSelector makes an [Election] one in which Curator's LeaderSelector takes part,
// instead of its LeaderLatch. Their nodes have different names: at one path candidates of the
// two do not see each other, and there would be two leaders.
func WithLeaderSelector() ElectionOption {
	return electionOption(func(c *lockConfig) { c.selector = true })
}

// WithLocalHandoff lets a release hand the lock to the next contender of the
// same Client, without a request to the servers, up to n times in a row; then the
// contenders of other clients have their turn. Of the contenders of one Client only
// one stands in the lock's queue, so Participants does not list the others.
// First come, first served holds within the Client, and among clients. When an
// administrator ends the session or deletes the lock node, the lock may be handed on
// until the Client finds out: the tokens are older then than those that the servers
// have granted since, and a [Fence] refuses them. n must be positive to have an
// effect. Default: 0.
func WithLocalHandoff(n int) MutexOption {
	return mutexOption(func(c *lockConfig) { c.handoff = n })
}

// WithGrantRule replaces the rule by which a [Mutex] is granted, as Curator's
// LockInternalsDriver does. All contenders of the lock must have the same rule.
// With a rule that admits several at a time the lock excludes nobody, and its
// tokens do not grow in the order of the grants. Default: the first of the queue
// alone.
func WithGrantRule(rule GrantRule) MutexOption {
	return mutexOption(func(c *lockConfig) { c.rule = rule })
}
