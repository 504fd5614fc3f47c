import SyncModels
import SyncPorts

/// Whether a type and all types that refer to it are completely pulled.
///
/// Permanent decisions about records, such as their deletion, require this.
struct CompletePull: Sendable {
  private let scopes: [(type: RecordType, scope: Checkpoint.Scope)]

  init(
    of entity: Entity, in environment: RunEnvironment, store identity: String
  ) {
    scopes = environment.schema.entities.filter { other in
      other.type == entity.type || other.references.contains { $0.target == entity.type }
    }.map { ($0.type, environment.scope(of: $0, store: identity)) }
  }

  /// Returns what is still missing; `nil` if nothing is.
  func lack(in snapshot: any StoreSnapshot) throws(SyncError) -> String? {
    for (type, scope) in scopes {
      guard let checkpoint = try snapshot.checkpoint(for: type), checkpoint.scope == scope,
        checkpoint.committedAt != nil, checkpoint.lastPass > 0
      else { return "\(type) was never pulled completely." }
      if checkpoint.inFlight != nil { return "A pull of \(type) was interrupted." }
      if checkpoint.sweep != nil {
        return "Records of \(type) that are gone from the remote are still to be removed."
      }
    }
    return nil
  }
}
