import SyncModels
import SyncPorts

/// The start of a type's pull, read from the store before the sync's first request.
struct PullStart: Sendable {
  var checkpoint: Checkpoint?
  var status: TypeStatus
  var settings: PullMachine.Settings

  /// Reads the starts of some types.
  static func load(
    _ entities: [Entity], request: SyncRequest, environment: RunEnvironment
  ) async throws(SyncError) -> [RecordType: PullStart] {
    let (source, options) = (environment.source, environment.options)
    return try await environment.store.read { (snapshot) throws(SyncError) in
      let store = try snapshot.storeIdentity()
      var starts: [RecordType: PullStart] = [:]
      for entity in entities {
        let scope = environment.scope(of: entity, store: store)
        let lacksSomething = try ListingGap.of(entity.type, in: snapshot) == .exposed
        starts[entity.type] = PullStart(
          checkpoint: try snapshot.checkpoint(for: entity.type),
          status: try TypeStatus.load(for: entity.type, from: snapshot),
          settings: PullMachine.Settings(
            scope: scope, capabilities: source.capabilities, pageSize: options.pageSize,
            pagesAhead: options.pagesAhead, retry: options.retry,
            deletionCheckInterval: options.deletionCheckInterval,
            forcesFullPass: request.fullPull.contains(entity.type) || lacksSomething))
      }
      return starts
    }
  }
}
