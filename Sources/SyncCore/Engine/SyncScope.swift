import SyncModels

/// The effects of a sync that decide whether it covers another caller's request.
struct SyncScope: Hashable, Sendable {
  /// The types that are synced, all of them named.
  var types: Set<RecordType>
  /// The types that are listed completely.
  var fullPull: Set<RecordType>
  var pulls: Bool
  var pushes: Bool
  var allowsMassDeletion: Bool
  /// The types that go first.
  ///
  /// Order leaves nothing out, so it does not count in ``covers(_:)``.
  var first: [RecordType]

  /// Creates the scope of a request.
  ///
  /// - Parameter canPush: Whether there is a sink; without one a sync of both directions is a pull.
  /// - Throws: `invalidConfiguration` for a type that is not declared, and for a push without a
  ///   sink.
  init(_ request: SyncRequest, of schema: SyncSchema, canPush: Bool) throws(SyncError) {
    for type in (request.types ?? []) + request.fullPull + request.priority where schema[type] == nil {
      throw SyncError(
        .invalidConfiguration, during: "starting a sync", "The record type \(type) is not declared.")
    }
    if request.direction == .push, !canPush {
      throw SyncError(
        .invalidConfiguration, during: "starting a sync", "There is no sink that edits could be pushed to.")
    }
    types = Set(request.types ?? schema.entities.map(\.type))
    pulls = request.direction != .push
    pushes = request.direction != .pull && canPush
    fullPull = pulls ? request.fullPull.intersection(types) : []
    allowsMassDeletion = request.allowsMassDeletion
    first = request.priority
  }

  /// Whether this sync does everything that the other scope asks for.
  ///
  /// A partial order, apart from ``first``: each scope covers itself, and covering is transitive.
  func covers(_ other: SyncScope) -> Bool {
    types.isSuperset(of: other.types) && fullPull.isSuperset(of: other.fullPull)
      && (pulls || !other.pulls) && (pushes || !other.pushes)
      && (allowsMassDeletion || !other.allowsMassDeletion || !other.pulls)
  }
}

extension SyncError {
  /// Whether the failure concerns one type, and the others can still be pulled.
  var endsOneTypeAlone: Bool {
    code == .quotaExceeded || code == .permissionDenied || code == .inconsistentData
      || code == .invalidResponse || code == .invalidConfiguration
  }
}

extension TypeStatus {
  /// Records that a pass continued or was completed.
  mutating func noteAttempt(at now: Timestamp, isComplete: Bool) {
    lastAttempt = now
    guard isComplete else { return }
    lastSuccess = now
    lastError = nil
    consecutiveFailures = 0
    successes = successes.addingOne
  }

  /// Records that a pass failed.
  mutating func noteFailure(_ error: SyncError, at now: Timestamp) {
    lastAttempt = now
    lastError = Failure(error, at: now)
    consecutiveFailures = consecutiveFailures.addingOne
    failures = failures.addingOne
  }
}

extension TypeStatus.Failure {
  /// Records an error that occurred now.
  init(_ error: SyncError, at now: Timestamp) {
    self.init(
      code: error.code.description, message: error.description, retryAt: error.retryAfter.map { now + $0 })
  }
}
