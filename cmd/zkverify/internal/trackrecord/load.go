package trackrecord

import (
	"context"
	"sync"

	"github.com/go-zookeeper/zk"
)

// loadServer starts clients that create and delete nodes through a server, as contenders of a lock do,
// until rest ends them.
func loadServer(ctx context.Context, s *scene, p Step) error {
	ctx, cancel := context.WithCancel(ctx)
	var clients sync.WaitGroup
	var all []*zk.Conn
	s.ends = append(s.ends, func() {
		cancel()
		for _, conn := range all {
			conn.Close()
		}
		clients.Wait()
	})
	for range p.N {
		conn, err := dial(ctx, s.server(p.Server))
		if err != nil {
			return err
		}
		all = append(all, conn)
		clients.Go(func() {
			for ctx.Err() == nil {
				path, err := conn.Create(root+"/l-", nil, zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll))
				if err == nil {
					_ = conn.Delete(path, -1)
				}
			}
		})
	}
	return nil
}

// rest ends the clients of loadServer.
func rest(_ context.Context, s *scene, _ Step) error {
	for _, end := range s.ends {
		end()
	}
	s.ends = nil
	return nil
}
