package docker

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/moby/moby/client"
)

// Labels of every container and network that Start makes: the process that started it,
// and its machine.
const (
	machineLabel = "com.github.zkverify.machine"
	processLabel = "com.github.zkverify.process"
)

// pid is the number of this process; tests replace it.
var pid = os.Getpid()

func labels() map[string]string {
	return map[string]string{machineLabel: machine(), processLabel: strconv.Itoa(pid)}
}

// machine returns a name of this machine and, where it is known, of its current boot: the
// number of a process means nothing elsewhere.
func machine() string {
	name, _ := os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return name + "/" + strings.TrimSpace(string(boot))
}

// removeLeftovers removes the containers and networks of this machine's processes that
// have ended. Another process may do so at the same time.
func (e *Ensemble) removeLeftovers(ctx context.Context) error {
	mine := make(client.Filters).Add("label", machineLabel+"="+machine())
	containers, err := e.docker.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: mine})
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range containers.Items {
		if ended(c.Labels[processLabel]) {
			_, err := e.docker.ContainerRemove(ctx, c.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
			errs = append(errs, unlessGone(err))
		}
	}
	networks, err := e.docker.NetworkList(ctx, client.NetworkListOptions{Filters: mine})
	errs = append(errs, err)
	for _, n := range networks.Items {
		if ended(n.Labels[processLabel]) {
			_, err := e.docker.NetworkRemove(ctx, n.ID, client.NetworkRemoveOptions{})
			errs = append(errs, unlessGone(err))
		}
	}
	return errors.Join(errs...)
}

// ended reports whether no process of this number exists.
func ended(process string) bool {
	pid, err := strconv.Atoi(process)
	return err == nil && pid != os.Getpid() && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
