// Package sqltable is an example of a database table that refuses writes of holders that have
// lost their lock. Each row keeps the newest token that has written it. Every write is one
// statement that compares the tokens, so no other write can come between the comparison and the
// write.
//
// The statement works in SQLite and PostgreSQL; its test uses SQLite. The package is a module of
// its own, so that services that use recipes do not depend on a database driver.
package sqltable

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/zkverify/zkverify/recipes"
)

// Schema is the SQL statement that creates the table.
const Schema = `CREATE TABLE IF NOT EXISTS settings (
	name  TEXT PRIMARY KEY,
	value TEXT NOT NULL,
	token TEXT NOT NULL -- a recipes.Token, 29 bytes
)`

// Table is the table of settings in a database.
type Table struct{ db *sql.DB }

// New returns the table in a database. The caller has created it with Schema.
func New(db *sql.DB) Table { return Table{db} }

// Put writes a value under a lease's token. It returns recipes.ErrStaleToken, and writes
// nothing, when a newer token has written the row.
func (t Table) Put(ctx context.Context, name, value string, token recipes.Token) error {
	done, err := t.db.ExecContext(ctx, `INSERT INTO settings (name, value, token) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value, token = excluded.token
		WHERE settings.token <= excluded.token`, name, value, token)
	if err != nil {
		return err
	}
	if rows, err := done.RowsAffected(); err != nil || rows == 1 {
		return err
	}
	return fmt.Errorf("put %s: %w: %v", name, recipes.ErrStaleToken, token)
}

// Get returns a value and the token that it was written under. Both are zero when there is no
// such row.
func (t Table) Get(ctx context.Context, name string) (value string, token recipes.Token, err error) {
	err = t.db.QueryRowContext(ctx, `SELECT value, token FROM settings WHERE name = $1`, name).Scan(&value, &token)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return value, token, err
}
