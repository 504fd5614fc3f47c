import InMemoryAdapters
import SyncConformance
import SyncModels
import SyncPorts

/// A source that breaks one promise, to test that the checks detect it.
struct FlawedSource: RemoteRecordSource {
  enum Flaw: String, CaseIterable, Sendable {
    case losesARecordBetweenPages, takesItsTokenLast, ignoresLimits, failsOnVoidTokens, keepsDeletionsToItself
    case dropsMalformedRecords, stampsAllAlike, listsEverythingTwice, forgetsFields, changesItsName,
      saysChangesForAll
    case makesTotalsUp, looksUpTheDead, givesNoTokens, startsOverOnResume

    /// The check that detects the flaw.
    var check: SourceCheck {
      switch self {
      case .losesARecordBetweenPages, .listsEverythingTwice: .listingHoldsEveryRecordOnce
      case .startsOverOnResume: .samePositionIsAnsweredAlike
      case .takesItsTokenLast: .changesDuringAPassAreNotLost
      case .ignoresLimits: .pagesObeyTheirLimit
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
      }
    }
  }

  let flaw: Flaw
  let base: InMemoryRemote

  var identity: String {
    flaw == .changesItsName ? "\(base.identity)-\(base.counters().requests)" : base.identity
  }
  var capabilities: SourceCapabilities { base.capabilities }

  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    var request = request
    if flaw == .ignoresLimits {
      request = PageRequest(
        entity: request.entity, position: request.position, limit: request.limit + 1, pass: request.pass)
    }
    if flaw == .startsOverOnResume, case .resume = request.position {
      // The first page is repeated, with its continuation.
      request = PageRequest(
        entity: request.entity, position: .start(since: nil), limit: request.limit, pass: request.pass)
    }
    var page = try await base.page(request)
    switch flaw {
    case .losesARecordBetweenPages:
      if case .more = page.next { page.changes.removeLast() }
    case .takesItsTokenLast:
      page.startToken = nil
      if case .done(nil) = page.next {
        let start = PageRequest(entity: request.entity, position: .start(since: nil), limit: 1, pass: 1)
        page.next = .done(try await base.page(start).startToken)
      }
    case .failsOnVoidTokens:
      if case .reset = page.next { throw SyncError(.tokenExpired, during: "fetching a page") }
    case .keepsDeletionsToItself:
      page.changes.removeAll { if case .tombstone = $0 { true } else { false } }
    case .dropsMalformedRecords: page.changes.removeAll { if case .malformed = $0 { true } else { false } }
    case .stampsAllAlike, .forgetsFields: page.changes = page.changes.map(spoiled)
    case .listsEverythingTwice: page.changes += page.changes
    case .saysChangesForAll: page.coverage = .changes
    case .makesTotalsUp: page.total = 1000
    case .givesNoTokens:
      page.startToken = nil
      if case .done = page.next { page.next = .done(nil) }
    case .ignoresLimits, .changesItsName, .looksUpTheDead, .startsOverOnResume: break
    }
    return page
  }

  func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange] {
    let found = try await base.lookup(ids, of: entity)
    guard flaw == .looksUpTheDead, case .upsert(let record)? = found.first else { return found }
    return ids.map { id in
      .upsert(Record(id: id, version: record.version, payload: record.payload, fields: record.fields))
    }
  }

  private func spoiled(_ change: RecordChange) -> RecordChange {
    guard case .upsert(var record) = change else { return change }
    if flaw == .forgetsFields { record.fields = [] }
    if flaw == .stampsAllAlike { record.version = Version(modifiedAt: Timestamp(milliseconds: 1)) }
    return .upsert(record)
  }
}
