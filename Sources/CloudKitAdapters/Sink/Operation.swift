#if CloudKit
  import SyncJSON
  import SyncModels

  /// One change as an operation of `records/modify`.
  struct Operation {
    /// What the service is asked to do.
    enum Kind: String {
      case create, update, replace, delete
    }

    let change: OutgoingChange
    let reader: CloudKitRecordReader
    let kind: Kind
    /// The fields that the record should have afterwards; empty for a deletion.
    let intended: RecordFields?
    /// The names of the fields that the operation sends; `nil` for all of them.
    private let sent: [String]?
    private let zone: ZoneID

    /// The result of preparing a change.
    enum Prepared {
      case operation(Operation)
      /// The service's record decides.
      case lookup(RecordFields?)
      case refused(reason: String)
    }

    /// The most bytes of a record without its assets.
    private static let largestRecord = 1_000_000

    /// Prepares a change.
    static func prepare(
      _ change: OutgoingChange, _ reader: CloudKitRecordReader, zone: ZoneID
    ) -> Prepared {
      let tag = change.base.record.flatMap(\.entityTag) ?? softTag(change, reader)
      guard let payload = change.content.payload else {
        // A deletion must not hit a state that was never seen here.
        guard tag != nil, change.base.record != nil else { return .lookup(nil) }
        return .operation(
          Operation(
            change: change, reader: reader, kind: reader.type.deleted == nil ? .delete : .update,
            intended: nil, sent: nil, zone: zone))
      }
      if change.id.key.utf8.count > 255 || change.id.key.hasPrefix("_") {
        return .refused(
          reason: "CloudKit's record names have at most 255 bytes and do not begin with an underscore.")
      }
      do throws(RecordFields.Flaw) {
        let base = change.base.record?.payload
        let intended = try RecordFields(
          payload, base: base, of: reader.entity, types: reader.type.fields, zone: zone)
        var kind = Kind.create
        var sent: [String]?
        if change.base.record != nil, tag != nil, let base {
          let before = try RecordFields(base, of: reader.entity, types: reader.type.fields, zone: zone)
          let (changed, removesAny) = intended.changes(since: before)
          kind = removesAny ? .replace : .update
          sent = removesAny ? nil : changed
        } else if tag != nil {
          kind = .replace
        } else if change.base.record != nil {
          // A base that came from no server: whatever is there now decides.
          kind = .create
        }
        let operation = Operation(
          change: change, reader: reader, kind: kind, intended: intended, sent: sent, zone: zone)
        let size = operation.json.count
        guard size <= largestRecord else {
          return .refused(
            reason: "The record has \(size) bytes; CloudKit takes a megabyte, besides assets.")
        }
        return .operation(operation)
      } catch {
        return .refused(reason: "The edit has no spelling in CloudKit: \(error.reason)")
      }
    }

    /// The tag of an existing record that the app's own field marks as deleted.
    private static func softTag(_ change: OutgoingChange, _ reader: CloudKitRecordReader) -> String? {
      guard reader.type.deleted != nil, case .deleted(let tombstone) = change.base else { return nil }
      return tombstone.entityTag
    }

    /// The operation as the service takes it.
    var json: [UInt8] {
      var record = ObjectWriter()
      record.add("recordName", text: change.id.key)
      record.add("recordType", text: reader.type.recordType)
      if kind != .create, let tag = change.base.record?.entityTag ?? Self.softTag(change, reader) {
        record.add("recordChangeTag", text: tag)
      }
      if kind != .delete { record.add("fields", fields[...]) }
      if kind == .replace || kind == .create, let parent { record.add("parent", parent) }
      var operation = ObjectWriter()
      operation.add("operationType", text: kind.rawValue)
      operation.add("record", record.bytes[...])
      return operation.bytes
    }

    private var fields: [UInt8] {
      guard let intended else {
        var fields = ObjectWriter()
        if let deleted = reader.type.deleted { fields.add(deleted.rawValue, Self.flag("1")) }
        return fields.bytes
      }
      return intended.object(sent)
    }

    private static func flag(_ value: String) -> ArraySlice<UInt8> {
      Array(#"{"value":\#(value),"type":"INT64"}"#.utf8)[...]
    }

    /// The record's parent, which a replacement keeps.
    private var parent: ArraySlice<UInt8>? {
      guard let base = change.base.record?.payload, let map = try? FieldMap(base),
        let rest = map[RecordPayload.record]
      else { return nil }
      var parent: ArraySlice<UInt8>?
      try? JSONScanner.members(of: rest, depthLimit: .max) { member throws(JSONError) in
        if member.hasKey(Array("parent".utf8)), member.value.kind == .object { parent = member.value.bytes }
      }
      return parent
    }

    /// The keys that the record refers to by declared references.
    var references: Set<String> {
      guard let intended else { return [] }
      return Set(
        reader.entity.references.compactMap { reference -> String? in
          guard reference.target == reader.entity.type, let field = intended.fields[reference.field.rawValue]
          else { return nil }
          return (try? JSONValueSlice(checking: field.plain[...]))?.string()
        })
    }
  }
#endif
