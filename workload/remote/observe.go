package remote

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/protocol"
	"github.com/zkverify/zkverify/workload/lock"
)

func (r recipes) Election() lock.Elector { return elector{r.c.locker(histories.Election, "")} }

// elector elects leaders.
type elector struct{ locker }

// Observe cancels its command when f has seen enough, and when ctx ends.
func (e elector) Observe(ctx context.Context, name string, f func(histories.Token) bool) error {
	inner, enough := context.WithCancel(ctx)
	defer enough()
	seen := &leadersSeen{news: make(chan struct{}, 1), done: make(chan error, 1)}
	go func() { // ends when the worker has answered, or is gone
		_, err := e.c.ask(context.WithValue(inner, leadersKey{}, seen), protocol.Command{Do: string(histories.Observe), Recipe: histories.Election, Lock: name}, nil)
		seen.done <- err
	}()
	for {
		token, err := seen.next()
		if err != nil {
			return err
		}
		if !f(token) {
			enough()
			<-seen.done
			return nil
		}
	}
}

// leadersSeen holds the leaders that an observation has reported and that Observe has not taken
// yet. The context of its command carries it.
type leadersSeen struct {
	news chan struct{} // there are more leaders
	done chan error    // the answer to the command

	mu     sync.Mutex
	tokens []histories.Token
}

type leadersKey struct{}

// observed adds the leader that the observation of a command sees.
func observed(ctx context.Context, token histories.Token) error {
	seen, ok := ctx.Value(leadersKey{}).(*leadersSeen)
	if !ok {
		return errors.New("the command does not observe")
	}
	seen.mu.Lock()
	seen.tokens = append(seen.tokens, token)
	seen.mu.Unlock()
	select {
	case seen.news <- struct{}{}:
	default:
	}
	return nil
}

// next returns the next leader, or the answer that has ended the observation.
func (s *leadersSeen) next() (histories.Token, error) {
	for {
		if token, ok := s.take(); ok {
			return token, nil
		}
		select {
		case <-s.news:
		case err := <-s.done:
			if token, ok := s.take(); ok { // it was said before
				s.done <- err
				return token, nil
			}
			return histories.Token{}, cmp.Or(err, errors.New("the observation ended by itself"))
		}
	}
}

func (s *leadersSeen) take() (token histories.Token, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.tokens) == 0 {
		return token, false
	}
	token, s.tokens = s.tokens[0], s.tokens[1:]
	return token, true
}
