package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/ensemble/simulated"
	"github.com/zkverify/zkverify/nemesis/faults"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/workload/lock"
)

// serversFlags choose the servers of a run, the network to them and the session
// timeout.
type serversFlags struct {
	ensembleFlags  `embed:""`
	SessionTimeout time.Duration `default:"2s" help:"Session timeout of the clients."`
	UpgradeTo      string        `rare:"" help:"Another version of ZooKeeper, named as by --zookeeper: the fault rolling-upgrade restarts local servers as that version, and back; default none, and no such fault." placeholder:"VERSION"`
}

// ensembleFlags choose the servers of a run, and the network to them.
type ensembleFlags struct {
	Ensemble    string `enum:"auto,local,docker,external,simulated" default:"auto" help:"local: servers as child processes; docker: in containers; external: yours; simulated: in this process, without Java, see docs/ensembles.md; auto: external if --servers is given, else local." placeholder:"KIND"`
	hereFlags   `embed:""`
	Voters      int           `rare:"" default:"3" help:"How many servers that vote are started, 3 or 5."`
	Observers   int           `rare:"" default:"0" help:"How many ZooKeeper observers are started beside them: local servers without a vote, which clients use too. At most 4, so that there are no more than 9 servers."`
	Reconfig    bool          `rare:"" help:"Local servers are started so that the fault reconfig can remove one of them from the ensemble and add it again. They reach each other directly then, and there are no faults of the links between servers; default not."`
	Tick        time.Duration `rare:"" default:"200ms" help:"Servers' tickTime, but for external ones."`
	SyncLimit   int           `rare:"" default:"15" help:"Their syncLimit, in ticks. While it is longer than a session, a follower that lost its leader answers until after its clients' sessions have expired."`
	ClientPorts []int         `rare:"" help:"Local or simulated servers' client ports; free ones by default." placeholder:"PORT"`
	ZooKeeper   string        `name:"zookeeper" help:"ZooKeeper's version, such as 3.9.6 (on Debian sh ensemble/install.sh --zookeeper 3.9.6 installs it), its jar, or the folder of an Apache release; default $$ZKVERIFY_ZOOKEEPER, then $$ZOOKEEPER_HOME, then the system's package. Of simulated servers: ${simulated}." placeholder:"VERSION"`

	auth       *ensemble.Credentials // nil until they are read
	firstID    int                   // see ensemble.LocalConfig
	unlinked   bool                  // local servers have no links between them
	failpoints bool                  // see ensemble.LocalConfig
}

// hereFlags name programs, files and servers. They come from the command line alone, never
// from a history, which may be untrusted.
type hereFlags struct {
	Image     string   `rare:"" help:"Image of the servers in containers; default $$ZKVERIFY_IMAGE, then ${image}." placeholder:"NAME"`
	Addresses []string `name:"servers" help:"Your servers, as ZooKeeper's connect string: host:port each, and a chroot behind the last; default those that are started. The run keeps below /zkverify/<run id>, below the chroot, and removes it." placeholder:"ADDR"`
	AuthFile  string   `help:"File with what all clients authenticate by, scheme:secret, such as digest:user:password, sasl:digest-md5:user:password or sasl:gssapi:keytab=FILE: the run's nodes belong to it; default none. It is in no history, log or report." placeholder:"FILE"`
	Toxiproxy string   `help:"A running Toxiproxy, the URL of its API; default one in process." placeholder:"URL"`
	Listen    string   `rare:"" name:"toxiproxy-listen" help:"Where that Toxiproxy listens for clients: 0.0.0.0 if it runs in a container; default the host of --toxiproxy." placeholder:"HOST"`
	Ports     string   `rare:"" name:"toxiproxy-ports" help:"Ports of it that can be reached, such as 20000-20031; default all. Each client takes one for each server." placeholder:"FROM-TO"`
	Upstreams []string `rare:"" name:"toxiproxy-upstreams" help:"The servers as that Toxiproxy reaches them, in the order of --servers; default the same." placeholder:"ADDR"`
	Java      string   `rare:"" help:"The java program; default $$JAVA_HOME/bin/java, then the PATH." placeholder:"FILE"`
}

