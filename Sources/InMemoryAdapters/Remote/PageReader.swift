import SyncModels

/// Answers one request from one state of a collection.
struct PageReader {
  let identity: String
  let configuration: InMemoryRemote.Configuration
  var collection: RemoteCollection
  /// The states of snapshot listings in progress. A missing one is restored from the log.
  var snapshots: [RemoteCollection]
  let time: Timestamp
  /// The most records of the page, by the script.
  var limit = Int.max
  /// Whether empty pages repeat their token.
  var isStuck = false
  /// The number of the remote's last change, even if a lagging replica answers.
  private let latest: Int64

  init(
    identity: String, configuration: InMemoryRemote.Configuration, collection: RemoteCollection,
    snapshots: [RemoteCollection], time: Timestamp
  ) {
    self.identity = identity
    self.configuration = configuration
    self.collection = collection
    self.snapshots = snapshots
    self.time = time
    latest = collection.sequence
  }

  /// Answers from a replica that lacks the last changes.
  mutating func lag(by changes: Int) {
    collection = collection.asOf(collection.sequence - Int64(changes))
  }

  mutating func page(_ request: PageRequest) -> RecordPage {
    limit = min(limit, max(1, request.limit), configuration.maximumPageSize ?? .max)
    switch request.position {
    case .start(since: nil): return listing(request)
    case .start(since: let token?): return start(request, since: token)
    case .resume(let token): return resume(request, at: token)
    }
  }

  private mutating func start(_ request: PageRequest, since token: SyncToken) -> RecordPage {
    guard let since = RemoteToken(token, of: identity) else { return Self.reset(.tokenExpired) }
    if let reason = voidness(of: since.era) { return Self.reset(reason) }
    // A future number is not in this log.
    if !configuration.isByTime && since.value > latest { return Self.reset(.tokenExpired) }
    switch configuration.deltas {
    case .fullOnly where since.value == collection.sequence:
      return RecordPage(coverage: .delta, changes: [], total: total(0), next: .done(token))
    case .fullOnly: return listing(request)
    case .changeTokens: return delta(request, after: .init(sequence: since.value))
    case .modifiedSince(let overlap):
      let reach = Timestamp(microseconds: since.value) - overlap
      return delta(
        request, after: .init(time: reach.microseconds, sequence: .min), swept: since.swept)
    }
  }

  private mutating func resume(_ request: PageRequest, at token: PageToken) -> RecordPage {
    guard let cursor = RemoteCursor(token, of: identity) else { return Self.reset(.pageTokenExpired) }
    if let reason = voidness(of: cursor.era) { return Self.reset(reason) }
    guard cursor.pageTerm == collection.pageTerm else { return Self.reset(.pageTokenExpired) }
    return page(request, from: cursor)
  }

  private func voidness(of era: Int) -> ResetReason? {
    if era == collection.era { return nil }
    return era < collection.wipedInEra ? .remoteReplaced : .tokenExpired
  }

  private static func reset(_ reason: ResetReason) -> RecordPage {
    RecordPage(coverage: .delta, changes: [], next: .reset(reason))
  }

  private mutating func listing(_ request: PageRequest) -> RecordPage {
    if configuration.listing == .snapshot && snapshots.last?.sequence != collection.sequence {
      snapshots = snapshots.suffix(3) + [collection]
    }
    var page = page(
      request,
      from: cursor(configuration.listing == .snapshot ? .snapshot : .moving, .init(time: .min, sequence: 0)))
    page.startToken = token(
      configuration.isByTime ? time.microseconds : collection.sequence, swept: time.microseconds)
    page.total = total(collection.liveCount)
    return page
  }

