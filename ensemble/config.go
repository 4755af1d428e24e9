package ensemble

import (
	"errors"
	"fmt"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
)

// LocalConfig holds the options of StartLocal. Its zero value is three servers on free
// ports, that reach each other directly, in a temporary directory.
type LocalConfig struct {
	// Dir is the directory of the servers' logs (server-1.log, …) and, until Close, of their
	// data. When it is empty, StartLocal uses a temporary directory, which Close removes with the
	// logs.
	Dir string
	// Java is the path of the java program; FindJava chooses one when it is empty.
	Java string
	// ZooKeeper is a version such as "3.9.6", a jar file or the directory of an Apache
	// distribution; FindZooKeeper chooses one when it is empty.
	ZooKeeper string
	// UpgradeTo names the other version that the servers can be restarted as, in the way that
	// ZooKeeper does; see Upgradable. When it is empty there is none.
	UpgradeTo string

	// Servers is the number of servers that vote, 3 by default.
	Servers int
	// Observers is the number of servers without a vote. Their IDs follow those of the voting
	// servers.
	Observers int
	// FirstID is the myid of the first server; the other servers have the numbers after it. It is
	// 1 by default, and at most 245. The first byte of a session's id is the myid of the server
	// that began it: from 128 on session ids are negative.
	FirstID int
	// ClientPorts are the servers' client ports, one for each server. When it is empty,
	// StartLocal chooses free ones.
	ClientPorts []int
	// Peers makes the links that carry the messages between servers, so that they can be cut. Nil
	// means direct connections. Close closes the links, not the network.
	Peers links.Network

	// Reconfig lets servers be removed and added, see Reconfigurable. Peers has to be nil.
	Reconfig bool

	// TickTime is ZooKeeper's unit of time, 200 ms by default. Sessions expire
	// on a tick, and a leader and its followers check on each other by it.
	TickTime time.Duration
	// InitLimit is the number of ticks that a follower may take to connect to
	// the leader and get its state, 10 by default.
	InitLimit int
	// SyncLimit is the number of ticks after which a follower and its leader give each other up,
	// 5 by default. A follower without a leader goes on answering reads for that long.
	SyncLimit int
	// MinSessionTimeout and MaxSessionTimeout bound the session timeout that a client may
	// negotiate, by default from 500 ms to a minute.
	MinSessionTimeout, MaxSessionTimeout time.Duration
	// ContainerInterval is the interval at which the leader deletes containers without children
	// and expired TTL nodes, 250 ms by default: locks that are idle for a moment lose their nodes.
	// ZooKeeper's own is a minute, longer than most runs.
	ContainerInterval time.Duration

	// SASLUsers maps the users that may authenticate by SASL, with DIGEST-MD5, to their
	// passwords. When it is empty the servers have no SASL, unless Properties configure it.
	SASLUsers map[string]string
	// Properties are system properties of the servers' JVMs, name=value each, such as
	// zookeeper.enforce.auth.enabled=true.
	Properties []string

	// Failpoints starts the servers' JVMs with Byteman, so that they can be made to fail at
	// points of their own code; see Failpoints. StartLocal returns ErrNoByteman when Byteman is
	// missing.
	Failpoints bool

	// FullJIT lets the JVM optimize all it can. By default it does not, so that the servers start
	// sooner and answer requests more slowly. Benchmarks set FullJIT and warm up.
	FullJIT bool
	// StartLimit is the time that StartLocal, and Restart under a context without a deadline,
	// wait for the servers to serve: 2 minutes by default. The servers of a busy machine give up
	// many elections before one succeeds (InitLimit).
	StartLimit time.Duration
}

// SessionTimeouts returns the bounds of the session timeouts that servers of a run grant: 500 ms and
// a minute, or d where it is shorter or longer.
func SessionTimeouts(d time.Duration) (least, most time.Duration) {
	return min(500*time.Millisecond, d), max(time.Minute, d)
}

