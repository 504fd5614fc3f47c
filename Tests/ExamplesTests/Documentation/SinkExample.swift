import SyncAdapters

// The code of Docs/WritingASource.md about sinks.

/// A server that writes one record, if it still has the state that the writer has seen.
protocol WriteServer: Sendable {
  /// Writes a record, or deletes it without a body.
  ///
  /// - Parameter time: The `updated_at` of the state that the writer has seen; `nil` if it knows none.
  func write(_ type: String, _ key: String, body: [UInt8]?, over time: Int64?) async throws -> WriteAnswer
}

/// An answer of the server.
enum WriteAnswer: Sendable {
  /// The record as it is now, or its tombstone.
  case written([UInt8])
  /// Nothing was written. The record as it is; `nil` if there is none.
  case changed([UInt8]?)
  /// Nothing was written, nor will be.
  case refused(reason: String)
}

/// A remote that takes edits one at a time.
struct ChangeSink<Server: WriteServer>: RemoteRecordSink {
  let server: Server
  let identity: String
  let keepsUnknownMembers = true

  func push(
    _ changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    var outcomes: [PushOutcome] = []
    for change in changes {
      guard let entity = entities[change.id.type] else {
        outcomes.append(.refused(reason: "The type is not declared."))
        continue
      }
      do {
        let answer = try await server.write(
          change.id.type.rawValue, change.id.key, body: change.content.payload.map { Array($0.bytes) },
          over: change.base.version.map { $0.modifiedAt.microseconds / 1000 })
        outcomes.append(outcome(answer, of: entity))
      } catch {
        // The server may have written it. The engine sends the change again.
        outcomes.append(.unknown(reason: nil))
      }
    }
    return outcomes
  }

  private func outcome(_ answer: WriteAnswer, of entity: Entity) -> PushOutcome {
    let reader = RecordReader(
      entity, layout: RecordLayout(modifiedAt: "updated_at", deleted: "deleted"))
    switch answer {
    case .written(let body): return .accepted(reader.read(body[...]))
    case .changed(let body): return .conflict(body.map { reader.read($0[...]) })
    case .refused(let reason): return .refused(reason: reason)
    }
  }
}
