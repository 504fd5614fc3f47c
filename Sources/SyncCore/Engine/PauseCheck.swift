import SyncModels
import SyncPorts

/// Sends nothing during a pause that the remote has asked an earlier sync for, perhaps of another
/// process.
struct PauseCheck: SyncPhase {
  var survey: Survey? {
    { (snapshot, session) throws(SyncError) in
      try snapshot.value(ifReadableOf: RemotePause.key(of: session.environment.source.identity)) != nil
    }
  }

  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    let (environment, key) = (session.environment, RemotePause.key(of: session.environment.source.identity))
    let pause = try await session.read { (snapshot) throws(SyncError) in
      try snapshot.value(ifReadableOf: key)
    }
    let now = environment.clock.timestamp
    guard let pause else { return .finished }
    // A time before its beginning is of a clock that was set back.
    if pause.began <= now, now < pause.until {
      session.failing = session.entities.map(\.type)
      throw SyncError(
        .remoteUnavailable, during: "reaching \(environment.source.identity)",
        "The server asked for a pause until \(pause.until.rfc3339(fractionDigits: 0) ?? "later"), which is not over.",
        retryAfter: pause.until.duration(since: now))
    }
    try await session.write { (transaction) throws(SyncError) in try transaction.remove(key) }
    return .finished
  }
}

/// A pause that a remote has asked for.
struct RemotePause: Codable, Hashable, Sendable {
  var began: Timestamp
  var until: Timestamp

  static func key(of source: String) -> ValueKey<RemotePause> { ValueKey(.sync, "pause/\(source)") }

  /// Keeps the longest pause of some errors, unless a kept one is longer.
  static func keep(
    _ errors: [SyncError], of source: String, at now: Timestamp, in transaction: any StoreTransaction
  ) throws(SyncError) {
    let asked = errors.filter { $0.code == .remoteUnavailable }.compactMap(\.retryAfter).max()
    guard let asked, asked > .zero else { return }
    let kept = try transaction.value(ifReadableOf: key(of: source))
    if let kept, kept.began <= now, kept.until >= now + asked { return }
    try transaction.set(RemotePause(began: now, until: now + asked), for: key(of: source))
  }
}
