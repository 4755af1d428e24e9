package session

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

// race is a connection to a server that is given by name, which may have several addresses.
// A dialer takes the first address that accepts. The server there may be frozen, or without
// a quorum, while another is healthy. So race sends the connect request over a connection
// that the dialer opens to the name. When there is no answer soon, or none will come, it
// sends the request over one more connection for each of the other addresses, one after the
// other. The first server that answers wins, and the race goes on as the connection to it.
// All connections together have the time of a single one (RFC 8305 does the same for the
// opening of connections only).
//
// A server that loses may have taken the request: a new session that no client uses
// expires, and an old one moves back as with every change of servers.
//
// Goroutines: one starts the others, one for each connection. They belong to the session,
// and end when the race is decided, given up or closed, or when its time is over.
type race struct {
	s                         *Session
	cfg                       *Config // for opening connections
	network, addr, host, port string
	patience                  time.Duration
	ctx                       context.Context // ends when the race is decided
	cancel                    context.CancelFunc
	decided                   chan struct{} // closed when there is a winner, or will never be one

	mu      sync.Mutex // locked alone
	begun   bool
	winner  net.Conn
	answer  []byte  // of the winner, still to be read
	errs    []error // of the connections that lost
	strange net.Conn
	came    []byte // the bytes that came over strange, which are no answer of ZooKeeper's
}

func newRace(s *Session, cfg *Config, network, addr, host, port string, patience time.Duration) *race {
	r := &race{s: s, cfg: cfg, network: network, addr: addr, host: host, port: port, patience: patience, decided: make(chan struct{})}
	r.ctx, r.cancel = context.WithTimeout(s.dials, patience)
	return r
}

// spacing returns the time between the beginnings of two connections. rest is how many
// connections are still to begin. The time is long, so that a slow server can answer: two
// servers that take the same session send the client from one to the other.
func (r *race) spacing(rest int) time.Duration {
	return r.patience / time.Duration(rest+3)
}

// run starts the connections, the first to the name.
func (r *race) run(request []byte) {
	defer r.decide()
	var all sync.WaitGroup
	lost := make(chan struct{}, 1) // one has lost
	start := func(cfg *Config, where string) {
		all.Add(1)
		if !r.s.Spawn(func() {
			defer all.Done()
			var err error
			r.cfg.Callbacks.Run(func() { err = r.contend(cfg, request) }) // the user's: TLS, SASL, the dialer's connection
			if err != nil {
				r.note(where, err)
				select {
				case lost <- struct{}{}:
				default:
				}
			}
		}) {
			all.Done()
		}
	}
	start(r.cfg, "")
	if r.await(lost, r.spacing(0)) && !r.unknown() {
		others := r.others()
		for i, address := range others {
			start(r.cfg.toward(address), address)
			if !r.await(lost, r.spacing(len(others)-i)) {
				break
			}
		}
	}
	all.Wait()
}

// others returns the addresses of the name except the one that a dialer takes first.
func (r *race) others() (all []string) {
	var hosts []string
	var err error
	r.cfg.Callbacks.Run(func() { hosts, err = r.cfg.Lookup(r.ctx, r.host) }) // the user's, if net.DefaultResolver is
	if err != nil || len(hosts) < 2 {
		return nil // the dialer reports an error of the name
	}
	for _, host := range hosts[1:] {
		all = append(all, net.JoinHostPort(host, r.port))
	}
	return all
}

// await waits until the next connection may begin: for d, or until a connection has lost.
// It returns false when no further connection is needed.
func (r *race) await(lost <-chan struct{}, d time.Duration) bool {
	next := time.NewTimer(d)
	defer next.Stop()
	select {
	case <-next.C:
	case <-lost:
	case <-r.ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.winner == nil && r.ctx.Err() == nil
}

// unknown reports whether the name does not exist.
func (r *race) unknown() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	var dns *net.DNSError
	return len(r.errs) > 0 && errors.As(r.errs[0], &dns)
}

