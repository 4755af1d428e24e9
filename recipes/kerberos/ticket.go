package kerberos

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"

	"github.com/zkverify/zkverify/internal/zkconn"
)

// ticket is a ticket for a server, with its key and its period of use.
type ticket struct {
	messages.Ticket
	key          types.EncryptionKey
	client       types.PrincipalName
	realm        string // the client's
	fresh, stale time.Time
}

// ticketFor returns a ticket for a server's principal. No other connection uses the ticket until
// the caller calls keep, so a ticket that a server refuses is not used again.
func (m *Mechanism) ticketFor(ctx context.Context, principal string) (ticket, error) {
	select {
	case m.asking <- struct{}{}:
	case <-ctx.Done():
		return ticket{}, errNoKDC
	}
	if t, ok := m.kept(principal); ok {
		<-m.asking
		return t, nil
	}
	type result struct {
		ticket
		err error
	}
	done := make(chan result, 1)
	go func() { // see "Goroutines" in the package documentation for its end
		defer func() { <-m.asking }()
		t, err := m.ask(principal)
		done <- result{t, err}
	}()
	select {
	case r := <-done:
		return r.ticket, r.err
	case <-ctx.Done():
		return ticket{}, errNoKDC
	}
}

var errNoKDC = errors.New("the KDC does not answer in time: check the kdc entries of the realm in krb5.conf, and the way there")

// kept removes a valid ticket from the kept ones, and returns it.
func (m *Mechanism) kept(principal string) (t ticket, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for list := m.tickets[principal]; len(list) > 0; {
		t, list = list[len(list)-1], list[:len(list)-1]
		m.tickets[principal] = list
		if now.Before(t.stale) && !now.Before(t.fresh) {
			return t, true
		}
	}
	return ticket{}, false
}

// keep keeps a ticket that a server has accepted.
func (m *Mechanism) keep(principal string, t ticket) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tickets[principal] = []ticket{t}
}

// ask asks the KDC for a ticket.
func (m *Mechanism) ask(principal string) (t ticket, err error) {
	defer func() {
		if recover() != nil { // gokrb5 panics on some malformed answers
			err = errors.New("what the KDC has answered cannot be read")
		}
	}()
	cl, granting, key, err := m.login()
	if err != nil {
		return ticket{}, err
	}
	defer cl.Destroy() // ends the goroutine that gokrb5 starts when a KDC refers to another realm
	realm := cl.Credentials.Domain()
	name := types.NewPrincipalName(nametype.KRB_NT_SRV_INST, principal)
	_, rep, err := cl.TGSREQGenerateAndExchange(name, realm, granting, key, false)
	if err != nil {
		return ticket{}, explain(err, realm, principal)
	}
	now := time.Now()
	return ticket{
		Ticket: rep.Ticket, key: rep.DecryptedEncPart.Key, client: cl.Credentials.CName(), realm: realm,
		fresh: now.Add(-time.Minute), stale: now.Add(rep.DecryptedEncPart.EndTime.Sub(now) * 9 / 10),
	}, nil
}

// login returns a client of gokrb5 and its ticket-granting ticket. gokrb5's own Login would
// start a goroutine that renews it.
func (m *Mechanism) login() (cl *client.Client, granting messages.Ticket, key types.EncryptionKey, err error) {
	if m.config.Keytab == "" {
		return m.cached()
	}
	kt, err := m.keytab()
	if err != nil {
		return nil, granting, key, zkconn.AuthFailed("%w", err)
	}
	cl = client.NewWithKeytab(kt.name, kt.realm, kt.Keytab, m.krb5, client.DisablePAFXFAST(true))
	req, err := messages.NewASReqForTGT(kt.realm, m.krb5, cl.Credentials.CName())
	if err != nil {
		return nil, granting, key, zkconn.AuthFailed("%w", err)
	}
	rep, err := cl.ASExchange(kt.realm, req, 0)
	if err != nil && strings.Contains(err.Error(), errorcode.Lookup(errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN)) {
		// The KDC has no ticket-granting service of that realm.
		return nil, granting, key, zkconn.AuthFailed("what krb5.conf names as the KDC of %s is that of another realm: check the realm of %s, and the kdc entries (%w)", kt.realm, kt.name, err)
	}
	if err != nil {
		return nil, granting, key, explain(err, kt.realm, kt.name)
	}
	return cl, rep.Ticket, rep.DecryptedEncPart.Key, nil
}

