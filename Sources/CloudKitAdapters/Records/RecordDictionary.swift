#if CloudKit
  import HTTPAdapters
  import SyncJSON
  import SyncModels

  /// One record as the service spells it, or the error that stands in its place.
  struct RecordDictionary {
    /// One field: its value and type, with everything else that the service says about it.
    struct Field {
      var name: String
      /// The field's object as received.
      var bytes: ArraySlice<UInt8>
      var value: JSONValueSlice?
      var type: String?
      /// Whether the member `type` is not a string.
      var hasOddType = false
      /// The members besides `value` and `type`.
      var others: [(key: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] = []
    }

    /// The dictionary as received.
    let bytes: ArraySlice<UInt8>
    private(set) var name: String?
    private(set) var recordType: String?
    private(set) var changeTag: String?
    private(set) var isDeleted = false
    private(set) var modified: Int64?
    /// The error code, if the service could not return the record.
    private(set) var errorCode: String?
    /// The pause that the service asks for with the error.
    private(set) var retryAfter: Double?
    private(set) var fields: [Field] = []
    /// The members besides `recordName` and `fields`, as received.
    private(set) var others: [(key: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] = []
    /// The flaw that makes the dictionary unreadable as a record, if there is one.
    private(set) var flaw: String?

    /// Reads a dictionary.
    ///
    /// - Throws: ``JSONError`` for bytes that are no JSON object, or nest too deeply.
    init(_ bytes: ArraySlice<UInt8>) throws(JSONError) {
      self.bytes = bytes
      try JSONScanner.members(of: bytes) { member throws(JSONError) in try read(member) }
      if flaw == nil, name?.isEmpty != false { flaw = "has no \"recordName\" that is a string" }
    }

    private mutating func read(_ member: JSONMember) throws(JSONError) {
      let value = member.value
      switch member.key {
      case "recordName":
        name = value.string()
        return
      case "fields":
        fields = []
        guard value.kind == .object else {
          if !value.isNull { flaw = "has \"fields\" that are \(value.kind), not an object" }
          return
        }
        try JSONScanner.members(of: value.bytes) { field throws(JSONError) in
          fields.append(try Self.field(field))
        }
        return
      case "recordType": recordType = value.string()
      case "recordChangeTag": changeTag = value.string()
      case "deleted": isDeleted = value.bool() == true
      case "serverErrorCode": errorCode = value.string() ?? "an unknown error"
      case "retryAfter": retryAfter = value.double()
      case "modified": modified = try Self.timestamp(in: value)
      default: break
      }
      others.append((member.rawKey, value.bytes))
    }

    private static func field(_ member: JSONMember) throws(JSONError) -> Field {
      var field = Field(name: member.key, bytes: member.value.bytes)
      guard member.value.kind == .object else { return field }
      try JSONScanner.members(of: member.value.bytes) { part throws(JSONError) in
        if part.hasKey(Array("value".utf8)) {
          field.value = part.value
        } else if part.hasKey(Array("type".utf8)) {
          field.type = part.value.string()
          field.hasOddType = field.type == nil
        } else {
          field.others.append((part.rawKey, part.value.bytes))
        }
      }
      return field
    }

    /// The milliseconds in a dictionary such as `modified`; `nil` without a sensible number.
    private static func timestamp(in value: JSONValueSlice) throws(JSONError) -> Int64? {
      guard value.kind == .object else { return nil }
      var milliseconds: Int64?
      try JSONScanner.members(of: value.bytes) { part throws(JSONError) in
        guard part.hasKey(Array("timestamp".utf8)) else { return }
        milliseconds =
          part.value.integer() ?? part.value.double().flatMap { Int64(exactly: $0.rounded(.down)) }
      }
      return milliseconds.flatMap { (1...Timestamp.latestMillisecond).contains($0) ? $0 : nil }
    }
  }

  /// The list of records in an answer, each read once.
  struct RecordList {
    private(set) var records: [RecordDictionary] = []
    /// The elements that could not be read at all, each with its flaw.
    private(set) var unreadable: [(bytes: ArraySlice<UInt8>, reason: String)] = []
    private(set) var marker: String?

    /// Creates an empty list.
    init() {}

    /// Reads an answer.
    ///
    /// - Throws: `invalidResponse` for an answer that is not JSON, or has no list of records.
    init(_ body: ArraySlice<UInt8>, during task: String) throws(SyncError) {
      var hasList = false
      do {
        try JSONScanner.members(of: body, depthLimit: .max) { member throws(JSONError) in
          if member.hasKey(Array("continuationMarker".utf8)) { marker = member.value.string() }
          guard member.hasKey(Array("records".utf8)), member.value.kind == .array else { return }
          hasList = true
          try JSONScanner.elements(of: member.value.bytes, depthLimit: .max) { element throws(JSONError) in
            take(element)
          }
        }
      } catch {
        throw SyncError(
          .invalidResponse, during: task, "CloudKit's answer \(error.description).", underlying: error)
      }
      guard hasList else {
        throw SyncError(.invalidResponse, during: task, "CloudKit's answer has no list \"records\".")
      }
    }

    private mutating func take(_ element: JSONValueSlice) {
      do {
        records.append(try RecordDictionary(element.bytes))
      } catch {
        // Such a record is one that nests too deeply; the answer around it is sound.
        unreadable.append((element.bytes, error.description))
      }
    }

    /// The unreadable elements as malformed records of a type.
    func malformed(_ type: RecordType) -> [RecordChange] {
      unreadable.map { bytes, reason in
        .malformed(MalformedRecord(type: type, bytes: Payload(bytes).detached(), reason: reason))
      }
    }
  }
#endif
