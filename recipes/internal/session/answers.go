package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"
)

// ServerError is an error with which a server answers a request. The recipes' alias
// documents it.
type ServerError struct {
	Code int32
	Name string // the name in KeeperException.Code, without underscores; "" if there is none

	says   string
	known  error // go-zookeeper's error for the code; nil: none
	undone bool  // the request was certainly not carried out
}

// Error returns a description of the error, with ZooKeeper's name and number for it.
func (e *ServerError) Error() string {
	text := "zk: " + e.says
	if e.known != nil {
		text = e.known.Error()
	}
	if e.Name == "" {
		return fmt.Sprintf("%s (%d)", text, e.Code)
	}
	return fmt.Sprintf("%s (%s, %d)", text, e.Name, e.Code)
}

// Unwrap returns go-zookeeper's error for the code, or nil if there is none.
func (e *ServerError) Unwrap() error { return e.known }

// The codes that are handled, not only reported. No server sends tooLarge: it stands for an
// answer that is larger than the client takes.
const (
	unimplemented  = -6
	sessionExpired = -112
	closing        = -116
	sessionMoved   = -118
	authDemanded   = -124
	throttled      = -127
	tooLarge       = -1000
)

// serverErrors holds the error codes of servers, of ZooKeeper 3.8 and 3.9.
var serverErrors = make(map[int32]*ServerError)

func init() {
	for _, e := range []ServerError{
		{-1, "SystemError", "system error", nil, false},
		{-2, "RuntimeInconsistency", "runtime inconsistency", nil, false},
		{-3, "DataInconsistency", "data inconsistency", nil, false},
		{-4, "ConnectionLoss", "the server has lost a connection", nil, false},
		{-5, "MarshallingError", "the server cannot read the request", nil, true},
		{unimplemented, "Unimplemented", "the server does not have the operation", nil, true},
		{-7, "OperationTimeout", "operation timeout", nil, false},
		{-8, "BadArguments", "", zk.ErrBadArguments, true},
		{-9, "InvalidState", "invalid state", nil, false},
		{-12, "UnknownSession", "the server does not know the session", nil, false},
		{-13, "NewConfigNoQuorum", "no quorum of the new configuration", nil, true},
		{-14, "ReconfigInProgress", "a reconfiguration is under way", nil, true},
		{-100, "ApiError", "", zk.ErrAPIError, false},
		{-101, "NoNode", "", zk.ErrNoNode, true},
		{-102, "NoAuth", "", zk.ErrNoAuth, true},
		{-103, "BadVersion", "", zk.ErrBadVersion, true},
		{-108, "NoChildrenForEphemerals", "", zk.ErrNoChildrenForEphemerals, true},
		{-110, "NodeExists", "", zk.ErrNodeExists, true},
		{-111, "NotEmpty", "", zk.ErrNotEmpty, true},
		{sessionExpired, "SessionExpired", "", zk.ErrSessionExpired, false},
		{-113, "InvalidCallback", "invalid callback", nil, false},
		{-114, "InvalidAcl", "", zk.ErrInvalidACL, true},
		{-115, "AuthFailed", "", zk.ErrAuthFailed, true},
		{closing, "Closing", "", zk.ErrClosing, false},
		{-117, "Nothing", "", zk.ErrNothing, false},
		{sessionMoved, "SessionMoved", "", zk.ErrSessionMoved, true},
		{-119, "NotReadOnly", "the server has lost its quorum and answers reads alone", nil, true},
		{-120, "EphemeralOnLocalSession", "ephemeral nodes need a global session, and the servers keep this one local (localSessionsEnabled without localSessionsUpgradingEnabled)", nil, true},
		{-121, "NoWatcher", "no such watch", nil, true},
		{-122, "RequestTimeout", "request timeout", nil, false},
		{-123, "ReconfigDisabled", "", zk.ErrReconfigDisabled, true},
		{authDemanded, "SessionClosedRequireSaslAuth", "the server demands an authentication of another scheme: see its enforce.auth.schemes, or sessionRequireClientSASLAuth, and give WithSASL or WithAuth", nil, true},
		{-125, "QuotaExceeded", "the quota of a node above is used up", nil, true},
		{throttled, "ThrottledOp", "the server has too much to do and has not carried out the request", nil, true},
	} {
		serverErrors[e.Code] = &e
	}
	errAuthRequired = fmt.Errorf("%w: %w", zk.ErrAuthFailed, serverErrors[authDemanded])
}

// errAuthRequired is the error of a client that has authenticated by none of the schemes
// that a server demands. A server with enforce.auth.enabled or sessionRequireClientSASLAuth
// answers every request but an authentication with it, and then ends the connection
// (AuthenticationHelper.enforceAuthentication).
var errAuthRequired error

