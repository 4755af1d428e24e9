package ensemble

import "errors"

// Errors to match with errors.Is. Their text says what to do; the error that wraps them
// says where it happened.
var (
	// ErrNoJava is returned by StartLocal and FindJava when there is no Java
	// runtime.
	ErrNoJava = errors.New("no Java runtime found: run `make setup`, or install a JRE (11 or newer), or set JAVA_HOME")
	// ErrNoZooKeeper is returned by StartLocal and FindZooKeeper when there is
	// no ZooKeeper to run.
	ErrNoZooKeeper = errors.New("no ZooKeeper found: run `make setup`, or unpack Apache ZooKeeper and set ZOOKEEPER_HOME to its directory")
	// ErrNoVersion is returned by StartLocal and FindZooKeeper when the named version of
	// ZooKeeper is not on this machine.
	ErrNoVersion = errors.New("there is no ZooKeeper")
	// ErrNoByteman is returned by StartLocal with LocalConfig.Failpoints, and by FindByteman,
	// when Byteman's jar is not on this machine.
	ErrNoByteman = errors.New("no Byteman found, which failpoints and clocks of servers need: on Debian sh ensemble/install.sh --byteman installs it; elsewhere name byteman.jar of a release of https://byteman.jboss.org: ZKVERIFY_BYTEMAN=FILE")
	// ErrSameVersion is returned by StartLocal when the version to upgrade to is the one
	// that the servers run.
	ErrSameVersion = errors.New("the servers run that version already: name another one to upgrade to")
	// ErrPortTaken is returned by StartLocal when a port of
	// LocalConfig.ClientPorts is in use.
	ErrPortTaken = errors.New("port is in use: stop what listens there or choose another")
	// ErrServerDied is returned by StartLocal and Restart when a server's
	// process ended before it served. The error carries its last log lines.
	ErrServerDied = errors.New("ZooKeeper server died while starting: its log says why")
	// ErrNotServing is returned by StartLocal and Restart when the servers did
	// not serve in time.
	ErrNotServing = errors.New("ZooKeeper servers do not serve: see their logs, and whether the machine is overloaded")
	// ErrDirectPeerLink is returned by StartLocal when a server reaches another one around the
	// link between them: cutting the link would have no effect.
	ErrDirectPeerLink = errors.New("a server holds a connection to another that passes no link")
	// ErrUnreachable is returned by External when a server does not answer as a
	// serving ZooKeeper.
	ErrUnreachable = errors.New("ZooKeeper server cannot be reached: check the address and that it serves")
	// ErrNotZooKeeper is returned when the process that answers at a server's address does not
	// speak ZooKeeper's protocol. The error that wraps it quotes the answer.
	ErrNotZooKeeper = errors.New("what answers is not a ZooKeeper server")
	// ErrUnknownLeader is returned by Leader when no server says that it leads: during an
	// election, or when the servers do not answer `srvr`.
	ErrUnknownLeader = errors.New("leader is not known: there is none now, or 4lw.commands.whitelist lacks srvr")
	// ErrNotAllowed is returned by External when the servers do not allow it to create the run's
	// nodes.
	ErrNotAllowed = errors.New("ZooKeeper does not allow the run's nodes: give credentials that may create below /zkverify (--auth-file)")
	// ErrRootExists is returned by External when nodes of a run of that name exist already:
	// another run uses them, or they are left over.
	ErrRootExists = errors.New("nodes of this run exist already: use another run id, or remove them")
	// ErrNoSession is returned by Expire when the servers know no such session, or the password
	// is wrong.
	ErrNoSession = errors.New("no such session, or wrong password")
	// ErrNotRunning is returned by Pause for a server whose process has ended.
	ErrNotRunning = errors.New("server does not run")
	// ErrClosed is returned by the methods of an ensemble after Close.
	ErrClosed = errors.New("ensemble is closed")
)
