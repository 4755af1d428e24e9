package failpoints

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
)

// JVMFlag returns a flag with which a JVM listens for rules on a port of loopback, and has
// the rules of a file from the beginning. jar is the path of Byteman's jar.
func JVMFlag(jar string, port int, file string) string {
	return fmt.Sprintf("-javaagent:%s=script:%s,listener:true,port:%d,address:127.0.0.1", jar, file, port)
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
	_, err := a.carryOut(ctx, "LOAD", rules)
	return err
}

// Unload removes rules that Load has put in force; it does nothing to others. Before that it
// looks for errors of all rules: a rule is checked only when the server first comes to its place.
func (a Agent) Unload(ctx context.Context, rules ...string) error {
	listed, err := a.ask(ctx, "LIST\n")
	if err != nil {
		return err
	}
	if failed.MatchString(listed) {
		err = fmt.Errorf("%w: %s", ErrRefused, strings.TrimSpace(listed))
	}
	_, removed := a.carryOut(ctx, "DELETE", rules)
	return cmp.Or(removed, err)
}

// carryOut sends rules with a command of Byteman, and returns the answer.
func (a Agent) carryOut(ctx context.Context, command string, rules []string) (answer string, err error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", command)
	for i, rule := range rules {
		fmt.Fprintf(&b, "SCRIPT zkverify-%d\n%sENDSCRIPT\n", i+1, rule)
	}
	fmt.Fprintf(&b, "END%s\n", command)
	answer, err = a.ask(ctx, b.String())
	if err == nil && failed.MatchString(notLoaded.ReplaceAllString(answer, "")) {
		err = fmt.Errorf("%w: %s", ErrRefused, strings.TrimSpace(answer))
	}
	return answer, err
}

// Set sets a system property of the JVM whose name begins with "org.jboss.byteman.".
func (a Agent) Set(ctx context.Context, property, value string) error {
	answer, err := a.ask(ctx, fmt.Sprintf("SETSYSPROPS\n%s=%s\nENDSETSYSPROPS\n", property, value))
	if err == nil && failed.MatchString(answer) {
		err = fmt.Errorf("%w: %s", ErrRefused, strings.TrimSpace(answer))
	}
	return err
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

// notLoaded matches the answer to the removal of a rule that is not in force.
var notLoaded = regexp.MustCompile(`(?m)^ERROR failed to find loaded rule with name .*$`)

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
