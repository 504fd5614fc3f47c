import SyncJSON
import SyncModels

/// What a record says, apart from what the server adds to it.
enum KintoContent {
  /// The members that are the server's: a `last_modified` that is sent would become the record's, whatever the time is.
  static let serverManagedFields: [FieldName] = ["id", "last_modified"]
  private static let own = serverManagedFields.map { Array($0.rawValue.utf8) }

  /// A payload as it is sent: every other member as it stands.
  static func sendable(_ payload: Payload) throws(JSONError) -> [UInt8] {
    var json = [UInt8(ascii: "{")]
    try JSONScanner.members(of: payload.bytes, depthLimit: .max) { member throws(JSONError) in
      if own.contains(where: member.hasKey) { return }
      if json.count > 1 { json.append(UInt8(ascii: ",")) }
      json.append(UInt8(ascii: "\""))
      json += member.rawKey
      json += Array("\":".utf8)
      json += member.value.bytes
    }
    json.append(UInt8(ascii: "}"))
    return json
  }

  /// Whether two records say the same: member by member, however numbers, texts and spaces are spelled.
  static func isSame(_ a: ArraySlice<UInt8>, _ b: ArraySlice<UInt8>) -> Bool {
    do {
      var (mine, theirs) = (try JSONTree(a), try JSONTree(b))
      mine.remove(own)
      theirs.remove(own)
      return mine == theirs
    } catch {
      // What cannot be compared is not the same.
      return false
    }
  }
}
