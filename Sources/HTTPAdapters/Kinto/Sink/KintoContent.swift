import SyncJSON
import SyncModels

/// The content of a record, without the members that the server adds.
enum KintoContent {
  /// The members that the server manages.
  ///
  /// A `last_modified` that is sent would become the record's, whatever the time is.
  static let serverManagedFields: [FieldName] = ["id", "last_modified"]
  private static let own = serverManagedFields.map { Array($0.rawValue.utf8) }

  /// A payload as it is sent: every other member unchanged.
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

  /// Whether two records have the same members and values, in any spelling.
  ///
  /// Numbers, strings and white space may be spelled differently.
  static func isSame(_ a: ArraySlice<UInt8>, _ b: ArraySlice<UInt8>) -> Bool {
    // A value that cannot be compared counts as different.
    guard var mine = try? FieldMap(Payload(a)), var theirs = try? FieldMap(Payload(b)) else { return false }
    for name in serverManagedFields { (mine[name], theirs[name]) = (nil, nil) }
    return mine.fields.count == theirs.fields.count && mine.contains(theirs)
  }
}
