import SyncModels

/// The remote's records of one type, by key and by change order, with the log.
struct RemoteCollection: Sendable {
  private(set) var byKey = OrderedMap<UTF8Key, RemoteDocument>()
  private(set) var byPlace = OrderedMap<Place, RemoteDocument>()
  /// The number of the last change.
  private(set) var sequence: Int64 = 0
  /// The number of documents that are not deleted.
  private(set) var liveCount = 0
  private var log: [RemoteDocument] = []
  private let isByTime: Bool
  private let numberField: FieldName?

  /// Tokens of an earlier era are invalid.
  private(set) var era = 0
  /// The last era that began with a wipe, rather than with the expiration of tokens.
  private(set) var wipedInEra = 0
  /// Page tokens of an earlier term are invalid.
  private(set) var pageTerm = 0

  /// A document's position among the changes: by time if the remote only knows times, else by
  /// number.
  struct Place: Comparable, Sendable {
    var time: Int64 = 0
    var sequence: Int64

    static func < (a: Place, b: Place) -> Bool {
      (a.time, a.sequence) < (b.time, b.sequence)
    }
  }

  init(_ configuration: InMemoryRemote.Configuration) {
    isByTime = configuration.isByTime
    numberField = configuration.numberField
  }

  func place(of document: RemoteDocument) -> Place {
    Place(
      time: isByTime ? document.version.modifiedAt.microseconds : 0, sequence: document.version.sequence)
  }

  /// Makes a change visible as the latest one.
  @discardableResult
  mutating func commit(
    key: String, body: RemoteDocument.Body, modifiedAt: Timestamp
  ) -> RemoteDocument {
    sequence += 1
    let document = RemoteDocument(
      key: key, body: numbered(body), version: Version(sequence: sequence, modifiedAt: modifiedAt),
      life: wipedInEra)
    append(document)
    return document
  }

  /// The result of a change, with the remote's own member.
  private func numbered(_ body: RemoteDocument.Body) -> RemoteDocument.Body {
    guard let numberField, case .record(let payload) = body, var map = try? FieldMap(payload) else {
      return body
    }
    map[numberField] = Array("\(sequence)".utf8)[...]
    return .record(map.payload)
  }

  private mutating func append(_ document: RemoteDocument) {
    let key = UTF8Key(document.key)
    if let old = byKey[key] {
      byPlace[place(of: old)] = nil
      if !old.isDeleted { liveCount -= 1 }
    }
    if !document.isDeleted { liveCount += 1 }
    byKey[key] = document
    byPlace[place(of: document)] = document
    log.append(document)
  }

  /// The collection as it was after a given change.
  ///
  /// - Complexity: O(*n* log *n*) in the changes up to there.
  func asOf(_ sequence: Int64) -> RemoteCollection {
    var past = self
    (past.byKey, past.byPlace, past.log) = (OrderedMap(), OrderedMap(), [])
    (past.liveCount, past.sequence) = (0, max(0, min(sequence, self.sequence)))
    for document in log where document.version.sequence <= sequence { past.append(document) }
    return past
  }

  /// Removes everything and restarts the numbering, like a newly installed server.
  mutating func wipe() {
    (byKey, byPlace, log) = (OrderedMap(), OrderedMap(), [])
    (liveCount, sequence) = (0, 0)
    era += 1
    wipedInEra = era
  }

  /// Goes back to an earlier state, whose later numbers are given out again.
  ///
  /// - Parameter isTold: Whether the tokens until now show that.
  mutating func restore(_ former: RemoteCollection, isTold: Bool) {
    let (era, wipedInEra, pageTerm) = (era, wipedInEra, pageTerm)
    self = former
    (self.era, self.wipedInEra, self.pageTerm) = (era, wipedInEra, pageTerm + 1)
    guard isTold else { return }
    self.era += 1
    self.wipedInEra = self.era
  }

  mutating func expireTokens() {
    era += 1
  }

  mutating func expirePageTokens() {
    pageTerm += 1
  }
}
