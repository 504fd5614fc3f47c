import InMemoryAdapters
import SyncConformance
import SyncModels
import SyncPorts
import Synchronization

/// A sink that breaks one promise, to test that the checks detect it.
final class FlawedSink: RemoteRecordSink {
  enum Flaw: String, CaseIterable, Sendable {
    case asksNothing, losesOutcomes, answersInReverse, appliesHalfOfTooMuch, appliesTwice,
      keepsConflictsToItself
    case neverAccepts, deletesNothing, inventsVersions, forgetsMembers, changesItsName, answersEmptyPushes
    case stopsAtAConflict, bringsBackTheDead, deletesUnseen, addsMembers
    case nullsUnknownMembers, roundsUnknownMembers, takesHalfOfItsBytes, appliesHalfOfTheBytes
    case takesEditsForCreations, refusesNewLives, refusesRepeats, datesDeletionsBack
    case appliesGroupsInPart, appliesHalfAGroup, appliesGroupsTwice

    /// The checks that detect the flaw.
    var checks: [SinkCheck] {
      switch self {
      case .asksNothing:
        [
          .editOfAnOldCopyIsAConflict, .deletionOfAnOldCopyIsAConflict, .editOfADeletedRecordIsAConflict,
          .changeSentAgainLeavesALaterOneAlone,
        ]
      case .losesOutcomes, .answersInReverse, .stopsAtAConflict: [.everyChangeHasItsOutcome]
      case .appliesHalfOfTooMuch: [.tooMuchIsRefusedWhole]
      case .appliesTwice: [.changeSentAgainHasOneEffect, .batchSentAgainByAnotherProcessHasOneEffect]
      case .keepsConflictsToItself: [.newRecordMeetsAnExistingOne]
      case .neverAccepts: [.newRecordIsCreated]
      case .deletesNothing: [.deletionOfTheCurrentCopyIsApplied]
      case .inventsVersions: [.sourceReadsTheAcceptedCopy]
      case .forgetsMembers, .nullsUnknownMembers, .roundsUnknownMembers: [.payloadIsKeptWhole]
      case .changesItsName: [.identityStays]
      case .answersEmptyPushes: [.emptyPushHasNoOutcomes]
      case .bringsBackTheDead: [.creationSentAgainBringsNothingBack]
      case .addsMembers: [.remoteWritesOnlyWhatItDeclares]
      case .deletesUnseen: [.deletionOfAnUnseenRecordIsAConflict]
      case .takesHalfOfItsBytes, .appliesHalfOfTheBytes: [.bytesUpToTheLimitAreTaken]
      case .takesEditsForCreations: [.editOfTheCurrentCopyIsApplied]
      case .refusesNewLives: [.deletedRecordIsCreatedAnew]
      case .refusesRepeats: [.deletionSentAgainHasOneEffect]
      case .datesDeletionsBack: [.acceptedVersionsRise]
      case .appliesGroupsInPart: [.groupWithAConflictHasNoEffect]
      case .appliesHalfAGroup: [.groupIsApplied]
      case .appliesGroupsTwice: [.groupSentAgainHasOneEffect]
      }
    }
  }

  let flaw: Flaw
  let base: InMemoryRemote
  private let pushes = Mutex(0)
  private let keys = Mutex<Set<IdempotencyKey>>([])

  init(_ flaw: Flaw, base: InMemoryRemote) {
    self.flaw = flaw
    self.base = base
  }

  var identity: String {
    flaw == .changesItsName ? "\(base.identity)-\(base.pushCounters.requests)" : base.identity
  }

  var keepsUnknownMembers: Bool { true }

  func limits() async throws(SyncError) -> SinkLimits { try await base.limits() }

  var appliesGroups: Bool { true }

