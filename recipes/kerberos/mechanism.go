package kerberos

import (
	"bytes"
	"context"
	"encoding/binary"
	"sync"

	"github.com/jcmturner/gokrb5/v8/asn1tools"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/gssapi"
	"github.com/jcmturner/gokrb5/v8/iana/chksumtype"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/iana/flags"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"

	"github.com/zkverify/zkverify/internal/zkconn"
)

// Mechanism is GSSAPI with Kerberos V5 (RFC 4752), for authentication alone. It implements
// recipes.SASLMechanism; its methods may be called from any goroutine. No print format of it
// shows a key.
type Mechanism struct {
	config Config
	krb5   *config.Config
	asking chan struct{} // capacity 1: a goroutine asks the KDC

	mu      sync.Mutex
	tickets map[string][]ticket // tickets that no connection uses now, by the server's principal
}

// Name returns GSSAPI.
func (*Mechanism) Name() string { return "GSSAPI" }

// String names the file that holds the client's keys or tickets.
func (m *Mechanism) String() string {
	if m.config.Keytab != "" {
		return "GSSAPI with the keytab " + m.config.Keytab
	}
	return "GSSAPI with the credential cache " + m.config.CCache
}

// GoString returns the same text as String.
func (m *Mechanism) GoString() string { return m.String() }

// Start implements recipes.SASLMechanism.
func (m *Mechanism) Start(ctx context.Context, server string) ([]byte, func([]byte) ([]byte, error), error) {
	principal := m.serverPrincipal(server)
	t, err := m.ticketFor(ctx, principal)
	if err != nil {
		return nil, nil, err
	}
	e := &exchange{m: m, principal: principal, ticket: t}
	first, err := e.request()
	if err != nil {
		return nil, nil, err
	}
	e.answer = e.verifyReply
	return first, e.next, nil
}

// exchange is the authentication of one connection.
type exchange struct {
	m         *Mechanism
	principal string
	ticket    ticket
	sent      types.Authenticator
	key       types.EncryptionKey // of the context
	flags     byte                // of the client's own wrap token
	answer    func(challenge []byte) ([]byte, error)
}

func (e *exchange) next(challenge []byte) (response []byte, err error) {
	defer func() {
		if recover() != nil { // gokrb5 panics on some malformed tokens
			err = errMalformed
		}
	}()
	return e.answer(challenge)
}

var errMalformed = zkconn.AuthFailed("the server's token is none of Kerberos: its mechanism is another, as a rule DIGEST-MD5; use that one (recipes.DigestMD5, or sasl:digest-md5 in a file)")

// The identifiers of the mechanism (RFC 1964, 1) and of the kinds of token (RFC 4121, 4.1).
var (
	oid      = []byte{6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 1, 2, 2}
	apReq    = []byte{1, 0}
	apRep    = []byte{2, 0}
	krbError = []byte{3, 0}
)

// request makes the first token: an AP-REQ that asks the server to prove itself.
func (e *exchange) request() ([]byte, error) {
	const mutual, integrity = 2, 32 // GSS_C_MUTUAL_FLAG, GSS_C_INTEG_FLAG
	var err error
	if e.sent, err = types.NewAuthenticator(e.ticket.realm, e.ticket.client); err != nil {
		return nil, err
	}
	checksum := make([]byte, 24) // RFC 4121, 4.1.1: no channel bindings
	binary.LittleEndian.PutUint32(checksum, 16)
	binary.LittleEndian.PutUint32(checksum[20:], mutual|integrity)
	e.sent.Cksum = types.Checksum{CksumType: chksumtype.GSSAPI, Checksum: checksum}
	request, err := messages.NewAPReq(e.ticket.Ticket, e.ticket.key, e.sent)
	if err != nil {
		return nil, err
	}
	types.SetFlag(&request.APOptions, flags.APOptionMutualRequired)
	body, err := request.Marshal()
	if err != nil {
		return nil, err
	}
	return asn1tools.AddASNAppTag(bytes.Join([][]byte{oid, apReq, body}, nil), 0), nil
}

