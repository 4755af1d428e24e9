package kerberos_test

import (
	"context"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/kerberos"
)

// connectByKeytab connects to servers that demand Kerberos. Nodes belong to the principal.
func connectByKeytab(ctx context.Context, servers []string) (*recipes.Client, error) {
	m, err := kerberos.New(kerberos.Config{Keytab: "/etc/orders.keytab"}) // of recipes/kerberos
	if err != nil {
		return nil, err
	}
	return recipes.Connect(ctx, servers, recipes.WithSASL(m),
		recipes.WithACL(zk.AuthACL(zk.PermAll)...))
}

func Example() {
	client, err := connectByKeytab(context.Background(), []string{"zk1:2181,zk2:2181,zk3:2181"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(context.Background())
}
