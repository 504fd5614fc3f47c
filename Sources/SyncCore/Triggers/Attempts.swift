import SyncModels

/// The last begin and end of a pull of all types in this process.
///
/// It counts whether the app or a coordinator asked for the pull.
struct Attempts: Hashable, Sendable {
  var lastBegin: Timestamp?
  var lastSuccess: Timestamp?
}
