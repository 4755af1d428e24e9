package recipes_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

func TestServersAreAConnectString(t *testing.T) {
	for _, c := range []struct {
		elements []string
		servers  []string
		chroot   string
	}{
		{[]string{"zk1:2181"}, []string{"zk1:2181"}, ""},
		{[]string{"zk1"}, []string{"zk1:2181"}, ""},
		{[]string{"zk1:2181,zk2:2182,zk_3.example.com"}, []string{"zk1:2181", "zk2:2182", "zk_3.example.com:2181"}, ""},
		{[]string{"zk1:2181", "zk2:2181"}, []string{"zk1:2181", "zk2:2181"}, ""},
		{[]string{"zk1:2181,zk2:2181", "zk3:2181"}, []string{"zk1:2181", "zk2:2181", "zk3:2181"}, ""},
		{[]string{"zk1:2181,zk2:2181/app/locks"}, []string{"zk1:2181", "zk2:2181"}, "/app/locks"},
		{[]string{"zk1:2181", "zk2:2181/app"}, []string{"zk1:2181", "zk2:2181"}, "/app"},
		{[]string{"zk1/app"}, []string{"zk1:2181"}, "/app"},
		{[]string{"zk1:2181/"}, []string{"zk1:2181"}, ""},
		{[]string{"[::1]:2181,[2001:db8::1],10.0.0.1:65535"}, []string{"[::1]:2181", "[2001:db8::1]:2181", "10.0.0.1:65535"}, ""},
		{[]string{"[fe80::1%eth0]:2181/app"}, []string{"[fe80::1%eth0]:2181"}, "/app"},
	} {
		servers, chroot, err := recipes.ParseServers(c.elements)
		if err != nil || !slices.Equal(servers, c.servers) || chroot != c.chroot {
			t.Errorf("%q: %q, %q, %v", c.elements, servers, chroot, err)
		}
	}
}

// Text that is not a connect string is refused at once, with the reason.
func TestWhatIsNoConnectStringIsRefusedAtOnce(t *testing.T) {
	for _, c := range []struct {
		elements []string
		says     string
	}{
		{nil, "there are none"},
		{[]string{""}, "there are none"},
		{[]string{"", ""}, "a server is empty"},
		{[]string{"a:2181", ""}, "a server is empty"},
		{[]string{"a:2181,,b:2181"}, "a server is empty"},
		{[]string{",a:2181"}, "a server is empty"},
		{[]string{"/app"}, "a server is empty"},
		{[]string{"zk://a:2181/mesos"}, "is a URL"},
		{[]string{"tcp://a:2181"}, "is a URL"},
		{[]string{"a:2181, b:2181"}, "has a space"},
		{[]string{" a:2181"}, "has a space"},
		{[]string{"a:2181\n"}, "has a space"},
		{[]string{"a\x00:2181"}, "another character"},
		{[]string{"a\u200b:2181"}, "another character"},
		{[]string{"a:"}, "no port"},
		{[]string{"a:0"}, "no port"},
		{[]string{"a:02181"}, "no port"},
		{[]string{"a:65536"}, "no port"},
		{[]string{"a:-1"}, "no port"},
		{[]string{"a:2181x"}, "no port"},
		{[]string{"a:client"}, "no port"},
		{[]string{":2181"}, "no name"},
		{[]string{"a;b:2181"}, "no name"},
		{[]string{"user@a:2181"}, "no name"},
		{[]string{"::1"}, "brackets"},
		{[]string{"::1:2181"}, "brackets"},
		{[]string{"a:2181:3000"}, "brackets"},
		{[]string{"[a]:2181"}, "no IPv6 address"},
		{[]string{"[10.0.0.1]:2181"}, "no IPv6 address"},
		{[]string{"[::1"}, "not host:port"},
		{[]string{"[::1]2181"}, "not host:port"},
		{[]string{"a:2181/app", "b:2181/app"}, "behind its chroot"},
		{[]string{"a:2181/app", "b:2181"}, "behind its chroot"},
		{[]string{"a:2181/app,b:2181"}, "behind its chroot"},
		{[]string{"a:2181//app"}, "no path of ZooKeeper"},
		{[]string{"a:2181/app/"}, "no path of ZooKeeper"},
		{[]string{"a:2181/../app"}, "no path of ZooKeeper"},
	} {
		if _, _, err := recipes.ParseServers(c.elements); !errors.Is(err, recipes.ErrBadServers) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v", c.elements, err)
		}
		if _, err := recipes.Connect(t.Context(), c.elements); !errors.Is(err, recipes.ErrBadServers) {
			t.Errorf("Connect to %q: %v", c.elements, err)
		}
	}
}

// The chroot is the root of the client's namespace.
func TestAChrootIsTheRootOfTheNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		list := strings.Join(e.Servers(), ",")
		for _, c := range []struct {
			servers string
			options []recipes.Option
			want    string
		}{
			{list, nil, "/l"},
			{list + "/app", nil, "/app/l"},
			{list + "/app", []recipes.Option{recipes.WithNamespace("/team")}, "/app/team/l"},
		} {
			client, err := recipes.Connect(t.Context(), []string{c.servers}, append(c.options, recipes.WithDialer(e.Client("one").DialContext))...)
			if err != nil {
				t.Fatal(err)
			}
			l := acquire(t, t.Context(), recipes.NewMutex(client, "/l"))
			if l.Path() != c.want {
				t.Errorf("%s has %s", c.servers, l.Path())
			}
			_ = client.Close(t.Context())
		}
		if _, err := recipes.Connect(t.Context(), []string{list + "/app"}, recipes.WithNamespace("team")); !errors.Is(err, recipes.ErrBadPath) {
			t.Errorf("a bad namespace below a chroot: %v", err)
		}
	})
}

// The servers and the chroot that ParseServers returns form a connect string that parses to the
// same servers and chroot.
func FuzzParseServers(f *testing.F) {
	for _, text := range []string{"zk1,zk2:2182/app", "[::1],[fe80::1%eth0]:2181/a/b", "a:02181", "a:2181,", "::1", "[a]:1/"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		servers, chroot, err := recipes.ParseServers([]string{text})
		if err != nil {
			if !errors.Is(err, recipes.ErrBadServers) {
				t.Error(err)
			}
			return
		}
		again, root, err := recipes.ParseServers([]string{strings.Join(servers, ",") + chroot})
		if err != nil || len(servers) == 0 || !slices.Equal(again, servers) || root != chroot {
			t.Errorf("%q is %q and %q, which is %q and %q: %v", text, servers, chroot, again, root, err)
		}
	})
}
