package kerberos

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/asn1tools"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/gssapi"
	"github.com/jcmturner/gokrb5/v8/iana/asnAppTag"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/msgtype"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

func aKey(b byte) types.EncryptionKey {
	return types.EncryptionKey{KeyType: etypeID.AES256_CTS_HMAC_SHA1_96, KeyValue: bytes.Repeat([]byte{b}, 32)}
}

// begun returns an exchange whose request has been sent.
func begun() *exchange {
	e := &exchange{m: &Mechanism{tickets: map[string][]ticket{}}, principal: "zookeeper/zk", ticket: ticket{key: aKey(1), stale: time.Now().Add(time.Hour)}}
	e.sent = types.Authenticator{CTime: time.Unix(1_700_000_000, 0).UTC(), Cusec: 4711, SeqNumber: 9}
	e.answer = e.verifyReply
	return e
}

// reply returns the AP-REP of a server with a key, with or without a subkey.
func reply(t testing.TB, key types.EncryptionKey, part messages.EncAPRepPart) []byte {
	t.Helper()
	plain, err := asn1.Marshal(part)
	if err != nil {
		t.Fatal(err)
	}
	data, err := crypto.GetEncryptedData(asn1tools.AddASNAppTag(plain, asnAppTag.EncAPRepPart), key, keyusage.AP_REP_ENCPART, 0)
	if err != nil {
		t.Fatal(err)
	}
	body, err := asn1.Marshal(messages.APRep{PVNO: 5, MsgType: msgtype.KRB_AP_REP, EncPart: data})
	if err != nil {
		t.Fatal(err)
	}
	return asn1tools.AddASNAppTag(bytes.Join([][]byte{oid, apRep, asn1tools.AddASNAppTag(body, asnAppTag.APREP)}, nil), 0)
}

// offer returns a server's wrap token, rotated by the number of bytes in moved.
func offer(t testing.TB, key types.EncryptionKey, layers byte, moved int) []byte {
	t.Helper()
	token := gssapi.WrapToken{Flags: 1, EC: 12, SndSeqNum: 3, Payload: []byte{layers, 0, 0, 0}}
	if err := token.SetCheckSum(key, keyusage.GSSAPI_ACCEPTOR_SEAL); err != nil {
		t.Fatal(err)
	}
	b, err := token.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	body := b[gssapi.HdrLen:]
	binary.BigEndian.PutUint16(b[6:], uint16(moved))
	at := len(body) - moved%len(body)
	return bytes.Join([][]byte{b[:gssapi.HdrLen], body[at:], body[:at]}, nil)
}

func TestAServerProvesItselfAndIsToldThatNoLayerIsWanted(t *testing.T) {
	for name, test := range map[string]struct {
		subkey types.EncryptionKey
		key    types.EncryptionKey
		flags  byte
		moved  int
	}{
		"with the ticket's key":      {types.EncryptionKey{}, aKey(1), 0, 0},
		"with a key of the server's": {aKey(2), aKey(2), 4, 0},
		"in a token that is rotated": {types.EncryptionKey{}, aKey(1), 0, 12},
		"in one that is rotated far": {types.EncryptionKey{}, aKey(1), 0, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			e := begun()
			token, err := e.next(reply(t, aKey(1), messages.EncAPRepPart{CTime: e.sent.CTime, Cusec: e.sent.Cusec, Subkey: test.subkey}))
			if err != nil || token == nil || len(token) > 0 {
				t.Fatalf("%x, %v", token, err)
			}
			if _, kept := e.m.kept("zookeeper/zk"); !kept {
				t.Error("the ticket is not kept")
			}
			if token, err = e.next(offer(t, test.key, 7, test.moved)); err != nil {
				t.Fatal(err)
			}
			var chosen gssapi.WrapToken
			if err := chosen.Unmarshal(token, false); err != nil {
				t.Fatal(err)
			}
			if ok, err := chosen.Verify(test.key, keyusage.GSSAPI_INITIATOR_SEAL); !ok || chosen.Flags != test.flags || chosen.SndSeqNum != 9 || !bytes.Equal(chosen.Payload, []byte{1, 0, 0, 0}) {
				t.Errorf("%+v: %v", chosen, err)
			}
			if token, err = e.next(nil); token != nil || err != nil {
				t.Errorf("%x, %v", token, err)
			}
		})
	}
}

func TestServersThatProveNothing(t *testing.T) {
	at := begun().sent
	for name, test := range map[string]struct {
		challenges [][]byte
		says       string
	}{
		"no token":                     {[][]byte{nil}, "allowSaslFailedClients"},
		"another key":                  {[][]byte{reply(t, aKey(3), messages.EncAPRepPart{CTime: at.CTime, Cusec: at.Cusec})}, "does not prove that it has the key"},
		"the reply to another request": {[][]byte{reply(t, aKey(1), messages.EncAPRepPart{CTime: at.CTime, Cusec: at.Cusec + 1})}, "does not prove that it has the key"},
		"text":                         {[][]byte{[]byte("realm=x")}, "none of Kerberos"},
		"nothing of the mechanism":     {[][]byte{append([]byte{0x60, 11}, oid...)}, "none of Kerberos"},
		"a wrap token of another key":  {[][]byte{reply(t, aKey(1), messages.EncAPRepPart{CTime: at.CTime, Cusec: at.Cusec}), offer(t, aKey(2), 1, 0)}, "none of Kerberos"},
		"no layer but encryption":      {[][]byte{reply(t, aKey(1), messages.EncAPRepPart{CTime: at.CTime, Cusec: at.Cusec}), offer(t, aKey(1), 4, 0)}, "offers no authentication alone"},
		"no wrap token":                {[][]byte{reply(t, aKey(1), messages.EncAPRepPart{CTime: at.CTime, Cusec: at.Cusec}), nil}, "none of Kerberos"},
	} {
		t.Run(name, func(t *testing.T) {
			e := begun()
			var err error
			for _, c := range test.challenges {
				_, err = e.next(c)
			}
			if !errors.Is(err, zk.ErrAuthFailed) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want %q", err, test.says)
			}
			if _, kept := e.m.kept("zookeeper/zk"); kept && len(test.challenges) == 1 {
				t.Error("the ticket is used again")
			}
		})
	}
}

// No token of a server causes a panic, or is accepted as a proof.
func FuzzToken(f *testing.F) {
	at := begun().sent
	whole := reply(f, aKey(1), messages.EncAPRepPart{CTime: at.CTime, Cusec: at.Cusec})
	f.Add(whole[:len(whole)-1])
	f.Add(offer(f, aKey(2), 1, 3))
	f.Add(bytes.Join([][]byte{{0x60, 20}, oid, krbError, {0x7e, 0}}, nil))
	f.Fuzz(func(t *testing.T, token []byte) {
		if bytes.Equal(token, whole) {
			return
		}
		if _, err := begun().next(token); err == nil {
			t.Errorf("%x passes for a proof", token)
		}
		e := begun()
		e.key, e.answer = aKey(1), e.chooseLayer
		if _, err := e.next(token); err == nil {
			t.Errorf("%x passes for an offer", token)
		}
	})
}
