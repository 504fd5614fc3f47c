import InMemoryAdapters
import SyncCore
import SyncModels
import SyncPorts

/// The parameters of a world, besides its choices.
struct WorldPlan: Sendable {
  var hazards: Set<Hazard>
  var fault: FaultPlan.Single?
  var stores: @Sendable (@escaping @Sendable () -> Timestamp) throws(SyncError) -> StoreBench
  var source: @Sendable (InMemoryRemote) -> any RemoteRecordSource
  /// What the source shows of a type; `nil` for everything.
  var shows: @Sendable (RecordType) -> Condition? = { _ in nil }
  /// The flaw of one of the ports, in a world that tests the checks.
  var flaw: PortFlaw?
  /// A custom policy, and whether it ignores which of two edits is the local one.
  var policy: (policy: any MergePolicy, treatsSidesAlike: Bool)?
  /// The app's own records; `nil` for the worlds' built-in ones.
  var records: WorldRecords?
}
