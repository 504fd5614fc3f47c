import SyncModels
import SyncPorts

/// Pushes the edits in the outbox, before the pulls.
struct PushPhase: SyncPhase {
  let sink: any RemoteRecordSink

  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    let isAlone = session.request.direction == .push
    let push = try await PushRun.run(session.entities, to: sink, in: &session)
    session.push = push
    if let error = push.failure, isAlone || push.suspects.isEmpty {
      // In a push alone, types without edits have no failure. In a sync, no type's pass was
      // reached.
      session.failing = isAlone ? push.types : session.entities.map(\.type)
      throw error
    }
    // The remote's failures have used up their budget. The pull now shows whether the remote is
    // there at all.
    if push.failure != nil { session.environment.options.retry.attempts = 1 }
    return push.end
  }
}

/// Keeps the edits that failed alone out of the next pushes, and pushes the others.
///
/// The pulls have shown that the remote is there.
struct SuspectPhase: SyncPhase {
  let sink: any RemoteRecordSink

  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    guard let push = session.push, !push.suspects.isEmpty else { return .finished }
    try await isolateSuspects(of: push, in: &session)
    guard push.mayPushOthers else { return .finished }
    let rest = try await PushRun.run(session.entities, to: sink, in: &session)
    if !rest.suspects.isEmpty {
      try await isolateSuspects(of: rest, in: &session)
    } else if let error = rest.failure {
      session.failing = rest.types
      throw error
    }
    return rest.end
  }

  private func isolateSuspects(
    of push: PushEnd, in session: inout SyncSession
  ) async throws(SyncError) {
    for suspect in push.suspects {
      try await session.isolate(suspect.entry, EditFailure(suspect.error, isProven: false))
    }
    guard let failure = push.failure else { return }
    for type in Set(push.suspects.map(\.entry.id.type)).sorted() { session.noteFailure(of: type, failure) }
  }
}

/// Pushes the deletions of a rebuild's losers, at the end of the sync.
///
/// The pulls have shown which winners are still there.
struct LoserDeletion: SyncPhase {
  let sink: any RemoteRecordSink

  var survey: Survey? {
    { (snapshot, session) throws(SyncError) in try !session.typesWithLosers(in: snapshot).isEmpty }
  }

  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    let losing = try await session.typesWithLosers()
    guard !losing.isEmpty else { return .finished }
    let push = try await PushRun.run(losing, stages: [.deletions], to: sink, in: &session)
    if let error = push.failure {
      session.failing = losing.map(\.type)
      throw error
    }
    return push.end
  }
}
