package service

// ConnID identifies a client's connection to a server. The caller of the server chooses
// it; no number is used twice for a server.
type ConnID int64

// Input is an event on a client's connection.
type Input interface{ input() }

// The inputs.
type (
	// Accepted is a new connection of a client at an IP address.
	Accepted struct {
		Conn ConnID
		IP   string
	}
	// Received is bytes of a client, cut anywhere.
	Received struct {
		Conn ConnID
		Data []byte
	}
	// Closed says that a client's connection has ended.
	Closed struct{ Conn ConnID }
)

func (Accepted) input() {}
func (Received) input() {}
func (Closed) input()   {}

// Action is an action of a server for a client.
type Action interface{ action() }

// The actions.
type (
	// Send sends bytes to a client.
	Send struct {
		Conn ConnID
		Data []byte
	}
	// Close ends a client's connection, once the sent data is on its way.
	Close struct{ Conn ConnID }
)

func (Send) action()  {}
func (Close) action() {}
