// Package slogobserver logs the events of locks, and of their client's connection, with log/slog:
//
//	client, err := recipes.Connect(ctx, servers,
//		recipes.WithObserver(slogobserver.New(logger)),
//		recipes.WithConnectionListener(slogobserver.Listener(logger)))
//
// Each message about a lock has the attributes path, node, token and session, the last two as
// recipes.Token and ZooKeeper print them. "lock acquired" also has waited, "lock lost" and "lock
// released" have held, and "lock lost" has reason, a recipes.LossReason. "lock enqueued" has
// ahead, and the node's name only (see recipes.Enqueued). The messages hold no other values: no
// data of nodes, no credentials.
package slogobserver

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// New returns an observer that logs to logger; nil stands for [slog.Default] at the time of the
// call. Level Debug: "lock enqueued", with the context of the acquire, "lock acquired", "lock
// released". Info: "lock resumed", "lock revocation requested". Warn: "lock suspended". Error:
// "lock lost", but Info when the client was closed while it held the lock.
func New(logger *slog.Logger) recipes.Observer {
	if logger == nil {
		logger = slog.Default()
	}
	log := func(level slog.Level, message string, l *recipes.Lease, more ...slog.Attr) {
		ctx := l.Context()
		if !logger.Enabled(ctx, level) {
			return
		}
		logger.LogAttrs(ctx, level, message,
			append(place(l.Path(), l.Node(), l.Token(), l.SessionID()), more...)...)
	}
	return recipes.Observer{
		Enqueued: func(ctx context.Context, e recipes.Enqueued) {
			if !logger.Enabled(ctx, slog.LevelDebug) {
				return
			}
			logger.LogAttrs(ctx, slog.LevelDebug, "lock enqueued",
				append(place(e.Path, e.Node, e.Token, e.Session), slog.Int("ahead", e.Ahead))...)
		},
		Acquired: func(l *recipes.Lease, waited time.Duration) {
			log(slog.LevelDebug, "lock acquired", l, slog.Duration("waited", waited))
		},
		Released: func(l *recipes.Lease, held time.Duration) {
			log(slog.LevelDebug, "lock released", l, slog.Duration("held", held))
		},
		Suspended: func(l *recipes.Lease) { log(slog.LevelWarn, "lock suspended", l) },
		Resumed:   func(l *recipes.Lease) { log(slog.LevelInfo, "lock resumed", l) },
		Lost: func(l *recipes.Lease, why recipes.LossReason, held time.Duration) {
			level := slog.LevelError
			if why == recipes.LossClientClosed {
				level = slog.LevelInfo
			}
			log(level, "lock lost", l, slog.String("reason", string(why)), slog.Duration("held", held))
		},
		RevokeRequested: func(l *recipes.Lease) { log(slog.LevelInfo, "lock revocation requested", l) },
	}
}

func place(path, node string, token recipes.Token, session int64) []slog.Attr {
	return []slog.Attr{
		slog.String("path", path), slog.String("node", node),
		slog.String("token", token.String()), slog.String("session", fmt.Sprintf("0x%x", session)),
	}
}

// Listener returns a connection listener that logs to logger; nil stands for [slog.Default] at
// the time of the call. The message is "zookeeper connection" with the attribute state, at level
// Warn for suspended, Error for lost, and Info otherwise.
func Listener(logger *slog.Logger) func(recipes.ConnectionState) {
	if logger == nil {
		logger = slog.Default()
	}
	return func(state recipes.ConnectionState) {
		level := slog.LevelInfo
		switch state {
		case recipes.ConnSuspended:
			level = slog.LevelWarn
		case recipes.ConnLost:
			level = slog.LevelError
		}
		logger.LogAttrs(context.Background(), level, "zookeeper connection", slog.String("state", state.String()))
	}
}
