import SyncModels

/// The records of one type at the remote: by key, by their place in the order of changes, and every change ever made.
struct RemoteCollection: Sendable {
  private(set) var byKey = OrderedMap<UTF8Key, RemoteDocument>()
  private(set) var byPlace = OrderedMap<Place, RemoteDocument>()
  /// The number of the last change.
  private(set) var sequence: Int64 = 0
  /// How many documents are not deleted.
  private(set) var liveCount = 0
  private var log: [RemoteDocument] = []
  private let isByTime: Bool
  private let numberField: FieldName?

  /// Tokens of an earlier era are void.
  private(set) var era = 0
  /// The era that a wipe began, rather than the expiration of tokens.
  private(set) var wipedInEra = 0
  /// Page tokens of an earlier term are void.
  private(set) var pageTerm = 0

  /// Where a document stands among the changes: by time where the remote only knows times, else by number.
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

  /// Makes a change visible, as the latest one.
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

  /// What a change leaves behind, with the remote's own member.
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

  /// The collection as it was after some change.
  ///
  /// - Complexity: O(*n* log *n*) in the changes up to there.
  func asOf(_ sequence: Int64) -> RemoteCollection {
    var past = self
    (past.byKey, past.byPlace, past.log) = (OrderedMap(), OrderedMap(), [])
    (past.liveCount, past.sequence) = (0, max(0, min(sequence, self.sequence)))
    for document in log where document.version.sequence <= sequence { past.append(document) }
    return past
  }

  /// Forgets everything, the numbering included, as a server does that is set up anew.
  mutating func wipe() {
    (byKey, byPlace, log) = (OrderedMap(), OrderedMap(), [])
    (liveCount, sequence) = (0, 0)
    era += 1
    wipedInEra = era
  }

  mutating func expireTokens() {
    era += 1
  }

  mutating func expirePageTokens() {
    pageTerm += 1
  }
}
