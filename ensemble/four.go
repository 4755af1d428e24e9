package ensemble

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// fourLimit bounds a four-letter command: a paused server accepts connections
// and answers nothing. maxFour bounds its answer: wchp names every watch.
const (
	fourLimit = 5 * time.Second
	maxFour   = 16 << 20
)

// Four sends a four-letter command, such as "srvr", "mntr", "wchs" or "wchp", to a server
// and returns its whole answer. It returns when ctx ends, and after five seconds at most.
// It returns ErrNotZooKeeper for an answer of more than 16 MiB. A server that does not
// allow the command answers with a sentence that says so.
func Four(ctx context.Context, s Server, command string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, fourLimit)
	defer cancel()
	conn, err := s.Dial(ctx)
	if err != nil {
		return "", fmt.Errorf("%s to %s: %w", command, s.Addr, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	answer, err := ask(conn, command)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("%s to %s: %w", command, s.Addr, err)
	}
	return answer, nil
}

func ask(conn net.Conn, command string) (string, error) {
	if _, err := io.WriteString(conn, command); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(io.LimitReader(conn, maxFour+1))
	switch {
	case len(answer) > maxFour:
		return "", fmt.Errorf("%w: it answers with more than %d MiB%s", ErrNotZooKeeper, maxFour>>20, describe(answer[:64]))
	case err == nil && len(answer) == 0:
		err = io.ErrUnexpectedEOF // a link whose upstream is gone closes at once
	}
	return string(answer), err
}

// Status is a server's answer to "srvr".
type Status struct {
	Version string // such as "3.8.0", without the build
	Mode    string // "leader", "follower", "observer" or "standalone"
	Zxid    int64  // the last transaction that the server knows of
	Epoch   int64  // the leader's term that Zxid belongs to
}

// Serving reports whether the server takes part in a quorum and serves clients.
func (s Status) Serving() bool { return s.Mode != "" }

// Leads reports whether the server leads, even if only itself.
func (s Status) Leads() bool { return s.Mode == "leader" || s.Mode == "standalone" }

// AskStatus asks a server for its status. A server that answers but serves no client, as
// during an election, has a Status without a Mode. So has a server that does not allow
// the command, for which allowed is false.
func AskStatus(ctx context.Context, s Server) (status Status, allowed bool, err error) {
	answer, err := Four(ctx, s, "srvr")
	if err != nil {
		return Status{}, false, err
	}
	status = parseStatus(answer)
	forbidden := strings.Contains(answer, "not in the whitelist")
	if status == (Status{}) && !forbidden && !strings.Contains(answer, "ZooKeeper instance is not currently serving") {
		return Status{}, false, fmt.Errorf("srvr to %s: %w%s", s.Addr, ErrNotZooKeeper, describe([]byte(answer)))
	}
	return status, !forbidden, nil
}

func parseStatus(answer string) Status {
	var s Status
	for line := range strings.Lines(answer) {
		name, value, found := strings.Cut(strings.TrimSpace(line), ": ")
		if !found {
			continue
		}
		switch name {
		case "Zookeeper version":
			// "3.8.0-5a02a05eddb59aee6ac762f7ea82e92a68eb9c0f, built on 2022-02-25 08:49 UTC"
			version, _, _ := strings.Cut(value, ",")
			s.Version, _, _ = strings.Cut(version, "-")
		case "Mode":
			s.Mode = value
		case "Zxid":
			if zxid, err := strconv.ParseInt(strings.TrimPrefix(value, "0x"), 16, 64); err == nil {
				s.Zxid, s.Epoch = zxid, zxid>>32
			}
		}
	}
	return s
}
