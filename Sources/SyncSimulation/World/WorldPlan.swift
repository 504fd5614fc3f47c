import InMemoryAdapters
import SyncCore
import SyncModels
import SyncPorts

/// What a world is made from, besides its choices.
struct WorldPlan: Sendable {
  var hazards: Set<Hazard>
  var fault: FaultPlan.Single?
  var stores: @Sendable (@escaping @Sendable () -> Timestamp) throws(SyncError) -> StoreBench
  var source: @Sendable (InMemoryRemote) -> any RemoteRecordSource
  /// What is wrong with one of the ports, in a world that shows who notices.
  var flaw: PortFlaw?
  /// Somebody's own policy, and whether it does not matter to it which of two edits is the local one.
  var policy: (policy: any MergePolicy, treatsSidesAlike: Bool)?
}
