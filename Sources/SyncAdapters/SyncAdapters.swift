// What the author of a source, a sink, a store or a monitor uses: the ports whole, their values, and
// JSON over bytes.
@_exported public import SyncJSON
@_exported public import SyncModels
@_exported public import SyncPorts
