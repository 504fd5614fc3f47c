// One import for an app: the values, the ports and the engine.
@_exported public import SyncCore
@_exported public import SyncFoundation
@_exported public import SyncModels
@_exported public import SyncPorts
