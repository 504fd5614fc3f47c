import SyncModels
import SyncPorts

/// Keeps a store to one account of its remote.
///
/// The data of another account are refused. Under other credentials that the remote accepts, of
/// whatever account, everything is listed again, and the edits so far wait until the app allows them.
/// An app that names the account itself is believed.
struct AccountCheck: SyncPhase {
  /// Whether the sync ends, so that only successors of the credentials are kept.
  var isAtEnd = false

  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    let account: RemoteAccount?
    do throws(SyncError) {
      let source = session.environment.source
      account = try await ask(in: session) { () throws(SyncError) in try await source.account() } ?? nil
    } catch {
      // The records and edits are in the store, and the next sync asks again.
      if isAtEnd { return .finished }
      session.failing = session.entities.map(\.type)
      throw error
    }
    if session.isStopped { return .stopped }
    guard let account else { return .finished }
    let key = StoredAccount.key(of: session.environment.source.identity)
    let known = try await session.read { (snapshot) throws(SyncError) in try snapshot.value(of: key) }
    var next = known ?? StoredAccount()
    switch account {
    case .named(let name):
      if let owner = known?.name, !owner.isSameUTF8(as: name) { throw StoredAccount.refusal }
      next.name = name
    case .credentials(let fingerprints):
      guard let current = fingerprints.last else { return .finished }
      let isSame = known?.credentials.map(fingerprints.contains) ?? true
      next.credentials = current
      if !isSame, session.environment.account == nil {
        if isAtEnd { return .finished }
        try await prove(in: &session)
        return session.isStopped ? .stopped : try await change(to: next, in: &session)
      }
    }
    guard next != known else { return .finished }
    let saved = next
    try await session.write { (transaction) throws(SyncError) in try transaction.set(saved, for: key) }
    return .finished
  }

  /// Proves by a first page that the remote knows new credentials.
  ///
  /// The check holds no edits for a secret that the remote refuses: it may be mistyped.
  private func prove(in session: inout SyncSession) async throws(SyncError) {
    guard let entity = session.entities.first else { return }
    let source = session.environment.source
    let request = PageRequest(entity: entity, position: .start(since: nil), limit: 1, pass: 0)
    do throws(SyncError) {
      _ = try await ask(in: session) { () throws(SyncError) in try await source.page(request) }
    } catch {
      // Another refusal is the type's, and its pass will meet it.
      guard error.code == .authentication || error.code == .offline || error.code.isRetryable else { return }
      session.failing = session.entities.map(\.type)
      throw error
    }
  }

  /// Asks the source, as often as a page would be asked for; returns `nil` if the sync is stopped.
  private func ask<Answer: Sendable>(
    in session: SyncSession, _ body: () async throws(SyncError) -> Answer
  ) async throws(SyncError) -> Answer? {
    let environment = session.environment
    var failures = 0
    while true {
      switch await environment.request(body) {
      case .success(let answer): return answer
      case .failure(let error):
        failures += 1
        if isAtEnd || session.isStopped { throw error }
        let type = session.entities.first?.type
        guard try await environment.waitToRetry(after: error, failures: failures, of: type) else {
          return nil
        }
      }
    }
  }

  /// Makes the sync list everything anew, and holds the edits, in one transaction.
  private func change(
    to account: StoredAccount, in session: inout SyncSession
  ) async throws(SyncError) -> PhaseEnd {
    let (source, now) = (session.environment.source.identity, session.environment.clock.timestamp)
    let held = try await session.write { (transaction) throws(SyncError) in
      var held: [RecordID] = []
      for entity in try transaction.registeredEntities() {
        guard var checkpoint = try transaction.checkpoint(for: entity.type), checkpoint.scope.source == source
        else { continue }
        checkpoint.beginEpoch()
        try SourceExchange.begin(checkpoint, of: entity.type, in: transaction)
        held += try hold(entity.type, at: now, in: transaction)
      }
      try transaction.set(account, for: StoredAccount.key(of: source))
      return held
    }
    for id in held { session.environment.emit(.editRefused(id, reason: StoredAccount.reason)) }
    if session.request.direction != .pull { session.progress.pushed.refused += held.count }
    return .finished
  }

  private func hold(
    _ type: RecordType, at now: Timestamp, in transaction: any StoreTransaction
  ) throws(SyncError) -> [RecordID] {
    var held: [RecordID] = []
    var portions = transaction.portions(outbox: type)
    while let entries = try portions.next() {
      held += entries.map(\.id)
      try transaction.queue(
        entries.map { entry in
          var entry = entry
          entry.state = .refused(reason: StoredAccount.reason, at: now)
          return entry
        })
    }
    return held
  }
}

/// The account of a remote whose data a store has, as far as it is known.
private struct StoredAccount: Hashable, Codable, Sendable {
  var name: String?
  /// The fingerprint of the credentials that were used last.
  var credentials: String?

  static func key(of source: String) -> ValueKey<StoredAccount> { ValueKey(.account, "/\(source)") }

  /// The reason of the edits that wait for the app.
  fileprivate static let reason =
    "The edit was made before the credentials changed, perhaps by another account's person. Retry it to send it with these credentials, or discard it."

  fileprivate static var refusal: SyncError {
    SyncError(
      .otherAccount, during: "asking whose data the remote shows",
      """
      The credentials are of another account than the store's records. Use those of the former account, another \
      store, or make this one forget the account by SyncEngine.forgetEverything(in:), which returns the edits \
      that were not pushed.
      """)
  }
}

extension OutboxEntry {
  /// Whether the edit waits until the app allows it under other credentials.
  var isHeldForAccount: Bool {
    if case .refused(StoredAccount.reason, _) = state { true } else { false }
  }
}
