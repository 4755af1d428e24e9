package recipes_test

import (
	"context"
	"fmt"
	"os"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
)

// connectByPassword connects to servers that demand SASL with DIGEST-MD5. Nodes belong to the user.
func connectByPassword(ctx context.Context, servers []string, password string) (*recipes.Client, error) {
	return recipes.Connect(ctx, servers,
		recipes.WithSASL(recipes.DigestMD5("orders", password)),
		recipes.WithACL(zk.AuthACL(zk.PermAll)...))
}

func ExampleWithSASL() {
	client, err := connectByPassword(context.Background(), []string{"zk1:2181,zk2:2181,zk3:2181"}, os.Getenv("PASSWORD"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(context.Background())
}
