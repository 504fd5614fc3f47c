import SyncJSON
import SyncModels

/// Records as clients see them and send them.
enum RecordJSON {
  private static let id = Array("id".utf8)
  private static let lastModified = Array("last_modified".utf8)

  /// Whether a member is the server's.
  static func isServers(_ member: JSONMember) -> Bool { member.hasKey(id) || member.hasKey(lastModified) }

  /// A record with its timestamp.
  ///
  /// - Parameter fields: The members to show; `nil` for all.
  static func object(_ record: Record, stamp: Int64, fields: Set<String>? = nil) -> [UInt8] {
    var json = Array("{\"id\":".utf8)
    json.reserveCapacity(record.payload.bytes.count + 64)
    JSONString.append(record.id.key, to: &json)
    json += Array(",\"last_modified\":\(stamp)".utf8)
    // What is no object has no members to show.
    try? JSONScanner.members(of: record.payload.bytes, depthLimit: .max) { member throws(JSONError) in
      if isServers(member) || fields.map({ !$0.contains(member.key) }) ?? false { return }
      json += Array(",\"".utf8) + member.rawKey + Array("\":".utf8)
      json += member.value.bytes
    }
    json.append(UInt8(ascii: "}"))
    return json
  }

  static func tombstone(_ key: String, stamp: Int64) -> [UInt8] {
    Array("{\"id\":".utf8) + JSONString.quoted(key)
      + Array(",\"last_modified\":\(stamp),\"deleted\":true}".utf8)
  }

  /// The body of an answer with one value.
  static func data(_ value: [UInt8], permissions: Bool = true) -> [UInt8] {
    Array("{\"data\":".utf8) + value + Array((permissions ? ",\"permissions\":{}}" : "}").utf8)
  }

  static func list(_ values: [[UInt8]]) -> [UInt8] {
    var json = Array("{\"data\":[".utf8)
    json.reserveCapacity(values.reduce(16) { $0 + $1.count + 1 })
    for (place, value) in values.enumerated() {
      if place > 0 { json.append(UInt8(ascii: ",")) }
      json += value
    }
    return json + Array("]}".utf8)
  }

  /// Whether clients may make a record of this id: Kinto's rule.
  static func isNewID(_ text: String) -> Bool {
    guard let first = text.utf8.first, text.utf8.count <= 512, isAlphanumeric(first) else { return false }
    return text.utf8.allSatisfy { isAlphanumeric($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (97...122).contains(byte | 0x20)
  }
}

/// The content that a request's body gives a record.
struct SentRecord {
  /// The id in the body, if there is one.
  var id: String?
  /// The members, without those of the server.
  var members = FieldMap()

  /// Reads a body `{"data": {…}}`.
  ///
  /// - Parameter isOptional: Whether a request without a body, or without data, has empty data.
  init(_ body: [UInt8], isOptional: Bool) throws(SyncError) {
    var data: ArraySlice<UInt8>?
    var flaw: Refusal?
    do {
      try JSONScanner.validate(body[...])
      try JSONScanner.members(of: body[...]) { member throws(JSONError) in
        if member.key != "data", member.key != "permissions" {
          flaw = .parameter(member.key, "Unrecognized field", in: "body")
        }
        guard member.key == "data" else { return }
        if member.value.kind == .object {
          data = member.value.bytes
        } else {
          flaw = .parameter("data", "is not an object", in: "body")
        }
      }
    } catch {
      if !(isOptional && body.isEmpty) { flaw = .parameter("body", "Invalid JSON: \(error)", in: "body") }
    }
    if let flaw { throw flaw.error }
    guard let data else {
      if isOptional { return }
      throw Refusal.parameter("data", "Required", in: "body").error
    }
    guard let all = try? FieldMap(Payload(data)) else {
      throw Refusal.parameter("data", "is not an object", in: "body").error
    }
    members = all
    (members["id"], members["last_modified"]) = (nil, nil)
    for name in members.fields {
      if let value = members[name], let flaw = UnportableJSON(in: value) {
        throw Refusal.parameter("data.\(name)", "\(flaw.description), which is not portable JSON", in: "body")
          .error
      }
    }
    guard let given = all["id"] else { return }
    guard let value = Self.value(given), case .string(let text) = value else {
      throw Refusal.parameter("data.id", "is not a string", in: "body").error
    }
    id = text
  }

  private static func value(_ bytes: ArraySlice<UInt8>) -> FieldValue? {
    try? Payload(Array("{\"v\":".utf8) + bytes + Array("}".utf8)).values(of: ["v"]).first
  }

  /// Lays the members over a record's: each one as a whole or, as RFC 7396 has it, with `null` for
  /// none and objects member by member.
  func patching(_ old: FieldMap, merging: Bool) -> FieldMap {
    merging ? Self.merged(old, members, depth: 0) : members.fields.reduce(into: old) { $0[$1] = members[$1] }
  }

  private static func merged(_ old: FieldMap, _ patch: FieldMap, depth: Int) -> FieldMap {
    var result = old
    for name in patch.fields {
      guard let value = patch[name] else { continue }
      if patch.isLacking(name) {
        result[name] = nil
      } else if depth < JSONScanner.defaultDepthLimit, let part = try? FieldMap(Payload(value)) {
        let former = old[name].flatMap { try? FieldMap(Payload($0)) } ?? FieldMap()
        result[name] = merged(former, part, depth: depth + 1).payload.bytes
      } else {
        result[name] = value
      }
    }
    return result
  }
}