// contend opens a connection, sends the request and waits for the answer.
func (r *race) contend(cfg *Config, request []byte) error {
	conn, err := cfg.open(r.ctx, r.network, r.addr, r.patience)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(r.ctx, func() { conn.Close() })
	var answer []byte
	if _, err = conn.Write(request); err == nil {
		answer, err = readAnswer(conn)
	}
	if !stop() { // the race is over
		conn.Close()
		if r.s.dials.Err() == nil && errors.Is(r.ctx.Err(), context.DeadlineExceeded) {
			return fmt.Errorf("no answer within %v: %w", r.patience, os.ErrDeadlineExceeded)
		}
		return context.Cause(r.ctx)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.winner != nil:
		conn.Close()
		return net.ErrClosed
	case err == nil:
		r.winner, r.answer = conn, answer
		r.cancel() // the others end
		close(r.decided)
		return nil
	case len(answer) > 0 && r.strange == nil:
		r.strange, r.came = conn, answer
		return err
	}
	conn.Close()
	return err
}

// readAnswer reads the answer to a connect request. With an error it returns the bytes that
// have come.
func readAnswer(conn net.Conn) ([]byte, error) {
	frame := make([]byte, 4+maxHandshake)
	n, err := io.ReadFull(conn, frame[:4])
	if err != nil {
		return frame[:n], err
	}
	size := int(int32(binary.BigEndian.Uint32(frame)))
	if size < minHandshake || size > maxHandshake {
		return frame[:n], fmt.Errorf("it answered with a frame of %d bytes", size)
	}
	more, err := io.ReadFull(conn, frame[4:4+size])
	return frame[:4+more], err
}

// note records why a connection has lost. where is the connection's address, and "" for the
// connection to the name.
func (r *race) note(where string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if where != "" && !strings.Contains(err.Error(), where) {
		err = fmt.Errorf("%s: %w", where, err)
	}
	r.errs = append(r.errs, err)
}

// decide ends the race. Without a winner, a connection that has answered at all becomes the
// winner, so that its reader reports the strange answer.
func (r *race) decide() {
	r.cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.winner != nil && r.strange != nil:
		r.strange.Close()
	case r.winner != nil:
	case r.strange != nil:
		r.winner, r.answer = r.strange, r.came
		fallthrough
	default:
		close(r.decided)
	}
}

// Write begins the race with its first packet, the connect request.
func (r *race) Write(p []byte) (int, error) {
	r.mu.Lock()
	first := !r.begun
	r.begun = true
	winner := r.winner
	r.mu.Unlock()
	switch {
	case winner != nil:
		return winner.Write(p)
	case !first:
		return 0, net.ErrClosed
	}
	request := append([]byte(nil), p...)
	if !r.s.Spawn(func() { r.run(request) }) {
		return 0, ErrEnded
	}
	return len(p), nil
}

// Read waits for the winner, and reads the bytes that it sends.
func (r *race) Read(p []byte) (int, error) {
	<-r.decided // at the latest when its time is over
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.answer) > 0 {
		n := copy(p, r.answer)
		r.answer = r.answer[n:]
		return n, nil
	}
	winner, errs := r.winner, r.errs
	if winner == nil && len(errs) == 1 {
		return 0, errs[0]
	} else if winner == nil {
		return 0, Errors(errs)
	}
	r.mu.Unlock()
	defer r.mu.Lock()
	return winner.Read(p)
}

// Close ends the race, or the connection of its winner.
func (r *race) Close() error {
	r.cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.begun {
		r.begun = true
		close(r.decided)
	}
	if r.strange != nil {
		_ = r.strange.Close()
	}
	if r.winner != nil {
		return r.winner.Close()
	}
	return nil
}

// one returns the winner, or nil if there is none.
func (r *race) one() net.Conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.winner
}

// LocalAddr implements net.Conn.
func (r *race) LocalAddr() net.Addr {
	if winner := r.one(); winner != nil {
		return winner.LocalAddr()
	}
	return nil
}

// RemoteAddr implements net.Conn.
func (r *race) RemoteAddr() net.Addr {
	if winner := r.one(); winner != nil {
		return winner.RemoteAddr()
	}
	return nil
}

// SetDeadline implements net.Conn. Until the race is decided its own time bounds it.
func (r *race) SetDeadline(t time.Time) error { return r.bound(net.Conn.SetDeadline, t) }

// SetReadDeadline implements net.Conn, as SetDeadline does.
func (r *race) SetReadDeadline(t time.Time) error { return r.bound(net.Conn.SetReadDeadline, t) }

// SetWriteDeadline implements net.Conn, as SetDeadline does.
func (r *race) SetWriteDeadline(t time.Time) error { return r.bound(net.Conn.SetWriteDeadline, t) }

func (r *race) bound(set func(net.Conn, time.Time) error, t time.Time) error {
	if winner := r.one(); winner != nil {
		return set(winner, t)
	}
	return nil
}
