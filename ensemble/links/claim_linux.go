package links

import (
	"fmt"
	"io"
	"net"
)

// claimBlock claims the ports from first on for this process. A claim is a Unix socket
// with an abstract name. At most one process of a network namespace, to which ports
// belong, has it, and the kernel ends it with the process.
func claimBlock(first int) (io.Closer, error) {
	return net.Listen("unix", fmt.Sprintf("@zkverify-ports-%d", first))
}