// credentials returns the credentials of --auth-file, which is read once: it may be a pipe. It
// returns an error for credentials that the servers cannot authenticate.
func (f *ensembleFlags) credentials() (ensemble.Credentials, error) {
	if f.auth != nil || f.AuthFile == "" {
		f.auth = cmp.Or(f.auth, new(ensemble.Credentials))
		return *f.auth, f.checkSASL(*f.auth)
	}
	text, err := os.ReadFile(f.AuthFile)
	if err != nil {
		return ensemble.Credentials{}, usage("--auth-file: %w", err)
	}
	c, err := ensemble.ReadCredentials(string(text))
	if err != nil {
		return c, usage("--auth-file: %s: %w", f.AuthFile, err)
	}
	f.auth = &c
	return c, f.checkSASL(c)
}

// checkSASL returns an error for credentials that the started servers cannot authenticate.
func (f *ensembleFlags) checkSASL(auth ensemble.Credentials) error {
	switch {
	case auth.SASL() == nil || f.kind() == "external":
		return nil
	case f.kind() == "docker":
		return usage("--auth-file: %s: servers in containers have no SASL; take --ensemble local or simulated, or --servers", f.AuthFile)
	case auth.SASLUsers() == nil:
		return usage("--auth-file: %s: servers that are started know no Kerberos: name yours by --servers", f.AuthFile)
	}
	return nil
}

// settings returns the settings on which a target's promises may depend, as far as they are
// known before the servers start.
func (f *serversFlags) settings() lock.Settings {
	s := lock.Settings{SessionTimeout: f.SessionTimeout, TickTime: f.Tick}
	if f.kind() == "external" {
		s.TickTime = 0 // the external servers have their own
	}
	return s
}

func (f *serversFlags) validate() error {
	if f.SessionTimeout <= 0 {
		return fmt.Errorf("--session-timeout must be positive, not %v", f.SessionTimeout)
	}
	if err := f.ensembleFlags.validate(); err != nil {
		return err
	}
	if f.UpgradeTo != "" && f.kind() != "local" {
		return fmt.Errorf("--upgrade-to goes with --ensemble local: servers of --ensemble %s run one version", f.kind())
	}
	if f.SessionTimeout < 2*f.Tick {
		return fmt.Errorf("--session-timeout must be at least two ticks (%v), not %v", 2*f.Tick, f.SessionTimeout)
	}
	return nil
}

func (f *ensembleFlags) validate() error {
	switch {
	case f.Tick <= 0:
		return fmt.Errorf("--tick must be positive, not %v", f.Tick)
	case f.SyncLimit < 1:
		return fmt.Errorf("--sync-limit must be at least 1, not %d", f.SyncLimit)
	case f.kind() == "external" && len(f.Addresses) == 0:
		return errors.New("--ensemble external needs --servers")
	case f.kind() != "external" && len(f.Addresses) > 0:
		return errors.New("--servers goes with --ensemble external")
	case f.kind() != "docker" && f.Image != "":
		return errors.New("--image goes with --ensemble docker")
	case f.kind() != "local" && f.Java != "":
		return errors.New("--java goes with --ensemble local")
	case f.kind() != "local" && f.kind() != "simulated" && (f.ZooKeeper != "" || len(f.ClientPorts) > 0):
		return errors.New("--zookeeper and --client-ports go with --ensemble local and simulated")
	case f.kind() == "simulated" && f.ZooKeeper != "" && !slices.Contains(simulated.Versions(), f.ZooKeeper):
		return fmt.Errorf("--zookeeper: %s cannot be simulated; %s can", f.ZooKeeper, strings.Join(simulated.Versions(), " and "))
	case f.Voters != 3 && f.Voters != 5:
		return fmt.Errorf("--voters must be 3 or 5, not %d", f.Voters)
	case f.kind() == "external" && f.Voters != 3:
		return errors.New("--voters goes with servers that are started, not with yours")
	case f.Observers < 0 || f.Observers > 4:
		return fmt.Errorf("--observers must lie between 0 and 4, not %d", f.Observers)
	case f.kind() != "local" && f.Observers > 0:
		return fmt.Errorf("--observers goes with --ensemble local: servers of --ensemble %s all vote (with yours, name your observers by --servers too)", f.kind())
	case f.kind() != "local" && f.Reconfig:
		return fmt.Errorf("--reconfig goes with --ensemble local: the members of --ensemble %s stay the same", f.kind())
	case f.Toxiproxy == "" && (f.Listen != "" || f.Ports != "" || len(f.Upstreams) > 0):
		return errors.New("--toxiproxy-listen, --toxiproxy-ports and --toxiproxy-upstreams go with --toxiproxy")
	case len(f.Upstreams) > 0 && len(f.Upstreams) != len(f.Addresses):
		return fmt.Errorf("--toxiproxy-upstreams names %d servers, --servers %d", len(f.Upstreams), len(f.Addresses))
	case len(f.ClientPorts) > 0 && len(f.ClientPorts) != f.Voters+f.Observers:
		return fmt.Errorf("--client-ports takes a port for each of %d servers, not %d", f.Voters+f.Observers, len(f.ClientPorts))
	}
	if err := checkServers("servers", &f.Addresses); err != nil {
		return err
	}
	if err := checkServers("toxiproxy-upstreams", &f.Upstreams); err != nil {
		return err
	}
	_, err := f.remote()
	return err
}