// verifyReply verifies the server's proof, and returns the client's next token.
func (e *exchange) verifyReply(challenge []byte) ([]byte, error) {
	if challenge == nil {
		return nil, zkconn.AuthFailed("the server %s does not prove who it is: its log has the reason, and it lets clients go on whose authentication has failed (allowSaslFailedClients)", e.principal)
	}
	_, body, found := bytes.Cut(challenge, oid)
	if !found || len(challenge)-len(body) > 6+len(oid) {
		return nil, errMalformed
	}
	if failed, is := bytes.CutPrefix(body, krbError); is {
		var why messages.KRBError
		if err := why.Unmarshal(failed); err != nil {
			return nil, errMalformed
		}
		return nil, explain(why, e.ticket.realm, e.principal)
	}
	body, is := bytes.CutPrefix(body, apRep)
	var reply messages.APRep
	if !is || reply.Unmarshal(body) != nil {
		return nil, errMalformed
	}
	plain, err := crypto.DecryptEncPart(reply.EncPart, e.ticket.key, keyusage.AP_REP_ENCPART)
	if err != nil {
		return nil, e.impostor()
	}
	var part messages.EncAPRepPart
	if err := part.Unmarshal(plain); err != nil || part.CTime.Unix() != e.sent.CTime.Unix() || part.Cusec != e.sent.Cusec {
		return nil, e.impostor()
	}
	e.m.keep(e.principal, e.ticket)
	if e.key = e.ticket.key; len(part.Subkey.KeyValue) > 0 {
		const acceptorSubkey = 4
		e.key, e.flags = part.Subkey, acceptorSubkey
	}
	e.answer = e.chooseLayer
	return []byte{}, nil
}

func (e *exchange) impostor() error {
	return zkconn.AuthFailed("the server does not prove that it has the key of %s: it is not the server that it seems to be", e.principal)
}

// noLayer is the security layer "none" among those that a server offers (RFC 4752, 3.1).
const noLayer = 1

// chooseLayer answers the server's offer of security layers: the client chooses authentication
// alone.
func (e *exchange) chooseLayer(challenge []byte) ([]byte, error) {
	switch e.key.KeyType {
	case etypeID.RC4_HMAC, etypeID.RC4_HMAC_EXP, etypeID.DES3_CBC_SHA1_KD:
		return nil, zkconn.AuthFailed("the key of %s is of a kind that is not supported, %d: give it keys of AES", e.principal, e.key.KeyType)
	}
	offer, err := e.unwrap(challenge)
	if err != nil || len(offer) != 4 {
		return nil, errMalformed
	}
	if offer[0]&noLayer == 0 {
		return nil, zkconn.AuthFailed("the server offers no authentication alone: set javax.security.sasl.qop to auth there")
	}
	token, err := gssapi.NewInitiatorWrapToken([]byte{noLayer, 0, 0, 0}, e.key)
	if err != nil {
		return nil, err
	}
	token.Flags, token.SndSeqNum, token.CheckSum = e.flags, uint64(e.sent.SeqNumber), nil
	if err := token.SetCheckSum(e.key, keyusage.GSSAPI_INITIATOR_SEAL); err != nil {
		return nil, err
	}
	e.answer = func([]byte) ([]byte, error) { return nil, nil } // the server has accepted the token
	return token.Marshal()
}

// unwrap returns the payload of an unencrypted token of the server (RFC 4121, 4.2.4).
func (e *exchange) unwrap(b []byte) ([]byte, error) {
	const sealed = 2
	if len(b) > gssapi.HdrLen && b[2]&sealed == 0 {
		// The token's end may have been rotated to the front.
		body := b[gssapi.HdrLen:]
		moved := int(binary.BigEndian.Uint16(b[6:])) % len(body)
		b = bytes.Join([][]byte{b[:gssapi.HdrLen], body[moved:], body[:moved]}, nil)
	}
	var token gssapi.WrapToken
	if err := token.Unmarshal(b, true); err != nil {
		return nil, err
	}
	if token.Flags&sealed != 0 {
		return nil, errMalformed
	}
	if ok, err := token.Verify(e.key, keyusage.GSSAPI_ACCEPTOR_SEAL); !ok {
		return nil, err
	}
	return token.Payload, nil
}