  private mutating func delta(
    _ request: PageRequest, after place: RemoteCollection.Place, swept: Int64? = nil
  ) -> RecordPage {
    let isDue = isSweepDue(since: swept)
    var page = page(request, from: cursor(isDue ? .sweepingDelta : .delta, place))
    if configuration.isByTime {
      page.startToken = token(time.microseconds, swept: isDue ? time.microseconds : swept)
    }
    page.total = total(
      configuration.sendsTombstones
        ? collection.byPlace.count(after: place)
        : collection.byPlace.entries(after: place).reduce(0) { $0 + ($1.value.isDeleted ? 0 : 1) })
    return page
  }

  /// Whether the next delta has to list all keys.
  private func isSweepDue(since swept: Int64?) -> Bool {
    guard let interval = configuration.sweepInterval else { return false }
    guard let last = swept.map(Timestamp.init(microseconds:)) else { return true }
    return time >= last + interval || last > time
  }

  private func cursor(_ pass: RemoteCursor.Pass, _ place: RemoteCollection.Place) -> RemoteCursor {
    RemoteCursor(
      era: collection.era, pageTerm: collection.pageTerm, pass: pass, bound: collection.sequence, place: place
    )
  }

  private func token(_ value: Int64, swept: Int64? = nil) -> SyncToken {
    RemoteToken(
      era: collection.era, value: value, swept: configuration.sweepInterval == nil ? nil : swept ?? 0
    ).token(of: identity)
  }

  private func total(_ count: Int) -> Int? {
    configuration.tellsTotals ? count : nil
  }

  private func page(_ request: PageRequest, from cursor: RemoteCursor) -> RecordPage {
    var next = cursor
    var changes: [RecordChange] = []
    var present: [PresentRecord] = []
    var isComplete = true
    let isDelta = cursor.pass == .delta || cursor.pass == .sweepingDelta
    for document in documents(after: cursor) {
      if document.isDeleted && !(isDelta && configuration.sendsTombstones) { continue }
      if changes.count + present.count >= limit {
        isComplete = false
        break
      }
      let scan = configuration.versions == .perScan ? request.pass : nil
      let change = document.change(for: request.entity, scan: scan)
      if cursor.pass == .keys, case .upsert(let record) = change {
        present.append(PresentRecord(id: record.id, version: record.version))
      } else {
        changes.append(change)
      }
      if cursor.pass == .snapshot {
        next.key = document.key
      } else {
        next.place = collection.place(of: document)
      }
    }
    let coverage: RecordPage.Coverage = cursor.pass == .delta ? .delta : .full
    // A page that the script emptied is never the last one.
    guard isComplete && limit > 0 else {
      next.serial = limit > 0 ? 0 : cursor.serial + (isStuck ? 0 : 1)
      return self.page(coverage, changes, present, at: next)
    }
    if cursor.pass == .sweepingDelta {
      return self.page(
        coverage, changes, present, at: self.cursor(.keys, .init(time: .min, sequence: 0)))
    }
    var own: SyncToken?
    if cursor.pass == .delta && !configuration.isByTime {
      own = token(max(collection.sequence, next.place.sequence))
    }
    var page = RecordPage(coverage: coverage, changes: changes, next: .done(own))
    page.present = present
    return page
  }

  /// A page that another one follows.
  private func page(
    _ coverage: RecordPage.Coverage, _ changes: [RecordChange], _ present: [PresentRecord],
    at next: RemoteCursor
  ) -> RecordPage {
    var page = RecordPage(
      coverage: coverage, changes: changes,
      next: .more(next.token(of: identity), resumable: configuration.hasResumablePages))
    page.present = present
    return page
  }

  private func documents(after cursor: RemoteCursor) -> any Sequence<RemoteDocument> {
    guard cursor.pass == .snapshot else {
      return collection.byPlace.entries(after: cursor.place).lazy.map(\.value)
    }
    var state = collection
    if cursor.bound < collection.sequence {
      state = snapshots.last { $0.sequence == cursor.bound } ?? collection.asOf(cursor.bound)
    }
    return state.byKey.entries(after: cursor.key.map(UTF8Key.init)).lazy.map(\.value)
  }
}