// cached implements login with the ticket of the credential cache.
func (m *Mechanism) cached() (cl *client.Client, granting messages.Ticket, key types.EncryptionKey, err error) {
	cache, err := m.ccache()
	if err != nil {
		return nil, granting, key, zkconn.AuthFailed("%w", err)
	}
	who, file := cache.GetClientPrincipalName().PrincipalNameString()+"@"+cache.GetClientRealm(), m.config.CCache
	entry, ok := cache.GetEntry(types.NewPrincipalName(nametype.KRB_NT_SRV_INST, "krbtgt/"+cache.GetClientRealm()))
	if !ok {
		return nil, granting, key, zkconn.AuthFailed("credential cache %s: it has no ticket-granting ticket of %s: run kinit", file, who)
	}
	if !time.Now().Before(entry.EndTime) {
		return nil, granting, key, zkconn.AuthFailed("credential cache %s: the ticket of %s has expired at %s: run kinit, or give a keytab", file, who, entry.EndTime.Format(time.RFC3339))
	}
	if cl, err = client.NewFromCCache(cache, m.krb5, client.DisablePAFXFAST(true)); err != nil {
		return nil, granting, key, zkconn.AuthFailed("credential cache %s: %w: run kinit", file, err)
	}
	err = granting.Unmarshal(entry.Ticket)
	return cl, granting, entry.Key, err
}

// explain adds advice to a KDC's error. gokrb5 passes on the error's text alone.
func explain(err error, realm, principal string) error {
	for code, advice := range map[int32]string{
		errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN: "the KDC of " + realm + " knows no server " + principal + ": set ServerPrincipal or Service to the principal in the servers' JAAS file, or connect to the servers by the names that their principals have",
		errorcode.KDC_ERR_C_PRINCIPAL_UNKNOWN: "the KDC of " + realm + " knows no client " + principal + ": check Principal and the keytab",
		errorcode.KDC_ERR_PREAUTH_FAILED:      "the KDC of " + realm + " refuses the key of " + principal + ": the keytab is older than the principal's key, make it anew with ktadd",
		errorcode.KRB_AP_ERR_SKEW:             "the clocks of this machine and of the KDC differ by too much: set them right",
		errorcode.KRB_AP_ERR_TKT_EXPIRED:      "the ticket has expired: run kinit, or give a keytab",
		errorcode.KDC_ERR_ETYPE_NOSUPP:        "the KDC has no key of " + principal + " of a kind that is supported: give it keys of AES",
	} {
		if strings.Contains(err.Error(), errorcode.Lookup(code)) {
			return zkconn.AuthFailed("%s (%w)", advice, err)
		}
	}
	if strings.Contains(err.Error(), "password/keytab incorrect") {
		return zkconn.AuthFailed("the keytab has another key of %s than the KDC of %s: make it anew with ktadd (%w)", principal, realm, err)
	}
	if strings.Contains(err.Error(), "not found in keytab") {
		return zkconn.AuthFailed("the keytab lacks the kind of key that the KDC of %s asks %s for: make it anew with ktadd (%w)", realm, principal, err)
	}
	if strings.Contains(err.Error(), "no KDCs defined in configuration") {
		return zkconn.AuthFailed("krb5.conf names no KDC of the realm %s: check the realm of %s, and the kdc entries (%w)", realm, principal, err)
	}
	return fmt.Errorf("the KDC of %s, asked for %s: %w", realm, principal, err)
}
