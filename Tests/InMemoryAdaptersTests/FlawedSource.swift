import InMemoryAdapters
import SyncConformance
import SyncModels
import SyncPorts
import Synchronization

/// A source that breaks one promise, to test that the checks detect it.
final class FlawedSource: RemoteRecordSource {
  enum Flaw: String, CaseIterable, Sendable {
    case losesARecordBetweenPages, takesItsTokenLast, ignoresLimits, failsOnVoidTokens, keepsDeletionsToItself
    case dropsMalformedRecords, stampsAllAlike, listsEverythingTwice, forgetsFields, changesItsName,
      saysChangesForAll
    case makesTotalsUp, looksUpTheDead, givesNoTokens, startsOverOnResume
    case cutsLookups, looksUpSimpleKeysAlone, listsKeysWithOldVersions, listsTheDead, forgetsItsPlace
    case stopsAtAPageOfMalformedRecords, ignoresLimitsOfDeltas
    case datesDeletionsBack, losesTheLastOfADelta, ignoresTokens, endsDeltasTooEarly
    case takesVoidTokensForCurrent

    /// The check that detects the flaw.
    var check: SourceCheck {
      switch self {
      case .losesARecordBetweenPages, .listsEverythingTwice: .listingHoldsEveryRecordOnce
      case .startsOverOnResume: .samePositionIsAnsweredAlike
      case .takesItsTokenLast: .changesDuringAPassAreNotLost
      case .ignoresLimits, .ignoresLimitsOfDeltas: .pagesObeyTheirLimit
      case .failsOnVoidTokens: .unknownTokenIsNoError
      case .keepsDeletionsToItself: .deletionComesAsTombstone
      case .dropsMalformedRecords: .malformedRecordComesInItsPlace
      case .stampsAllAlike: .versionsRise
      case .forgetsFields: .recordsAreReadWhole
      case .changesItsName: .identityStays
      case .saysChangesForAll: .emptyRemoteListsNothing
      case .makesTotalsUp: .totalCountsTheListing
      case .looksUpTheDead: .lookupGivesCurrentCopies
      case .givesNoTokens: .tokenComesFromTheStart
      case .cutsLookups: .lookupOfManyFindsEach
      case .looksUpSimpleKeysAlone: .lookupTakesAnyKey
      case .listsKeysWithOldVersions: .keysAreListedWithTheirVersions
      case .listsTheDead: .deletedRecordIsNotListed
      case .forgetsItsPlace: .resumablePassGoesOnInAnotherProcess
      case .stopsAtAPageOfMalformedRecords: .malformedRecordsMayFillAPage
      case .datesDeletionsBack: .deletionsHaveRisingVersions
      case .losesTheLastOfADelta: .deltaHoldsWhatChanged
      case .ignoresTokens: .deltaOfNothingIsEmpty
      case .endsDeltasTooEarly: .changesDuringADeltaAreNotLost
      case .takesVoidTokensForCurrent: .voidTokenIsNoError
      }
    }
  }

  let flaw: Flaw
  let base: InMemoryRemote
  /// Whether another process has read the same data before.
  private let isReopened: Bool
  /// The remote's last change when the delta began.
  private let lastChange = Mutex<Int64>(0)

  init(flaw: Flaw, base: InMemoryRemote, isReopened: Bool = false) {
    self.flaw = flaw
    self.base = base
    self.isReopened = isReopened
  }

