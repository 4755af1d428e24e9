package recipes

import "github.com/go-zookeeper/zk"

// lockConfig holds the options of a lock.
type lockConfig struct {
	data    []byte
	acl     []zk.ACL
	revoked func(*Lease)
	handoff int
	rule    GrantRule

	selector bool // an election is one of LeaderSelector
}

// A MutexOption configures one [Mutex]. Every LockOption is a MutexOption.
type MutexOption interface{ set(*lockConfig) }

// An ElectionOption configures one [Election]. Every LockOption is an ElectionOption.
type ElectionOption interface {
	set(*lockConfig)
	anyElection()
}

// A LockOption configures one lock of any kind. Every NodeOption is a LockOption.
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

// newLockConfig applies the options, and fills in the defaults.
func newLockConfig[O interface{ set(*lockConfig) }](client *Client, options []O) lockConfig {
	var cfg lockConfig
	for _, o := range options {
		o.set(&cfg)
	}
	if cfg.data == nil {
		cfg.data = []byte(client.cfg.identity) // not nil if empty: other clients distinguish null from empty data
	}
	if cfg.acl == nil {
		cfg.acl = client.cfg.ACL
	}
	return cfg
}

// WithData sets the data of the lock's nodes, which [Mutex.Participants] and, for an [Election],
// [Election.Observe] return. It should be short: acquires return [ErrTooLarge] when the nodes
// that one transaction creates, for all permits or for all mutexes of a multi-lock, exceed a
// megabyte. Default: the client's identity, see [WithIdentity].
func WithData(data []byte) NodeOption {
	return nodeOption{lockOption{func(c *lockConfig) { c.data = append([]byte{}, data...) }}}
}

// WithLockACL sets the access control list of the lock's contender nodes.
// Default: the Client's list, see [WithACL], which the parent nodes always have. The client
// itself must be allowed to read, create and delete. Acquires return zk.ErrInvalidACL for a list
// that the servers do not accept, such as an empty one.
func WithLockACL(acl ...zk.ACL) NodeOption {
	return nodeOption{lockOption{func(c *lockConfig) { c.acl = append([]zk.ACL{}, acl...) }}}
}

// WithRevocation calls f for every lease of the lock that another client asks the holder to
// release, see [Client.Revoke] and [Lease.OnRevoke]. It costs one request and one watch for each
// lease. Default: none.
func WithRevocation(f func(*Lease)) LockOption {
	return lockOption{func(c *lockConfig) { c.revoked = f }}
}

// WithLeaderSelector makes an [Election] compatible with Curator's LeaderSelector instead of its
// LeaderLatch. The nodes of the two have different names: candidates of both kinds at one path do
// not see each other, and there would be two leaders.
func WithLeaderSelector() ElectionOption {
	return electionOption(func(c *lockConfig) { c.selector = true })
}

// WithLocalHandoff lets a release hand the lock to the next contender of the
// same Client, without a request to the servers, up to n times in a row; then it is the turn of
// the contenders of other clients. Only one contender of the Client stands in the lock's queue,
// so Participants does not list the others. Grants are first come, first served within the
// Client, and among clients. When an administrator ends the session or deletes the lock node, the
// lock may be handed on until the Client finds out: these tokens are older than those that the
// servers have granted since, and a [Fence] refuses them. n must be positive to have an effect.
// Default: 0.
func WithLocalHandoff(n int) MutexOption {
	return mutexOption(func(c *lockConfig) { c.handoff = n })
}

// WithGrantRule replaces the rule by which a [Mutex] is granted, as Curator's
// LockInternalsDriver does. All contenders of the lock must have the same rule.
// With a rule that admits several contenders at a time the lock is not exclusive, and its tokens
// do not grow in the order of the grants. Default: only the first contender of the queue holds
// the lock.
func WithGrantRule(rule GrantRule) MutexOption {
	return mutexOption(func(c *lockConfig) { c.rule = rule })
}
