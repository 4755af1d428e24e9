package sqltable_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/examples/sqltable"
	"github.com/zkverify/zkverify/recipes/recipestest"
)

// A service takes the token of its caller from a header, as text.
func ExampleTable_Put() {
	ctx := context.Background()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection would have a database in memory of its own
	if _, err := db.ExecContext(ctx, sqltable.Schema); err != nil {
		fmt.Println(err)
		return
	}
	table := sqltable.New(db)
	for _, header := range []string{"0x10000002a", "0x2000000001", "0x10000002a", "0x2000000001.1", "none"} {
		token, err := recipes.ParseToken(header)
		if err == nil {
			err = table.Put(ctx, "limit", "by "+header, token)
		}
		fmt.Println(header, err)
	}
	value, token, err := table.Get(ctx, "limit")
	fmt.Println(value, token, err)
	// Output:
	// 0x10000002a <nil>
	// 0x2000000001 <nil>
	// 0x10000002a put limit: recipes: stale fencing token: 0x10000002a
	// 0x2000000001.1 <nil>
	// none recipes: bad token: "none"
	// by 0x2000000001.1 0x2000000001.1 <nil>
}

// newTable returns a table in a file: a second connection to the file sees the writes of the
// first.
func newTable(t *testing.T) sqltable.Table {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "settings.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, err := db.ExecContext(t.Context(), sqltable.Schema); err != nil {
		t.Fatal(err)
	}
	return sqltable.New(db)
}

// A holder that does not know yet that it has lost its lock writes too late.
func TestTheTableRefusesAHolderThatHasLostItsLock(t *testing.T) {
	table := newTable(t)
	c := recipestest.NewClient(t)
	lock := recipes.NewMutex(c.Client, "/settings")
	first, err := lock.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Put(t.Context(), "limit", "first", first.Token()); err != nil {
		t.Fatal(err)
	}
	c.Lease("/settings").Lose(recipes.LossNodeDeleted)
	second, err := lock.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a holder writes as often as it likes
		if err := table.Put(t.Context(), "limit", "second", second.Token()); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.Put(t.Context(), "limit", "late", first.Token()); !errors.Is(err, recipes.ErrStaleToken) {
		t.Errorf("the first holder again: %v", err)
	}
	if value, token, err := table.Get(t.Context(), "limit"); value != "second" || token != second.Token() || err != nil {
		t.Errorf("the table has %q by %v, %v; want that of %v", value, token, err, second.Token())
	}
}

// The database compares tokens of all lengths as Compare does.
func TestTheTableComparesTokensAsTheyAre(t *testing.T) {
	var all []recipes.Token
	for _, zxid := range []int64{0, 1, 9, 0xa, 0xf, 0x10, 1<<32 - 1, 1 << 32, math.MaxInt64} {
		for _, sub := range []int32{0, 9, 10, math.MaxInt32} {
			all = append(all, recipes.Token{Zxid: zxid, Sub: sub})
		}
	}
	table := newTable(t)
	for i, newest := range all {
		for j, token := range all {
			name := fmt.Sprint(i, j)
			if err := table.Put(t.Context(), name, "", newest); err != nil {
				t.Fatal(err)
			}
			if err := table.Put(t.Context(), name, "", token); errors.Is(err, recipes.ErrStaleToken) != (token.Compare(newest) < 0) {
				t.Errorf("%v after %v: %v", token, newest, err)
			}
		}
	}
}
