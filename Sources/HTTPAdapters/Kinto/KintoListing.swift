import SyncJSON
import SyncModels

/// The records of one page, read from its body.
struct KintoListing: Sendable {
  private(set) var changes: [RecordChange] = []
  private(set) var tombstones = 0
  /// The last readable record.
  private(set) var last: KintoBookmark.Place?

  private let collection: KintoCollection
  private let reader: KintoRecordReader
  private static let data = Array("data".utf8)

  private init(of entity: Entity, _ collection: KintoCollection) {
    self.collection = collection
    reader = KintoRecordReader(entity)
  }

  /// Reads a page.
  ///
  /// - Parameter place: The last record of the previous page, after which this one must continue.
  /// - Throws: `invalidResponse` if the body is not a page, or not in the requested order.
  init(
    _ body: [UInt8], of entity: Entity, _ collection: KintoCollection, after place: KintoBookmark.Place?
  ) throws(SyncError) {
    self.init(of: entity, collection)
    last = place
    let array = try data(of: body)
    var isInOrder = true
    do {
      // A record that nests too deeply is malformed; the page is not.
      try JSONScanner.elements(of: array.bytes, depthLimit: .max) { element throws(JSONError) in
        if !take(element.bytes) { isInOrder = false }
      }
    } catch {
      throw unreadable(error)
    }
    guard isInOrder else {
      throw SyncError(
        .invalidResponse, during: collection.operation,
        "The server does not list by ascending last_modified, or lists the same again.")
    }
  }

  /// Reads the answer to a request for one record.
  init(record body: [UInt8], of entity: Entity, _ collection: KintoCollection) throws(SyncError) {
    self.init(of: entity, collection)
    _ = take(try data(of: body).bytes)
  }

  private func data(of body: [UInt8]) throws(SyncError) -> JSONValueSlice {
    var value: JSONValueSlice?
    do {
      try JSONScanner.members(of: body[...], depthLimit: .max) { member throws(JSONError) in
        if member.hasKey(Self.data) { value = member.value }
      }
    } catch {
      throw unreadable(error)
    }
    guard let value else {
      throw SyncError(
        .invalidResponse, during: collection.operation, "The answer has no member \"data\".")
    }
    return value
  }

  private func unreadable(_ error: JSONError) -> SyncError {
    HTTPFailure.unreadable(error, during: collection.operation)
  }

  /// Adds one element; `false` if it cannot follow the previous one.
  private mutating func take(_ bytes: ArraySlice<UInt8>) -> Bool {
    let change = reader.read(bytes)
    guard let (id, version) = change.identified else {
      changes.append(change)
      return true
    }
    let modified = version.modifiedAt.microseconds / 1000
    if let last,
      modified < last.modified || (modified == last.modified && id.key.utf8.elementsEqual(last.key.utf8))
    {
      return false
    }
    last = KintoBookmark.Place(modified: modified, key: id.key)
    if case .tombstone = change { tombstones += 1 }
    changes.append(change)
    return true
  }
}
