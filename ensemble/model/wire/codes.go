package wire

// Op is the kind of a request.
type Op int32

// The operations. Clients do not request those below Create, nor Error.
const (
	CreateSession        Op = -10
	CloseSession         Op = -11
	ErrorOp              Op = -1 // of a transaction that changes nothing, and of a failed part of a multi
	Notify               Op = 0
	Create               Op = 1
	Delete               Op = 2
	Exists               Op = 3
	GetData              Op = 4
	SetData              Op = 5
	GetACL               Op = 6
	SetACL               Op = 7
	GetChildren          Op = 8
	Sync                 Op = 9
	Ping                 Op = 11
	GetChildren2         Op = 12
	Check                Op = 13
	Multi                Op = 14
	Create2              Op = 15
	Reconfig             Op = 16
	CheckWatches         Op = 17
	RemoveWatches        Op = 18
	CreateContainer      Op = 19
	DeleteContainer      Op = 20
	CreateTTL            Op = 21
	MultiRead            Op = 22
	Auth                 Op = 100
	SetWatches           Op = 101
	SASL                 Op = 102
	GetEphemerals        Op = 103
	GetAllChildrenNumber Op = 104
	SetWatches2          Op = 105
	AddWatch             Op = 106
	WhoAmI               Op = 107
)

// Code is the result of a request: OK or an error.
type Code int32

// The codes (KeeperException.Code).
const (
	OK                       Code = 0
	SystemError              Code = -1
	RuntimeInconsistency     Code = -2
	ConnectionLoss           Code = -4
	MarshallingError         Code = -5
	Unimplemented            Code = -6
	OperationTimeout         Code = -7
	BadArguments             Code = -8
	NewConfigNoQuorum        Code = -13
	ReconfigInProgress       Code = -14
	APIError                 Code = -100
	NoNode                   Code = -101
	NoAuth                   Code = -102
	BadVersion               Code = -103
	NoChildrenForEphemerals  Code = -108
	NodeExists               Code = -110
	NotEmpty                 Code = -111
	SessionExpired           Code = -112
	InvalidCallback          Code = -113
	InvalidACL               Code = -114
	AuthFailed               Code = -115
	SessionMoved             Code = -118
	NotReadOnly              Code = -119
	EphemeralOnLocalSession  Code = -120
	NoWatcher                Code = -121
	ReconfigDisabled         Code = -123
	SessionClosedRequireSASL Code = -124
	QuotaExceeded            Code = -125
)

// Xids of frames that are not the replies to a numbered request.
const (
	NotificationXid = -1
	PingXid         = -2
	AuthXid         = -4
	SetWatchesXid   = -8
)

// Permissions of an ACL.
const (
	PermRead   = 1 << 0
	PermWrite  = 1 << 1
	PermCreate = 1 << 2
	PermDelete = 1 << 3
	PermAdmin  = 1 << 4
	PermAll    = PermRead | PermWrite | PermCreate | PermDelete | PermAdmin
)

// Flags of a create (CreateMode).
const (
	FlagPersistent              = 0
	FlagEphemeral               = 1
	FlagSequential              = 2
	FlagEphemeralSequential     = 3
	FlagContainer               = 4
	FlagPersistentTTL           = 5
	FlagPersistentSequentialTTL = 6
)

// EventType is the kind of an event that a watch reports.
type EventType int32

// The events of nodes.
const (
	NodeCreated         EventType = 1
	NodeDeleted         EventType = 2
	NodeDataChanged     EventType = 3
	NodeChildrenChanged EventType = 4
)

// Modes of AddWatch.
const (
	PersistentWatch          = 0
	PersistentRecursiveWatch = 1
)

// WatcherType selects the watches that RemoveWatches and CheckWatches concern.
type WatcherType int32

// The watcher types.
const (
	ChildrenWatcher            WatcherType = 1
	DataWatcher                WatcherType = 2
	AnyWatcher                 WatcherType = 3
	PersistentWatcher          WatcherType = 4 // 3.9 on
	PersistentRecursiveWatcher WatcherType = 5 // 3.9 on
)
