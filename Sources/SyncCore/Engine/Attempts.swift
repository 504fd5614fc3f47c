import SyncModels

/// When this process last began and last completed a pull of all types, whoever asked for it.
struct Attempts: Hashable, Sendable {
  var lastBegin: Timestamp?
  var lastSuccess: Timestamp?
}