  func push(
    atomically changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    switch flaw {
    case .appliesGroupsInPart:
      let outcomes = try await base.push(changes, entities: entities)
      return outcomes.contains(where: \.isConflict)
        ? outcomes.map { $0.isConflict ? $0 : .notApplied } : outcomes
    case .appliesHalfAGroup:
      let outcomes = try await base.push(atomically: Array(changes.dropLast()), entities: entities)
      guard let last = changes.last else { return outcomes }
      return outcomes + [.accepted(.tombstone(Tombstone(id: last.id, version: .unversioned)))]
    case .appliesGroupsTwice where changes.contains(where: \.mayHaveArrived):
      for change in changes where change.content != .deletion {
        base.upsert("items", change.id.key, #"{"value":9}"#)
      }
      fallthrough
    default:
      return try await base.push(atomically: changes, entities: entities)
    }
  }

  func push(
    _ changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    var changes = changes
    let number = pushes.withLock { number in
      number += 1
      return number
    }
    switch flaw {
    case .asksNothing, .appliesTwice:
      for index in changes.indices {
        changes[index].base = try await current(changes[index].id)
        changes[index].key = IdempotencyKey("\(number) of \(ObjectIdentifier(self))")
      }
    case .bringsBackTheDead:
      for index in changes.indices {
        let current = try await current(changes[index].id)
        if current.record == nil { changes[index].base = current }
        changes[index].key = IdempotencyKey("\(number) of \(ObjectIdentifier(self))")
      }
    case .deletesUnseen:
      for index in changes.indices where changes[index].content == .deletion && changes[index].base == .none {
        changes[index].base = try await current(changes[index].id)
      }
    case .forgetsMembers:
      for index in changes.indices where changes[index].content != .deletion {
        changes[index].content = .upsert(
          Payload(Array(#"{"value":9007199254740993}"#.utf8)), schemaVersion: 1)
      }
    case .nullsUnknownMembers, .roundsUnknownMembers:
      let value = flaw == .nullsUnknownMembers ? "null" : #"{"a":[1.5,null,"é"],"n":9007199254740992}"#
      for index in changes.indices {
        guard let payload = changes[index].content.payload, var map = try? FieldMap(payload),
          map["unknown"] != nil
        else { continue }
        map["unknown"] = Array(value.utf8)[...]
        changes[index].content = .upsert(map.payload, schemaVersion: 1)
      }
    case .takesHalfOfItsBytes where Self.bytes(of: changes) > base.configuration.pushLimits.maximumBytes / 2:
      throw SyncError(.batchTooLarge, during: "pushing edits")
    case .appliesHalfOfTheBytes where Self.bytes(of: changes) > base.configuration.pushLimits.maximumBytes:
      _ = try await base.push(Array(changes.prefix(1)), entities: entities)
    case .takesEditsForCreations:
      for index in changes.indices where changes[index].content != .deletion {
        if case .copy = changes[index].base { changes[index].base = .none }
      }
    case .refusesNewLives:
      for index in changes.indices {
        if case .deleted = changes[index].base { changes[index].base = .none }
      }
    case .refusesRepeats:
      let isRepeated = keys.withLock { keys in changes.contains { !keys.insert($0.key).inserted } }
      if isRepeated { return changes.map { _ in .refused(reason: "It was sent before.") } }
    case .addsMembers:
      for index in changes.indices {
        guard let payload = changes[index].content.payload, var map = try? FieldMap(payload) else { continue }
        map["added"] = Array("\(number)".utf8)[...]
        changes[index].content = .upsert(map.payload, schemaVersion: 1)
      }
    case .deletesNothing where changes.contains { $0.content == .deletion }:
      return changes.map { .accepted(.tombstone(Tombstone(id: $0.id, version: .unversioned))) }
    case .appliesHalfOfTooMuch where changes.count > base.configuration.pushLimits.maximumRecords:
      _ = try await base.push(Array(changes.prefix(1)), entities: entities)
    case .neverAccepts: return changes.map { _ in .retryLater(after: nil) }
    case .answersEmptyPushes where changes.isEmpty: return [.quotaExceeded]
    default: break
    }
    var outcomes = try await base.push(changes, entities: entities)
    switch flaw {
    case .losesOutcomes: outcomes = Array(outcomes.dropLast())
    case .answersInReverse: outcomes.reverse()
    case .keepsConflictsToItself: outcomes = outcomes.map { $0.isConflict ? .conflict(nil) : $0 }
    case .stopsAtAConflict:
      if let index = outcomes.firstIndex(where: \.isConflict) {
        outcomes = outcomes.enumerated().map { $0.offset > index ? .retryLater(after: nil) : $0.element }
      }
    case .inventsVersions:
      outcomes = outcomes.map { outcome in
        guard case .accepted(.upsert(var record)) = outcome else { return outcome }
        record.version.sequence += 1
        return .accepted(.upsert(record))
      }
    case .datesDeletionsBack:
      outcomes = outcomes.map { outcome in
        guard case .accepted(.tombstone(var tombstone)) = outcome else { return outcome }
        tombstone.version = Version(modifiedAt: Timestamp(milliseconds: 1))
        return .accepted(.tombstone(tombstone))
      }
    default: break
    }
    return outcomes
  }

  private static func bytes(of changes: [OutgoingChange]) -> Int {
    changes.reduce(0) { $0 + ($1.content.payload?.bytes.count ?? 0) }
  }

  /// The remote state as an edit's base. Such an edit is applied.
  private func current(_ id: RecordID) async throws(SyncError) -> OutboxEntry.Base {
    switch try await base.lookup([id], of: SinkHarness.entity).first {
    case .upsert(let record)?: .copy(record)
    case .tombstone(let tombstone)?: .deleted(tombstone)
    case .malformed?, nil: .none
    }
  }
}

extension PushOutcome {
  fileprivate var isConflict: Bool {
    if case .conflict = self { true } else { false }
  }
}
