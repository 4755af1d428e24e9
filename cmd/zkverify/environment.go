package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/docker"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/ensemble/simulated"
	"github.com/zkverify/zkverify/internal/words"
)

// environment holds the servers of a run, the network to them and the clients' credentials.
type environment struct {
	ensemble ensemble.Ensemble
	network  links.Network
	auth     ensemble.Credentials
}

// open starts the servers, or connects to the user's. Its error is an unavailable, unless
// the credentials are wrong or ctx has ended.
func (f *serversFlags) open(ctx context.Context, con *console, dir, runID string) (*environment, error) {
	auth, err := f.credentials()
	if err != nil {
		return nil, err
	}
	env, err := f.start(ctx, con, dir, runID, auth)
	if err != nil && ctx.Err() == nil {
		err = unavailable{err}
	}
	return env, err
}

func (f *serversFlags) start(ctx context.Context, con *console, dir, runID string, auth ensemble.Credentials) (_ *environment, err error) {
	env := &environment{auth: auth}
	defer func() {
		if err != nil {
			err = errors.Join(err, env.Close())
		}
	}()
	if f.Toxiproxy != "" {
		options, err := f.remote()
		if err != nil {
			return env, err
		}
		if env.network, err = links.Remote(f.Toxiproxy, options...); err != nil {
			return env, fmt.Errorf("%w: %w", errNoToxiproxy, err)
		}
	} else if env.network, err = links.InProcess(); err != nil {
		return env, err
	}
	start := time.Now()
	if f.kind() == "external" {
		e, err := ensemble.External(ctx, f.Addresses, runID, env.auth)
		if err != nil {
			return env, err
		}
		env.ensemble = e
		con.say("using ZooKeeper %s at %s, below %s", e.Version(), strings.Join(f.Addresses, ", "), e.Root())
		return env, nil
	}
	logs, err := filepath.Abs(dir)
	if err != nil {
		return env, err
	}
	if f.kind() == "docker" {
		e, err := docker.Start(ctx, f.containers(logs))
		if err != nil {
			return env, err
		}
		env.ensemble = e
		con.say("started %s %s from %s in %s", f.started(), e.Version(), e.Image(), time.Since(start).Round(10*time.Millisecond))
		return env, nil
	}
	if f.kind() == "simulated" {
		e, err := simulated.Start(ctx, f.local(logs, env.network, auth))
		if err != nil {
			return env, err
		}
		env.ensemble = e
		con.say("started %d simulated ZooKeeper servers %s: what is found on them is to be confirmed on real ones", f.Voters, e.Version())
		return env, nil
	}
	e, err := ensemble.StartLocal(ctx, f.local(logs, env.network, auth))
	if err != nil {
		return env, withHint(upgradeRefused(err))
	}
	env.ensemble = e
	con.say("started %s %s in %s%s", f.started(), e.Version(), time.Since(start).Round(10*time.Millisecond), upgrades(e))
	return env, nil
}

// started returns the number of servers in words.
func (f *ensembleFlags) started() string {
	if f.Observers == 0 {
		return words.Count(f.Voters, "ZooKeeper server")
	}
	return words.Count(f.Voters, "ZooKeeper server") + " and " + words.Count(f.Observers, "observer") + " of"
}

// upgrades names the version that servers can be upgraded to, "" if there is none.
func upgrades(e ensemble.Upgradable) string {
	if !e.CanUpgrade() {
		return ""
	}
	return ", to be upgraded to " + e.OtherVersion()
}

func (f *serversFlags) local(dir string, peers links.Network, auth ensemble.Credentials) ensemble.LocalConfig {
	if f.Reconfig || f.unlinked {
		peers = nil
	}
	least, most := ensemble.SessionTimeouts(f.SessionTimeout)
	return ensemble.LocalConfig{
		Reconfig: f.Reconfig, Dir: dir, Java: f.Java, ZooKeeper: f.ZooKeeper, UpgradeTo: f.UpgradeTo, Servers: f.Voters, Observers: f.Observers, ClientPorts: f.ClientPorts, Peers: peers,
		TickTime: f.Tick, SyncLimit: f.SyncLimit, FirstID: f.firstID, Failpoints: f.failpoints,
		SASLUsers: auth.SASLUsers(), MinSessionTimeout: least, MaxSessionTimeout: most,
	}
}

// negativeSessions makes local servers assign negative session ids.
func (f *serversFlags) negativeSessions() { f.firstID = 128 }

func (f *serversFlags) containers(dir string) docker.Config {
	least, most := ensemble.SessionTimeouts(f.SessionTimeout)
	return docker.Config{
		Image: f.Image, Dir: dir, PeerLinks: true, Servers: f.Voters,
		TickTime: f.Tick, SyncLimit: f.SyncLimit, MinSessionTimeout: least, MaxSessionTimeout: most,
	}
}

// Close stops the servers and the network that open started.
func (e *environment) Close() error {
	var err error
	if e.ensemble != nil {
		err = e.ensemble.Close()
	}
	if e.network != nil {
		err = errors.Join(err, e.network.Close())
	}
	return err
}
