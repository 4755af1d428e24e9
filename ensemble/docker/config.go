package docker

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"
)

// DefaultImage is the official image, named by its digest, so that no other image can
// take its place. docker-compose.yml names the same one.
const DefaultImage = "zookeeper:3.9.5@sha256:4c6f15fbd5491a3e01b0108c046891125553329a4956848ba3014cedff5386ee"

// ImageVariable names the environment variable that replaces DefaultImage.
const ImageVariable = "ZKVERIFY_IMAGE"

// Errors that are matched with errors.Is.
var (
	// ErrNoDocker is returned by Start when there is no Docker daemon.
	ErrNoDocker = errors.New("no Docker daemon answers: start one, or set DOCKER_HOST")
	// ErrNoImage is returned by Start when the image is neither on this machine nor in a registry
	// that can be reached.
	ErrNoImage = errors.New("image cannot be had: name another with --image or " + ImageVariable + ", or build one with ensemble/image/build.sh")
)

// Config holds the options of Start. Its zero value is three servers of
// DefaultImage that reach each other directly.
type Config struct {
	// Image is the image to run. Default: ImageVariable's, or DefaultImage.
	Image string
	// Dir is the directory to which Close writes the servers' logs (server-1.log, …). When it is
	// empty Close writes none.
	Dir string
	// Servers is the number of servers, 3 by default, at most 9.
	Servers int
	// PeerLinks makes links for the connections between servers, so that they can be cut.
	PeerLinks bool

	// The other fields are as in ensemble.LocalConfig, with the same defaults.
	TickTime                             time.Duration
	InitLimit, SyncLimit                 int
	MinSessionTimeout, MaxSessionTimeout time.Duration
	StartLimit                           time.Duration // default 2 minutes, without the time to fetch the image
}

func (c Config) withDefaults() (Config, error) {
	c.Image = cmp.Or(c.Image, os.Getenv(ImageVariable), DefaultImage)
	c.Servers = cmp.Or(c.Servers, 3)
	c.TickTime = cmp.Or(c.TickTime, 200*time.Millisecond)
	c.InitLimit, c.SyncLimit = cmp.Or(c.InitLimit, 10), cmp.Or(c.SyncLimit, 5)
	c.MinSessionTimeout = cmp.Or(c.MinSessionTimeout, 500*time.Millisecond)
	c.MaxSessionTimeout = cmp.Or(c.MaxSessionTimeout, time.Minute)
	c.StartLimit = cmp.Or(c.StartLimit, 2*time.Minute)
	if c.Servers < 1 || c.Servers > 9 {
		return c, fmt.Errorf("%d servers: want 1 to 9", c.Servers)
	}
	if c.TickTime < time.Millisecond || c.InitLimit < 1 || c.SyncLimit < 1 {
		return c, fmt.Errorf("tick of %v, initLimit %d, syncLimit %d: all must be positive", c.TickTime, c.InitLimit, c.SyncLimit)
	}
	return c, nil
}

// The ports of a server inside its container.
const (
	clientPort   = "2181/tcp"
	quorumPort   = 2888
	electionPort = 3888
)

// environment returns the environment variables that configure server id, as the official
// image reads them. servers is one line for each server.
func (c Config) environment(id int, servers string) map[string]string {
	return map[string]string{
		"ZOO_MY_ID":                  fmt.Sprint(id),
		"ZOO_SERVERS":                servers,
		"ZOO_TICK_TIME":              fmt.Sprint(c.TickTime.Milliseconds()),
		"ZOO_INIT_LIMIT":             fmt.Sprint(c.InitLimit),
		"ZOO_SYNC_LIMIT":             fmt.Sprint(c.SyncLimit),
		"ZOO_MAX_CLIENT_CNXNS":       "0",
		"ZOO_STANDALONE_ENABLED":     "false",
		"ZOO_ADMINSERVER_ENABLED":    "false",
		"ZOO_4LW_COMMANDS_WHITELIST": "*",
		"ZOO_CFG_EXTRA": fmt.Sprintf("minSessionTimeout=%d maxSessionTimeout=%d preAllocSize=1024 clientPortListenBacklog=1024",
			c.MinSessionTimeout.Milliseconds(), c.MaxSessionTimeout.Milliseconds()),
		// ensemble.LocalConfig gives the reasons for these flags.
		"SERVER_JVMFLAGS": "-Xms32m -Xmx256m -Xss256k -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.net.preferIPv4Stack=true" +
			" -Dzookeeper.cnxTimeout=500 -Dzookeeper.fastleader.maxNotificationInterval=800" +
			" -Dzookeeper.extendedTypesEnabled=true -Dznode.container.checkIntervalMs=1000",
	}
}
