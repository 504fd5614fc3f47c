import SyncJSON
import SyncModels

/// Records as clients see them and send them.
enum RecordJSON {
  private static let id = Array("id".utf8)
  private static let lastModified = Array("last_modified".utf8)

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
      if member.hasKey(id) || member.hasKey(lastModified) { return }
      guard fields?.contains(member.key) ?? true else { return }
      json += Array(",\"".utf8) + member.rawKey + Array("\":".utf8)
      json += member.value.bytes
    }
    json.append(UInt8(ascii: "}"))
    return json
  }

  /// Whether clients may make a record of this id: Kinto's rule.
  static func isNewID(_ text: String) -> Bool {
    let bytes = text.utf8
    guard let first = bytes.first, !"-_".utf8.contains(first), bytes.count <= 512 else { return false }
    return bytes.allSatisfy {
      (48...57).contains($0) || (97...122).contains($0 | 0x20) || "-_".utf8.contains($0)
    }
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
  init(_ body: [UInt8], isOptional: Bool = true) throws(SyncError) {
    if isOptional, body.isEmpty { return }
    let whole = try FieldMap(body: body)
    for name in whole.fields where name != "data" && name != "permissions" {
      throw Refusal.parameter(name.rawValue, "Unrecognized field", in: "body")
    }
    guard let data = whole["data"] else {
      if isOptional { return }
      throw Refusal.parameter("data", "Required", in: "body")
    }
    guard let all = try? FieldMap(Payload(data)) else {
      throw Refusal.parameter("data", "is not an object", in: "body")
    }
    members = all.withoutServers
    for name in members.fields {
      if let value = members[name], let flaw = UnportableJSON(in: value) {
        throw Refusal.parameter("data.\(name)", "\(flaw.description), which is not portable JSON", in: "body")
      }
    }
    guard all["id"] != nil else { return }
    guard case .string(let text) = all[scalar: "id"] else {
      throw Refusal.parameter("data.id", "is not a string", in: "body")
    }
    id = text
  }

  /// - Throws: If the body names another record.
  func check(isOf key: String) throws(SyncError) {
    if let id, !id.isSameUTF8(as: key) {
      throw Refusal.parameter("data.id", "is not the record's id", in: "body")
    }
  }
}

extension FieldMap {
  /// Reads the body of a request.
  init(body: [UInt8]) throws(SyncError) {
    do {
      self = try FieldMap(Payload(body))
    } catch {
      throw Refusal.parameter("body", "Invalid JSON: \(error)", in: "body")
    }
  }

  /// The members that are not the server's.
  var withoutServers: FieldMap {
    var members = self
    (members["id"], members["last_modified"]) = (nil, nil)
    return members
  }

  /// Lays members over these: each one as a whole or, as RFC 7396 has it, with `null` for none and
  /// objects member by member.
  mutating func lay(_ patch: FieldMap, merging: Bool = false) {
    for name in patch.fields {
      guard merging, let value = patch[name], let part = try? FieldMap(Payload(value)) else {
        self[name] = merging && patch.isLacking(name) ? nil : patch[name]
        continue
      }
      var merged = self[name].flatMap { try? FieldMap(Payload($0)) } ?? FieldMap()
      merged.lay(part, merging: true)
      self[name] = merged.payload.bytes
    }
  }
}
