import SyncJSON

/// The stamp of an edit in the library's own member of its record.
///
/// The member's value is a digest of the other members, a space, and the stamp. The digest tells
/// whether the record is unchanged since it was stamped: another writer may have changed the record
/// and kept the member.
extension EditStamp {
  /// Reads the stamp that a payload carries, if the payload is unchanged since.
  ///
  /// - Parameter serverManagedFields: The members that the remote writes itself. The digest leaves
  ///   them out.
  init?(carriedBy payload: Payload, ignoring serverManagedFields: [FieldName]) {
    guard payload.mentions(MemberMention.editStamp),
      let members = try? payload.memberDigest(ignoring: serverManagedFields),
      let (stamp, digest) = Self.parts(of: payload, at: members.found), digest == members.value
    else { return nil }
    self = stamp
  }

  /// Reads the stamp from a member that the app chose.
  init?(in field: FieldName, of payload: Payload) {
    guard case .string(let text)? = try? payload.values(of: [field]).first else { return nil }
    self.init(text)
  }

  /// Reads the stamp that a payload carries, whether the payload changed since or not.
  init?(statedBy payload: Payload) {
    guard payload.mentions(MemberMention.editStamp),
      case .string(let text)? = try? payload.values(of: [.editStamp]).first,
      let (stamp, _) = Self.parts(of: text)
    else { return nil }
    self = stamp
  }

  private static func parts(of payload: Payload, at token: JSONToken?) -> (EditStamp, digest: UInt64)? {
    guard let token, token.kind == .string else { return nil }
    return JSONValueSlice(document: payload.bytes, token: token).string().flatMap(parts(of:))
  }

  private static func parts(of text: String) -> (EditStamp, digest: UInt64)? {
    let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].utf8.count == 16, let digest = UInt64(parts[0], radix: 16),
      let stamp = EditStamp(String(parts[1]))
    else { return nil }
    return (stamp, digest)
  }
}

extension Payload {
  /// The digest of all members but the library's own, which the same pass locates.
  fileprivate func memberDigest(ignoring serverManagedFields: [FieldName]) throws(JSONError) -> MemberDigest {
    try MemberDigest(
      of: bytes, finding: FieldName.editStamp.rawValue, ignoring: serverManagedFields.map(\.rawValue))
  }

  /// The payload with an edit's stamp in the library's own member.
  ///
  /// A payload that is not one JSON object stays unchanged.
  func stamped(_ stamp: EditStamp, ignoring serverManagedFields: [FieldName]) -> Payload {
    guard let members = try? memberDigest(ignoring: serverManagedFields)
    else {
      return self
    }
    let digits = String(members.value, radix: 16)
    let text = String(repeating: "0", count: 16 - digits.utf8.count) + digits + " " + stamp.description
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count + FieldName.editStamp.rawValue.utf8.count + text.utf8.count + 8)
    if let found = members.found {
      result.append(contentsOf: bytes[..<(bytes.startIndex + found.start)])
      JSONString.append(text, to: &result)
      result.append(contentsOf: bytes[(bytes.startIndex + found.end)...])
    } else if let end = bytes.lastIndex(of: UInt8(ascii: "}")) {
      result.append(contentsOf: bytes[..<end])
      if !members.isEmpty { result.append(UInt8(ascii: ",")) }
      JSONString.append(FieldName.editStamp.rawValue, to: &result)
      result.append(UInt8(ascii: ":"))
      JSONString.append(text, to: &result)
      result.append(contentsOf: bytes[end...])
    }
    return Payload(result)
  }

  /// The payload without the library's own member.
  package var withoutEditStamp: Payload {
    guard mentions(MemberMention.editStamp), var map = try? FieldMap(self), map[.editStamp] != nil else {
      return self
    }
    map[.editStamp] = nil
    return map.payload
  }
}