// checkServers parses the addresses of an option that names servers, if it was given.
func checkServers(flag string, addresses *[]string) error {
	if len(*addresses) == 0 {
		return nil
	}
	servers, chroot, err := recipes.ParseServers(*addresses)
	if err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	servers[len(servers)-1] += chroot
	*addresses = servers
	return nil
}

// remote returns the options for a running Toxiproxy.
func (f *ensembleFlags) remote() ([]links.RemoteOption, error) {
	var options []links.RemoteOption
	if f.Listen != "" {
		options = append(options, links.WithListenHost(f.Listen))
	}
	if f.Ports != "" {
		var first, last int
		if n, err := fmt.Sscanf(f.Ports, "%d-%d", &first, &last); n != 2 || err != nil || first < 1 || last < first || last > 65535 {
			return nil, fmt.Errorf("--toxiproxy-ports: %q is not a range of ports such as 20000-20031", f.Ports)
		}
		options = append(options, links.WithPorts(first, last))
	}
	if len(f.Upstreams) > 0 {
		upstreams := map[string]string{}
		for i, a := range f.Addresses {
			server, _, _ := strings.Cut(a, "/") // no chroot
			upstreams[server] = f.Upstreams[i]
		}
		options = append(options, links.WithUpstreams(upstreams))
	}
	return options, nil
}

func (f *ensembleFlags) kind() string {
	if f.Ensemble != "auto" {
		return f.Ensemble
	}
	if len(f.Addresses) > 0 {
		return "external"
	}
	return "local"
}

// installed returns an error unless the programs are installed that local servers need under the
// named faults. A command that makes many runs asks before the first.
func (f *ensembleFlags) installed(names []string) error {
	if f.kind() != "local" {
		return nil
	}
	if faults.List().AskFailpoints(names) {
		if _, err := ensemble.FindByteman(); err != nil {
			return err
		}
	}
	_, java := ensemble.FindJava(f.Java)
	_, zooKeeper := ensemble.FindZooKeeper(f.ZooKeeper)
	return withHint(cmp.Or(java, zooKeeper))
}

// installed returns an error unless the programs are installed that local servers need under the
// named faults, and the version to upgrade them to.
func (f *serversFlags) installed(names []string) error {
	if err := f.ensembleFlags.installed(names); err != nil || f.UpgradeTo == "" {
		return err
	}
	return upgradeRefused(ensemble.CheckUpgrade(f.ZooKeeper, f.UpgradeTo))
}

func (f *serversFlags) options(o map[string]string) {
	o["ensemble"] = f.Ensemble
	o["session-timeout"] = f.SessionTimeout.String()
	o["tick"] = f.Tick.String()
	o["sync-limit"] = fmt.Sprint(f.SyncLimit)
	if f.Voters != 3 {
		o["voters"] = fmt.Sprint(f.Voters)
	}
	if f.Reconfig {
		o["reconfig"] = "true"
	}
	if f.Observers > 0 {
		o["observers"] = fmt.Sprint(f.Observers)
	}
	if len(f.Addresses) > 0 {
		o["servers"] = strings.Join(f.Addresses, ",")
	}
	for name, value := range map[string]string{
		"image": f.Image, "zookeeper": f.ZooKeeper, "upgrade-to": f.UpgradeTo, "auth-file": f.AuthFile, "toxiproxy": links.WithoutSecrets(f.Toxiproxy), "toxiproxy-listen": f.Listen, "toxiproxy-ports": f.Ports,
		"toxiproxy-upstreams": strings.Join(f.Upstreams, ","),
	} {
		if value != "" {
			o[name] = value
		}
	}
}