// SetDefaults sets the fields that are zero to their defaults, and returns an error for
// values that are impossible.
func (c *LocalConfig) SetDefaults() error {
	for value, standard := range map[*time.Duration]time.Duration{
		&c.TickTime:          200 * time.Millisecond,
		&c.MinSessionTimeout: 500 * time.Millisecond,
		&c.MaxSessionTimeout: time.Minute,
		&c.ContainerInterval: 250 * time.Millisecond,
		&c.StartLimit:        2 * time.Minute,
	} {
		if *value == 0 {
			*value = standard
		}
	}
	for value, standard := range map[*int]int{&c.Servers: 3, &c.FirstID: 1, &c.InitLimit: 10, &c.SyncLimit: 5} {
		if *value == 0 {
			*value = standard
		}
	}
	switch {
	case c.Servers < 1 || c.Observers < 0 || c.All() > 9:
		return fmt.Errorf("%d servers and %d observers: want 1 to 9", c.Servers, c.Observers)
	case c.Reconfig && c.Peers != nil:
		return errors.New("servers that can be reconfigured cannot have links between them")
	case c.FirstID < 1 || c.FirstID > 245:
		return fmt.Errorf("first myid %d: want 1 to 245", c.FirstID)
	case len(c.ClientPorts) > 0 && len(c.ClientPorts) != c.All():
		return fmt.Errorf("%d client ports for %d servers", len(c.ClientPorts), c.All())
	case c.TickTime < time.Millisecond || c.InitLimit < 1 || c.SyncLimit < 1:
		return fmt.Errorf("tick of %v, initLimit %d, syncLimit %d: all must be positive", c.TickTime, c.InitLimit, c.SyncLimit)
	case c.MinSessionTimeout > c.MaxSessionTimeout:
		return fmt.Errorf("session timeouts from %v to %v: the range is empty", c.MinSessionTimeout, c.MaxSessionTimeout)
	}
	return nil
}

// All returns the number of servers, with or without a vote.
func (c *LocalConfig) All() int { return c.Servers + c.Observers }

// jvmFlags returns flags with which three servers serve within about two seconds on two
// cores.
func (c *LocalConfig) jvmFlags() []string {
	flags := []string{
		"-Xms32m", "-Xmx128m", "-Xss256k", "-XX:+UseSerialGC",
		"-Djava.net.preferIPv4Stack=true",
		"-Duser.timezone=UTC",        // of the logs
		"-Dzookeeper.cnxTimeout=500", // ms to reach a peer in an election; a paused one would cost 5 s
		// In an election votes are sent again at intervals that double, up to a
		// minute. A server that comes back should not wait for that.
		"-Dzookeeper.fastleader.maxNotificationInterval=800",
		"-Dzookeeper.extendedTypesEnabled=true",
		fmt.Sprintf("-Dznode.container.checkIntervalMs=%d", c.ContainerInterval.Milliseconds()),
	}
	for _, property := range c.Properties {
		flags = append(flags, "-D"+property)
	}
	if c.FullJIT {
		return append(flags, "-Xmx512m") // the last of two wins
	}
	return append(flags, "-XX:TieredStopAtLevel=1")
}

// myid returns the myid of a server.
func (c *LocalConfig) myid(id int) int { return c.FirstID - 1 + id }

// zooCfg returns the text of a server's configuration, without its peers and ports.
func (c *LocalConfig) zooCfg(dataDir string) string {
	return fmt.Sprintf(`tickTime=%d
initLimit=%d
syncLimit=%d
minSessionTimeout=%d
maxSessionTimeout=%d
dataDir=%s
clientPortListenBacklog=1024
maxClientCnxns=0
4lw.commands.whitelist=*
admin.enableServer=false
standaloneEnabled=false
preAllocSize=1024
`, c.TickTime.Milliseconds(), c.InitLimit, c.SyncLimit, c.MinSessionTimeout.Milliseconds(),
		c.MaxSessionTimeout.Milliseconds(), dataDir)
}

// logConfigs configure the logger of the distribution, either of two: without a
// configuration logback writes debug lines and log4j none at all. They lead the class
// path.
var logConfigs = map[string]string{
	"simplelogger.properties": `org.slf4j.simpleLogger.showDateTime=true
org.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss.SSS
org.slf4j.simpleLogger.showShortLogName=true
`,
	"log4j.properties": `log4j.rootLogger=INFO, CONSOLE
log4j.appender.CONSOLE=org.apache.log4j.ConsoleAppender
log4j.appender.CONSOLE.layout=org.apache.log4j.PatternLayout
log4j.appender.CONSOLE.layout.ConversionPattern=%d{ISO8601} [%t] %-5p %c{1} - %m%n
`,
	"logback.xml": `<configuration>
  <appender name="CONSOLE" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d{ISO8601} [%thread] %-5level %logger{0} - %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="CONSOLE"/></root>
</configuration>
`,
}
