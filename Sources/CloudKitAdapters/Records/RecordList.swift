#if CloudKit
  import SyncJSON
  import SyncModels

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
