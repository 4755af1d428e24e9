package recipes

import (
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"
)

// lockConfig holds the options of a lock.
type lockConfig struct {
	recipe  string // the name of its type
	data    []byte
	acl     []zk.ACL
	revoked func(*Lease)
	handoff int
	rule    GrantRule

	selector bool // an election is one of LeaderSelector

	bad error // an option that the recipe does not take
}

// LockOption configures one lock, election or barrier. Calls of a recipe that does not take it
// return [ErrBadOption]; every recipe takes it unless the option names those that do.
type LockOption func(*lockConfig)

// newLockConfig applies the options of a recipe, and fills in the defaults.
func newLockConfig(client *Client, recipe string, options []LockOption) lockConfig {
	cfg := lockConfig{recipe: recipe}
	for _, o := range options {
		o(&cfg)
	}
	if cfg.data == nil {
		cfg.data = []byte(client.cfg.identity) // not nil if empty: other clients distinguish null from empty data
	}
	if cfg.acl == nil {
		cfg.acl = client.cfg.ACL
	}
	return cfg
}

// takenBy notes an error unless the recipe is one of those that take the option.
func (c *lockConfig) takenBy(option string, recipes ...string) {
	if !slices.Contains(recipes, c.recipe) {
		c.bad = fmt.Errorf("%w: %s does not take %s", ErrBadOption, c.recipe, option)
	}
}

// WithData sets the data of the nodes of a lock or barrier, which [Mutex.Participants] and, for an
// [Election], [Election.Observe] return. It should be short: one transaction creates the nodes for
// all permits, or for all mutexes of a multi-lock, see [ErrTooLarge]. Default: the client's
// identity, see [WithIdentity].
func WithData(data []byte) LockOption {
	return func(c *lockConfig) { c.data = append([]byte{}, data...) }
}

// WithLockACL sets the access control list of the lock's contender nodes. Default: the Client's
// list, see [WithACL], which the parent nodes always have. The client itself must be allowed to
// read, create and delete. Acquires return zk.ErrInvalidACL for a list that the servers do not
// accept, such as an empty one.
func WithLockACL(acl ...zk.ACL) LockOption {
	return func(c *lockConfig) { c.acl = append([]zk.ACL{}, acl...) }
}

// WithRevocation calls f for every lease of the lock that another client asks the holder to
// release, see [Lease.OnRevoke]. It costs one request and one watch for each lease. Every recipe
// but the barriers takes it. Default: none.
func WithRevocation(f func(*Lease)) LockOption {
	return func(c *lockConfig) {
		c.takenBy("WithRevocation", "Mutex", "ReadWriteMutex", "Semaphore", "Election")
		c.revoked = f
	}
}

// WithLeaderSelector makes an [Election] compatible with Curator's LeaderSelector instead of its
// LeaderLatch. The nodes of the two have different names: candidates of both kinds at one path do
// not see each other, and there would be two leaders. Only an Election takes it.
func WithLeaderSelector() LockOption {
	return func(c *lockConfig) {
		c.takenBy("WithLeaderSelector", "Election")
		c.selector = true
	}
}

// WithLocalHandoff lets a release of a [Mutex] hand the lock to the next contender of the same
// [Client], without a request to the servers, up to n times in a row; then it is the turn of other
// clients. Only one contender of the Client stands in the lock's queue, so Participants does not
// list the others. Grants are first come, first served within the Client, and among clients. When
// an administrator ends the session or deletes the lock node, the lock may be handed on until the
// Client finds out: a [Fence] refuses these tokens once it has seen one that the servers have
// granted since. Only a Mutex takes it. Default: 0; a negative n is 0.
func WithLocalHandoff(n int) LockOption {
	return func(c *lockConfig) {
		c.takenBy("WithLocalHandoff", "Mutex")
		c.handoff = n
	}
}

// WithGrantRule replaces the rule by which a [Mutex] is granted, as Curator's LockInternalsDriver
// does. All contenders of the lock must have the same rule. With a rule that admits several
// contenders at a time the lock is not exclusive, and its tokens do not grow in the order of the
// grants. Only a Mutex takes it. Default: only the first of the queue holds the lock.
func WithGrantRule(rule GrantRule) LockOption {
	return func(c *lockConfig) {
		c.takenBy("WithGrantRule", "Mutex")
		c.rule = rule
	}
}