  var identity: String {
    flaw == .changesItsName ? "\(base.identity)-\(base.counters().requests)" : base.identity
  }
  var capabilities: SourceCapabilities { base.capabilities }

  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    var page = try await base.page(changed(request))
    let isLast = if case .done = page.next { true } else { false }
    switch flaw {
    case .losesARecordBetweenPages:
      if !isLast { page.changes.removeLast() }
    case .takesItsTokenLast:
      page.startToken = nil
      if case .done(nil) = page.next {
        let start = PageRequest(entity: request.entity, position: .start(since: nil), limit: 1, pass: 1)
        page.next = .done(try await base.page(start).startToken)
      }
    case .failsOnVoidTokens:
      if case .reset = page.next { throw SyncError(.tokenExpired, during: "fetching a page") }
    case .takesVoidTokensForCurrent:
      if case .reset = page.next { page.next = .done(nil) }
    case .keepsDeletionsToItself:
      page.changes.removeAll { if case .tombstone = $0 { true } else { false } }
    case .dropsMalformedRecords: page.changes.removeAll(where: Self.isMalformed)
    case .stopsAtAPageOfMalformedRecords:
      if !page.changes.isEmpty, page.changes.allSatisfy(Self.isMalformed) { page.next = .done(nil) }
    case .stampsAllAlike, .forgetsFields, .datesDeletionsBack: page.changes = page.changes.map(spoiled)
    case .listsEverythingTwice: page.changes += page.changes
    case .saysChangesForAll: page.coverage = .delta
    case .makesTotalsUp: page.total = 1000
    case .givesNoTokens:
      page.startToken = nil
      if isLast { page.next = .done(nil) }
    case .listsKeysWithOldVersions where page.coverage == .full:
      page.present = page.changes.compactMap { change in
        change.id.map { PresentRecord(id: $0, version: Version(modifiedAt: Timestamp(milliseconds: 1))) }
      }
      page.changes = []
    case .listsTheDead where isLast && page.coverage == .full:
      page.changes += page.changes.suffix(1).compactMap { copy(of: $0, named: "i02") }
    case .losesTheLastOfADelta where isLast && page.coverage == .delta:
      page.changes = page.changes.dropLast()
    case .endsDeltasTooEarly where page.coverage == .delta:
      try await dropLaterChanges(from: &page, request)
    default: break
    }
    return page
  }

  /// The request that the flawed source answers in place of another one.
  private func changed(_ request: PageRequest) -> PageRequest {
    var (position, limit) = (request.position, request.limit)
    switch (flaw, position) {
    case (.ignoresLimits, _): limit += 1
    case (.ignoresLimitsOfDeltas, .start(.some)): limit += 1
    case (.ignoresTokens, .start), (.startsOverOnResume, .resume): position = .start(since: nil)
    case (.forgetsItsPlace, .resume) where isReopened: position = .start(since: nil)
    default: break
    }
    return PageRequest(entity: request.entity, position: position, limit: limit, pass: request.pass)
  }

  /// Removes changes since the start of the delta, although its token is one after them.
  private func dropLaterChanges(from page: inout RecordPage, _ request: PageRequest) async throws(SyncError) {
    if case .start = request.position {
      let all = PageRequest(entity: request.entity, position: .start(since: nil), limit: .max, pass: 1)
      let last = try await base.page(all).changes.compactMap(Self.version).map(\.sequence).max()
      lastChange.withLock { $0 = last ?? 0 }
    }
    let last = lastChange.withLock { $0 }
    page.changes.removeAll { change in Self.version(change).map { $0.sequence > last } ?? false }
  }

  func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange] {
    switch flaw {
    case .cutsLookups: return try await base.lookup(Array(ids.prefix(100)), of: entity)
    case .looksUpSimpleKeysAlone:
      return try await base.lookup(ids.filter { $0.key.allSatisfy(\.isLetter) }, of: entity)
    case .looksUpTheDead:
      let found = try await base.lookup(ids, of: entity)
      guard let first = found.first else { return found }
      return ids.compactMap { copy(of: first, named: $0.key) }
    default: return try await base.lookup(ids, of: entity)
    }
  }

  /// A copy with another record's content.
  private func copy(of change: RecordChange, named key: String) -> RecordChange? {
    guard case .upsert(let record) = change else { return nil }
    return .upsert(
      Record(
        id: RecordID(type: record.id.type, key: key), version: record.version, payload: record.payload,
        fields: record.fields))
  }

  private func spoiled(_ change: RecordChange) -> RecordChange {
    let old = Version(modifiedAt: Timestamp(milliseconds: 1))
    switch change {
    case .upsert(var record):
      if flaw == .forgetsFields { record.fields = [] }
      if flaw == .stampsAllAlike { record.version = old }
      return .upsert(record)
    case .tombstone(var tombstone):
      if flaw == .datesDeletionsBack { tombstone.version = old }
      return .tombstone(tombstone)
    case .malformed: return change
    }
  }

  private static func isMalformed(_ change: RecordChange) -> Bool {
    if case .malformed = change { true } else { false }
  }

  private static func version(_ change: RecordChange) -> Version? {
    switch change {
    case .upsert(let record): record.version
    case .tombstone(let tombstone): tombstone.version
    case .malformed: nil
    }
  }
}

/// A source that keeps its promises, and lists full listings by keys alone.
struct KeyListing: ForwardingSource {
  let base: any RemoteRecordSource

  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    var page = try await base.page(request)
    guard page.coverage == .full else { return page }
    for case .upsert(let record) in page.changes {
      page.present.append(PresentRecord(id: record.id, version: record.version))
    }
    page.changes.removeAll { if case .upsert = $0 { true } else { false } }
    return page
  }
}
