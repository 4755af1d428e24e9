package failpoints

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
)

// JVMFlag returns a flag with which a JVM listens for rules on a port of loopback. jar is
// the path of Byteman's jar. There are no rules at first, and the server's code is
// unchanged.
func JVMFlag(jar string, port int) string {
	return fmt.Sprintf("-javaagent:%s=listener:true,port:%d,address:127.0.0.1", jar, port)
}

// ErrRefused is returned when a JVM does not accept a rule, or has not carried it out.
// The error that wraps it quotes Byteman.
var ErrRefused = errors.New("a rule of Byteman cannot be carried out")

// Agent is Byteman in the JVM of a server that was started with [JVMFlag]. The methods take
// one connection each.
type Agent struct {
	Addr string // host:port
}

// Load puts rules in force, beside those that are in force already.
func (a Agent) Load(ctx context.Context, rules ...string) error {
	var b strings.Builder
	b.WriteString("LOAD\n")
	for i, rule := range rules {
		fmt.Fprintf(&b, "SCRIPT zkverify-%d\n%sENDSCRIPT\n", i+1, rule)
	}
	b.WriteString("ENDLOAD\n")
	answer, err := a.ask(ctx, b.String())
	if err != nil {
		return err
	}
	if failed.MatchString(answer) {
		return fmt.Errorf("%w: %s", ErrRefused, strings.TrimSpace(answer))
	}
	return nil
}

// Clear removes all rules. Before that it looks for errors of the rules: a rule is
// checked only when the server first comes to its place.
func (a Agent) Clear(ctx context.Context) error {
	listed, err := a.ask(ctx, "LIST\n")
	if err != nil {
		return err
	}
	removed, err := a.ask(ctx, "DELETEALL\n")
	switch {
	case err != nil:
		return err
	case failed.MatchString(listed):
		return fmt.Errorf("%w: %s", ErrRefused, strings.TrimSpace(listed))
	case failed.MatchString(strings.Replace(removed, nothingToRemove, "", 1)):
		return fmt.Errorf("%w: %s", ErrRefused, strings.TrimSpace(removed))
	}
	return nil
}

// Check returns nil if Byteman answers.
func (a Agent) Check(ctx context.Context) error {
	answer, err := a.ask(ctx, "VERSION\n")
	if err == nil && failed.MatchString(answer) {
		return fmt.Errorf("ask Byteman at %s: %s", a.Addr, strings.TrimSpace(answer))
	}
	return err
}

// failed matches an answer that reports an error: of a request, of the place of a rule,
// or of its text.
var failed = regexp.MustCompile(`(?m)^(ERROR|EXCEPTION|VerifyError|threw |failed to )`)

const nothingToRemove = "ERROR No rule scripts to remove"

// ask sends a request and returns the answer, which ends with the line OK.
func (a Agent) ask(ctx context.Context, request string) (string, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", a.Addr)
	if err != nil {
		return "", fmt.Errorf("ask Byteman at %s: %w", a.Addr, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if _, err := io.WriteString(conn, request); err != nil {
		return "", fmt.Errorf("ask Byteman at %s: %w", a.Addr, err)
	}
	answer, err := io.ReadAll(conn)
	text, whole := strings.CutSuffix(string(answer), "OK\n")
	if !whole {
		return "", fmt.Errorf("ask Byteman at %s: the answer is cut off: %w", a.Addr, errors.Join(context.Cause(ctx), err, io.ErrUnexpectedEOF))
	}
	return text, nil
}
