package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/zkverify/zkverify/recipes"
)

// recipesLibrary is package recipes, with options for every mutex.
type recipesLibrary struct {
	options []recipes.LockOption
}

func (r recipesLibrary) connect(ctx context.Context, server string) (session, error) {
	client, err := recipes.Connect(ctx, []string{server}, recipes.WithSessionTimeout(sessionTimeout))
	if err != nil {
		return nil, err
	}
	return recipesSession{client, r.options}, nil
}

type recipesSession struct {
	client  *recipes.Client
	options []recipes.LockOption
}

func (s recipesSession) close() { s.client.Close(context.Background()) }

func (s recipesSession) lock(w work, contender int) (lock, error) {
	switch w.kind {
	case mutex:
		return &recipesLock{acquirer: recipes.NewMutex(s.client, w.path, s.options...)}, nil
	case semaphore:
		return &recipesLock{acquirer: recipes.NewSemaphore(s.client, w.path, w.permits)}, nil
	case readWrite:
		both := recipes.NewReadWriteMutex(s.client, w.path)
		if w.writer(contender) {
			return &recipesLock{acquirer: both.Write()}, nil
		}
		return &recipesLock{acquirer: both.Read()}, nil
	}
	return nil, fmt.Errorf("no lock of kind %s", w.kind)
}

// recipesLock makes the whole cycle of a careful holder: it reads its token, and checks
// that its lease is valid.
type recipesLock struct {
	acquirer interface {
		Acquire(ctx context.Context) (*recipes.Lease, error)
	}
	lease *recipes.Lease
}

func (l *recipesLock) acquire(ctx context.Context) (err error) {
	if l.lease, err = l.acquirer.Acquire(ctx); err != nil {
		return err
	}
	if l.lease.Token().IsZero() || !l.lease.Valid() {
		return errors.New("a lease without a token, or not valid")
	}
	return nil
}

func (l *recipesLock) release(ctx context.Context) error { return l.lease.Release(ctx) }
