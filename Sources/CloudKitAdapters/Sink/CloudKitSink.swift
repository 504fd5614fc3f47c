#if CloudKit
  import SyncJSON
  public import SyncModels
  public import SyncPorts

  /// Sends local edits to a CloudKit database; the counterpart of ``CloudKitSource``.
  ///
  /// ```swift
  /// let engine = try await SyncEngine(
  ///   schema: schema, store: store, source: source, sink: CloudKitSink(source))
  /// ```
  ///
  /// Each edit is one operation, on the condition of its base's change tag: `create` for a new
  /// record, `update` with the changed fields alone, `replace` if fields are gone, `delete`.
  /// After a conflict, the server's record is looked up. If it has exactly the edit's content, an
  /// earlier attempt succeeded and its answer was lost: the edit then counts as accepted.
  ///
  /// In a zone, edits of records that refer to each other are applied together or not at all.
  ///
  /// - Note: A deletion leaves nothing in the public database that tells a deleted record from one
  ///   that never existed. Consider a new record whose acknowledgement was lost, and that another
  ///   client deleted before the edit was sent again. It is created a second time. A declared
  ///   ``CloudKitType/deleted`` field prevents that.
  public final class CloudKitSink: RemoteRecordSink {
    /// The identity of the source.
    public let identity: String
    private let source: CloudKitSource

    /// Creates a sink for the database that a source reads.
    ///
    /// It shares the source's access, transport and requested pauses.
    public init(_ source: CloudKitSource) {
      identity = source.identity
      self.source = source
    }

    /// Two hundred operations, and a megabyte.
    public func limits() async throws(SyncError) -> SinkLimits {
      SinkLimits(maximumRecords: CloudKitService.largestPage, maximumBytes: 1_000_000)
    }

    /// Sends changes, each as one operation.
    ///
    /// - Throws: `batchTooLarge` for more changes than an answer has room for, and for a batch that
    ///   the service does not understand as a whole; `authentication`, `permissionDenied`;
    ///   `remoteUnavailable`, with the requested pause, for throttling and failures of the service;
    ///   `invalidResponse` for an answer that lacks the outcome of a change.
    public func push(
      _ changes: [OutgoingChange], entities: SyncSchema
    ) async throws(SyncError) -> [PushOutcome] {
      if changes.isEmpty { return [] }
      var push = try prepare(changes, entities)
      try await push.send()
      try await push.lookUp()
      return try push.outcomes(of: changes)
    }

    /// Whether the source reads a zone: the default zone and the public database have no groups.
    public var appliesGroups: Bool { source.service.database.zone != nil }

    /// Sends the changes of a group in one atomic request.
    ///
    /// - Throws: As ``push(_:entities:)``.
    public func push(
      atomically changes: [OutgoingChange], entities: SyncSchema
    ) async throws(SyncError) -> [PushOutcome] {
      if changes.isEmpty { return [] }
      var push = try prepare(changes, entities)
      try await push.sendAtomically()
      return try push.outcomes(of: changes)
    }

    private func prepare(_ changes: [OutgoingChange], _ entities: SyncSchema) throws(SyncError) -> Push {
      guard changes.count <= CloudKitService.largestPage else {
        throw SyncError(
          .batchTooLarge, during: Self.task,
          "CloudKit takes \(CloudKitService.largestPage) changes at once, not \(changes.count).")
      }
      var push = Push(source: source)
      for (index, change) in changes.enumerated() {
        let entity = entities[change.id.type] ?? Entity(change.id.type)
        push.add(index, change, try source.reader(entity))
      }
      return push
    }

    static let task = "pushing edits"
  }

  /// One batch on its way, with its operations and the outcomes so far.
  struct Push {
    let source: CloudKitSource
    private var outcomes: [Int: PushOutcome] = [:]
    private var operations: [(index: Int, operation: Operation)] = []
    /// The changes whose outcome the service's record decides.
    private var undecided: [Undecided] = []

    fileprivate struct Undecided {
      var index: Int
      var change: OutgoingChange
      var reader: CloudKitRecordReader
      var intended: RecordFields?
      /// Whether the change was applied, and only its result is not known.
      var isApplied = false

      /// Whether the service's record has exactly the edit's content.
      func isSameContent(_ copy: Record) -> Bool {
        guard let intended, let theirs = try? RecordFields(copy.payload, of: reader.entity) else {
          return false
        }
        return intended.hasSameContent(as: theirs)
      }

      /// The operation that makes a record anew which the app's own field marks as deleted.
      ///
      /// A store keeps no tag of a deleted record. If the service's record is the very deletion
      /// that the edit was made on, its tag is the precondition.
      func revival(of record: RecordDictionary?, in database: CloudKitDatabase) -> Operation? {
        guard case .deleted(let base) = change.base, base.entityTag == nil, change.content != .deletion,
          let record, record.errorCode == nil, let tag = record.changeTag,
          case .tombstone(let tombstone) = reader.read(record),
          tombstone.version.modifiedAt == base.version.modifiedAt
        else { return nil }
        var again = change
        again.base = .deleted(Tombstone(id: base.id, version: base.version, entityTag: tag))
        guard case .operation(let operation) = Operation.prepare(again, reader, zone: database.zoneID) else {
          return nil
        }
        return operation
      }
    }

    init(source: CloudKitSource) { self.source = source }

    /// The most requests for one group of records that refer to each other.
    private static let attempts = 4

    /// Adds a change.
    mutating func add(_ index: Int, _ change: OutgoingChange, _ reader: CloudKitRecordReader) {
      switch Operation.prepare(change, reader, zone: source.service.database.zoneID) {
      case .operation(let operation): operations.append((index, operation))
      case .lookup(let intended):
        undecided.append(Undecided(index: index, change: change, reader: reader, intended: intended))
      case .refused(let reason): outcomes[index] = .refused(reason: reason)
      }
    }

    /// Sends the operations.
    ///
    /// Those of records that refer to each other have a request of their own.
    mutating func send() async throws(SyncError) {
      var together = Set<Int>()
      if source.service.database.zone != nil { together = mutual() }
      let alone = operations.filter { !together.contains($0.index) }
      var group = operations.filter { together.contains($0.index) }
      if !alone.isEmpty { _ = try await send(alone, isAtomic: false) }
      for _ in 0..<Self.attempts where !group.isEmpty { group = try await send(group, isAtomic: true) }
      // Others of their group failed. Once those are settled, these are sent again.
      for (index, _) in group { outcomes[index] = .retryLater(after: nil) }
    }

    /// Sends the operations of a group, which has no effect unless each of them can be applied.
    ///
    /// The service names the operations that prevented it. Perhaps all were applied at an earlier
    /// attempt, whose answer was lost: then its records have exactly this content.
    mutating func sendAtomically() async throws(SyncError) {
      let isWhole = outcomes.isEmpty && undecided.isEmpty
      let rest = isWhole ? try await send(operations, isAtomic: true) : operations
      try await lookUp()
      if outcomes.values.allSatisfy(\.isApplied) {
        let decided = outcomes
        undecided = rest.map { index, operation in operation.undecided(index) }
        try await lookUp()
        if outcomes.values.allSatisfy(\.isApplied) { return }
        outcomes = decided
      }
      for (index, _) in rest { outcomes[index] = .notApplied }
      for (index, outcome) in outcomes {
        // Another client has written the same to this record alone, so this edit is over.
        if case .accepted(let word) = outcome { outcomes[index] = .conflict(word) }
      }
    }

    /// Returns the outcomes of the changes, in their order.
    func outcomes(of changes: [OutgoingChange]) throws(SyncError) -> [PushOutcome] {
      var ordered: [PushOutcome] = []
      for index in changes.indices {
        guard let outcome = outcomes[index] else {
          throw SyncError(
            .invalidResponse, during: CloudKitSink.task, "CloudKit does not tell the result of a change.")
        }
        ordered.append(outcome)
      }
      return ordered
    }

    /// The changes of records that refer to another one of the batch, and of those.
    private func mutual() -> Set<Int> {
      let places = Dictionary(
        operations.map { ($0.operation.change.id.key, $0.index) }, uniquingKeysWith: { first, _ in first })
      var together = Set<Int>()
      for (index, operation) in operations {
        for key in operation.references {
          guard let other = places[key], other != index else { continue }
          together.formUnion([index, other])
        }
      }
      return together
    }

    /// Sends one request.
    ///
    /// - Returns: The operations that failed for the failure of another one alone.
    private mutating func send(
      _ operations: [(index: Int, operation: Operation)], isAtomic: Bool
    ) async throws(SyncError) -> [(index: Int, operation: Operation)] {
      var body = ObjectWriter()
      body.add("operations", SplitReference.array(operations.map { $0.operation.json })[...])
      if let zone = source.service.database.zone {
        body.add("zoneID", zone.bytes[...])
        body.add("atomic", Array(isAtomic ? "true".utf8 : "false".utf8)[...])
      }
      let reply: CloudKitService.Reply
      do throws(SyncError) {
        reply = try await source.service.post(
          "records/modify", body.bytes, recordType: nil, during: CloudKitSink.task)
      } catch {
        guard error.code == .invalidConfiguration else { throw error }
        // A front of the service does not take the request, perhaps for its length.
        return try tooMuch(operations, error)
      }
      if let failure = reply.failure { return try take(failure, reply, of: operations) }
      let list = try RecordList(reply.body[...], during: CloudKitSink.task)
      source.service.heed(list)
      let records = list.records
      guard records.count == operations.count else {
        throw SyncError(
          .invalidResponse, during: CloudKitSink.task,
          "\(Counted(operations.count, "change has", "changes have")) \(Counted(records.count, "answer")).")
      }
      var again: [(index: Int, operation: Operation)] = []
      for (entry, record) in zip(operations, records) {
        guard record.name == nil || record.name == entry.operation.change.id.key else {
          throw SyncError(
            .invalidResponse, during: CloudKitSink.task, "CloudKit's answers are in another order.")
        }
        if record.errorCode == "ATOMIC_ERROR" { again.append(entry) } else { settle(entry, record) }
      }
      // Without a culprit, the same request would fail for ever.
      guard again.count < operations.count else {
        throw SyncError(
          .remoteUnavailable, during: CloudKitSink.task,
          "CloudKit applied none of the changes, and does not say which of them failed.")
      }
      return again
    }

    private mutating func tooMuch(
      _ operations: [(index: Int, operation: Operation)], _ error: SyncError
    ) throws(SyncError) -> [(index: Int, operation: Operation)] {
      guard operations.count == 1 else {
        throw SyncError(
          .batchTooLarge, during: CloudKitSink.task,
          "CloudKit does not take \(Counted(operations.count, "change")) at once.", underlying: error)
      }
      outcomes[operations[0].index] = .refused(reason: "CloudKit does not take the record.")
      return []
    }

    /// Takes the refusal of a whole request.
    private mutating func take(
      _ failure: ServiceFailure, _ reply: CloudKitService.Reply,
      of operations: [(index: Int, operation: Operation)]
    ) throws(SyncError) -> [(index: Int, operation: Operation)] {
      let error = source.service.error(failure, reply, recordType: nil, during: CloudKitSink.task)
      switch failure.code {
      case "QUOTA_EXCEEDED":
        for (index, _) in operations { outcomes[index] = .quotaExceeded }
        return []
      case "BAD_REQUEST", "ATOMIC_ERROR", "CONFLICT", "EXISTS", "NOT_FOUND", "VALIDATING_REFERENCE_ERROR":
        if operations.count == 1, failure.code != "BAD_REQUEST", failure.code != "ATOMIC_ERROR" {
          settle(operations[0], code: failure.code, failure)
          return []
        }
        return try tooMuch(operations, error)
      default: throw error
      }
    }

    private mutating func settle(_ entry: (index: Int, operation: Operation), _ record: RecordDictionary) {
      let (index, operation) = entry
      let change = operation.change
      if let code = record.errorCode {
        settle(entry, code: code, ServiceFailure(record.bytes))
        return
      }
      if operation.kind == .delete {
        outcomes[index] = .accepted(.tombstone(Self.tombstone(of: change, record)))
        return
      }
      let word = operation.reader.read(record)
      // An answer may hold the sent fields alone.
      let names = Set(record.fields.map(\.name))
      let isWhole = operation.intended.map { $0.names.allSatisfy { names.contains($0) } } ?? true
      if case .malformed = word {
        undecided.append(operation.undecided(index, isApplied: true))
      } else if !isWhole {
        undecided.append(operation.undecided(index, isApplied: true))
      } else {
        outcomes[index] = .accepted(word)
      }
    }

    /// The tombstone of a deleted record, just later than the deleted copy.
    ///
    /// The service tells no time. A record that is created again has a later one.
    private static func tombstone(of change: OutgoingChange, _ record: RecordDictionary) -> Tombstone {
      let before = change.base.version?.modifiedAt ?? Timestamp(microseconds: 0)
      return Tombstone(
        id: change.id, version: Version(modifiedAt: before + .microseconds(1)), entityTag: record.changeTag)
    }

    private mutating func settle(
      _ entry: (index: Int, operation: Operation), code: String, _ failure: ServiceFailure?
    ) {
      let (index, operation) = entry
      switch code {
      case "CONFLICT", "EXISTS":
        undecided.append(operation.undecided(index))
      case "NOT_FOUND": outcomes[index] = .conflict(nil)
      case "QUOTA_EXCEEDED": outcomes[index] = .quotaExceeded
      case "THROTTLED", "TRY_AGAIN_LATER", "INTERNAL_ERROR":
        outcomes[index] = .retryLater(after: failure?.pause)
      case "ACCESS_DENIED":
        outcomes[index] = .refused(
          reason: "CloudKit answered ACCESS_DENIED: this key or user may not do that.")
      case "VALIDATING_REFERENCE_ERROR":
        outcomes[index] = .refused(
          reason:
            "CloudKit answered VALIDATING_REFERENCE_ERROR: the record refers to one that does not exist.")
      default:
        if let pause = failure?.pause {
          outcomes[index] = .retryLater(after: pause)
        } else {
          outcomes[index] = .refused(
            reason:
              "CloudKit answered \(code.prefix(40))\(Self.field(failure, operation)): it does not accept the record."
          )
        }
      }
    }

    /// The field that the service complains about, if its words name one that was sent.
    ///
    /// The words themselves stay out: they may quote a value.
    private static func field(_ failure: ServiceFailure?, _ operation: Operation) -> String {
      guard let words = failure?.reason, let intended = operation.intended else { return "" }
      let quoted = words.split(whereSeparator: { "'\"".contains($0) }).map(String.init)
      let name = quoted.first { intended.fields[$0] != nil }
      return name.map { " for the field \"\($0)\"" } ?? ""
    }

    /// Looks up the records that decide the remaining outcomes.
    mutating func lookUp() async throws(SyncError) {
      let types = Dictionary(grouping: undecided, by: \.change.id.type)
      var revivals: [(index: Int, operation: Operation)] = []
      for (_, entries) in types.sorted(by: { $0.key < $1.key }) {
        guard let reader = entries.first?.reader else { continue }
        let found = try await source.records(
          named: entries.map(\.change.id.key), reader, during: CloudKitSink.task)
        let records = Dictionary(found.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
        for entry in entries {
          let record = records[entry.change.id.key]
          if let revival = entry.revival(of: record, in: source.service.database) {
            revivals.append((entry.index, revival))
          } else {
            outcomes[entry.index] = try decide(entry, record)
          }
        }
      }
      undecided = []
      guard !revivals.isEmpty else { return }
      _ = try await send(revivals, isAtomic: false)
      try await lookUp()
    }

    private func decide(
      _ entry: Undecided, _ record: RecordDictionary?
    ) throws(SyncError) -> PushOutcome {
      guard let record else { return .conflict(nil) }
      if let code = record.errorCode {
        throw SyncError(
          .remoteUnavailable, during: CloudKitSink.task,
          "CloudKit answered \(code.prefix(40)) for a record that conflicts with a change.",
          retryAfter: ServiceFailure(record.bytes)?.pause)
      }
      let word = entry.reader.read(record)
      switch word {
      case .upsert(let copy):
        // The existing record equals the one sent: an earlier attempt was accepted.
        if entry.isApplied || entry.isSameContent(copy) { return .accepted(word) }
        return .conflict(word)
      case .tombstone: return entry.change.content == .deletion ? .accepted(word) : .conflict(word)
      case .malformed:
        return .refused(
          reason: "CloudKit's own record cannot be read, so the edit would overwrite it unseen.")
      }
    }
  }

  extension Operation {
    /// The change, to be decided by the service's record.
    fileprivate func undecided(_ index: Int, isApplied: Bool = false) -> Push.Undecided {
      Push.Undecided(index: index, change: change, reader: reader, intended: intended, isApplied: isApplied)
    }
  }

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
