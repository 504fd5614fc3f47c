import InMemoryAdapters
import SyncCore
import SyncJSON
import SyncModels
import SyncPorts
import Synchronization

extension World {
  /// Creates the bundled data set from the remote's current state.
  ///
  /// It includes the tokens for the next deltas.
  func bundle() async {
    guard let schema = schema(of: AppVersion()) else { return }
    var types: [String] = []
    for entity in schema.entities {
      guard let token = await token(of: entity) else { continue }
      let records = remotes.current.records(of: entity.type).map {
        String(decoding: $0.payload.bytes, as: UTF8.self)
      }
      for (key, payload) in remotes.current.records(of: entity.type) {
        let id = RecordID(type: entity.type, key: key)
        watch.heard([.upsert(Record(id: id, version: .unversioned, payload: payload, fields: []))])
      }
      var quoted = ""
      // A delta never lists earlier unreadable bytes, which the data set cannot contain.
      if choices.below(2) == 1, !edits.malformedRecords.contains(where: { $0.type == entity.type }) {
        quoted = #""token":"# + String(decoding: JSONString.quoted(token), as: UTF8.self) + ","
      }
      types.append(#""\#(entity.type)":{\#(quoted)"records":[\#(records.joined(separator: ","))]}"#)
    }
    let text = #"{"format":1,"types":{\#(types.joined(separator: ","))}}"#
    state.withLock { $0.bundle = Array(text.utf8) }
  }

  /// The token of a listing that begins now; `nil` if the remote has none.
  private func token(of entity: Entity) async -> String? {
    var position = PullPosition.start(since: nil)
    var first: SyncToken?
    while true {
      let request = PageRequest(entity: entity, position: position, limit: 100, pass: 1)
      guard let page = try? await remotes.current.page(request) else { return nil }
      first = first ?? page.startToken
      switch page.next {
      case .more(let token, _): position = .resume(token)
      case .done(let token): return (token ?? first)?.rawValue
      case .reset: return nil
      }
    }
  }
}

extension Incarnation {
  /// Loads the bundled data set, as at each start. Usually it is loaded already.
  func loadBundle() async {
    guard let bytes = world.state.withLock({ $0.bundle }), !world.remotes.wereExchanged, let store,
      version.hasGames
    else { return }
    begin(SyncRequest())
    isLoading = true
    defer { isLoading = false }
    do throws(SyncError) {
      let bundle = Bootstrap(bytes, layout: RecordLayout())
      let result = try await bundle.load(
        into: SimulatedStore(store, of: self), schema: schema, source: world.remotes.home.source, clock: clock
      )
      if !result.loaded.isEmpty { world.ledger.saw(.bundleLoaded) }
    } catch {
      trace(as: .sync, "could not load its data set: \(error.code)")
      world.trace.mix(error.code.description)
      if !isDead, error.code != .syncAlreadyInProgress, !causes.contains(error.code) {
        world.ledger.report(.honestErrors, "\(self) could not load its data set: \(error)")
      }
    }
  }
}