// serverError returns the error of a code.
func serverError(code int32) *ServerError {
	if e := serverErrors[code]; e != nil {
		return e
	}
	return &ServerError{Code: code, says: "unknown error"}
}

// unsent is an error of a request that go-zookeeper has not sent, or of a step around a
// request.
type unsent struct{ error }

func (u unsent) Unwrap() error { return u.error }

// Outcome converts an error of go-zookeeper to the error of the request. go-zookeeper
// returns a server's error that it does not know only as text.
func Outcome(err error) error {
	var e *ServerError
	switch {
	case err == nil, leavesOpen(err), errors.As(err, &e):
		return err
	case errors.Is(err, zk.ErrShortBuffer):
		return ErrTooLarge // the request does not fit into the buffer
	}
	for _, e := range serverErrors {
		if e.known != nil && err == e.known { //nolint:errorlint // a wrapped error has been converted already
			return e
		}
	}
	if text, unknown := strings.CutPrefix(err.Error(), "unknown error: "); unknown {
		if code, err := strconv.ParseInt(text, 10, 32); err == nil && code == tooLarge {
			return ErrTooLarge
		} else if err == nil {
			return serverError(int32(code))
		}
	}
	return unsent{err}
}

// leavesOpen reports whether err leaves open whether a request was carried out: the
// connection has ended. Servers' own errors with that meaning do not reach it, see
// wireConn.reply.
func leavesOpen(err error) bool {
	for _, end := range []error{
		zk.ErrConnectionClosed, zk.ErrClosing, zk.ErrNoServer, zk.ErrSessionExpired, zk.ErrSessionMoved,
		io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed,
	} {
		if err == end { //nolint:errorlint // a ServerError is an answer, although it may wrap one of these
			return true
		}
	}
	var network *net.OpError
	return errors.As(err, &network)
}

// Answered reports whether err is a server's answer, or an error of a request that was
// never sent and will not be. Any other error leaves open whether the request was carried
// out, or is the error of a context.
func Answered(err error) bool {
	var e *ServerError
	var u unsent
	if errors.As(err, &e) || errors.As(err, &u) {
		return true
	}
	for _, own := range []error{
		ErrEnded, ErrClosed, ErrTooLarge, ErrBadPath,
		zk.ErrNoNode, zk.ErrNodeExists, zk.ErrNoAuth, zk.ErrBadVersion, // which the recipes return themselves
	} {
		if errors.Is(err, own) {
			return true
		}
	}
	return false
}

// Undone reports whether err says that the request was certainly not carried out. It is
// true of server errors that refuse the request for a reason, and false of errors of the
// servers themselves.
func Undone(err error) bool {
	if err == nil {
		return false
	}
	var e *ServerError
	if errors.As(err, &e) {
		return e.undone
	}
	return Answered(err) || errors.Is(err, zk.ErrNoServer)
}

// putOff reports whether err says that the server put the request off: it was not carried
// out, and may be when it is made later.
func putOff(err error) bool { return isCode(err, throttled) }

func isCode(err error, code int32) bool {
	var e *ServerError
	return errors.As(err, &e) && e.Code == code
}

// sendsAway reports whether a code means that the session is over at this server.
func sendsAway(code int32) bool {
	return code == sessionExpired || code == sessionMoved || code == closing
}

// partError returns the first error among the results in the reply to a multi, and 0 if
// there is none or if the request was no multi. The reply has been checked.
func partError(op int32, body []byte) int32 {
	const size = 9 + 4 // int type, bool done, int err; and the error again
	for ; op == opMulti && len(body) >= size && int32(binary.BigEndian.Uint32(body)) == opError && body[4] == 0; body = body[size:] {
		if code := int32(binary.BigEndian.Uint32(body[9:])); code != 0 {
			return code
		}
	}
	return 0
}

// createdPath returns the path in the reply to a create, or to a multi that begins with
// one, and "" for other replies and for paths that are cut off.
//
// The header of such a reply has the transaction of the create itself:
// FinalRequestProcessor takes the zxid that the tree has processed last, right after it has
// applied this one, and CommitProcessor applies writes one by one. So a token needs no
// request of its own.
func createdPath(op int32, body []byte) string {
	if op == opMulti {
		const header = 9 // int type, bool done, int err
		if len(body) < header || binary.BigEndian.Uint32(body) != opCreate {
			return ""
		}
		body = body[header:]
	} else if op != opCreate {
		return ""
	}
	if len(body) < 4 {
		return ""
	}
	n := int(int32(binary.BigEndian.Uint32(body)))
	if body = body[4:]; n < 0 || n > len(body) {
		return ""
	}
	return string(body[:n])
}
