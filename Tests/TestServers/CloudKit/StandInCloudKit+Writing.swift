#if CloudKit && os(Linux)
  import InMemoryAdapters
  import SyncJSON
  import SyncModels

  extension StandInCloudKit.State {
    /// One operation of a request.
    private struct Operation {
      var kind: String
      var name: String
      var type: String?
      var tag: String?
      var fields: [(name: String, value: String?, type: String?)] = []
      var size: Int
    }

    /// The refusal of one operation.
    private struct Refusal: Error {
      var code: String
      var reason: String
      var pause: Int?
      init(_ code: String, _ reason: String, pause: Int? = nil) {
        (self.code, self.reason, self.pause) = (code, reason, pause)
      }
    }

    mutating func modify(_ call: Call) throws(Answer) -> Answer {
      let request = try RequestObject(
        call.body[...], known: ["operations", "zoneID", "atomic", "desiredKeys", "numbersAsStrings"])
      let elements = try request.list("operations") ?? []
      guard (1...200).contains(elements.count) else {
        throw Answer("BAD_REQUEST", "a request has 1 to 200 operations")
      }
      var operations: [Operation] = []
      for element in elements { operations.append(try operation(element)) }
      guard Set(operations.map(\.name)).count == operations.count else {
        throw Answer("BAD_REQUEST", "a request has one operation for each record")
      }
      let zoneName = try request.zone()
      guard let before = databases[call.database]?.zones[zoneName] else {
        throw Answer("ZONE_NOT_FOUND", "no such zone")
      }
      let isDefault = zoneName == "_defaultZone"
      if isDefault, request["atomic"]?.bool() == true {
        throw Answer("BAD_REQUEST", "atomic is not supported in the default zone")
      }
      let isAtomic = !isDefault && request["atomic"]?.bool() != false

      var zone = before
      var results: [Result<String, Refusal>] = []
      let spoiled = choosePlace(operations.indices)
      for (place, operation) in operations.enumerated() {
        if place == spoiled, let recordError {
          results.append(.failure(Refusal(recordError.code, "the shard is away", pause: recordError.pause)))
          continue
        }
        do throws(Refusal) {
          results.append(.success(try apply(operation, to: &zone, at: call.milliseconds)))
        } catch {
          results.append(.failure(error))
        }
      }
      // A reference may be to a record that a later operation creates.
      for (place, operation) in operations.enumerated() {
        guard case .success = results[place], let row = zone.rows[operation.name], Self.dangles(row, in: zone)
        else { continue }
        results[place] = .failure(Refusal("VALIDATING_REFERENCE_ERROR", "the target does not exist"))
        zone.rows[operation.name] = before.rows[operation.name]
        let known = Set(before.pending.map(\.sequence))
        zone.pending.removeAll { $0.name == operation.name && !known.contains($0.sequence) }
      }
      let fails = results.contains { if case .failure = $0 { true } else { false } }
      if isAtomic, fails {
        let records = zip(operations, results).map { operation, result in
          if case .failure(let refusal) = result { return Self.refusal(operation, refusal) }
          return Self.refusal(operation, Refusal("ATOMIC_ERROR", "another operation failed"))
        }
        var answer = Answer(Array(#"{"records":[\#(records.joined(separator: ","))]}"#.utf8))
        answer.status = 400
        return answer
      }
      databases[call.database]?.zones[zoneName] = zone
      settle(at: call.milliseconds)
      let records = zip(operations, results).map { operation, result in
        switch result {
        case .success(let json): json
        case .failure(let refusal): Self.refusal(operation, refusal)
        }
      }
      return Answer(Array(#"{"records":[\#(records.joined(separator: ","))]}"#.utf8))
    }

    private static func refusal(_ operation: Operation, _ refusal: Refusal) -> String {
      let pause = refusal.pause.map { #","retryAfter":\#($0)"# } ?? ""
      return
        #"{"recordName":\#(quoted(operation.name)),"reason":"\#(refusal.reason)","serverErrorCode":"\#(refusal.code)","uuid":"1"\#(pause)}"#
    }

    private func operation(_ element: JSONValueSlice) throws(Answer) -> Operation {
      let part = try RequestObject(element.bytes, known: ["operationType", "record", "desiredKeys"])
      guard let kind = part["operationType"]?.string(),
        ["create", "update", "replace", "delete"].contains(kind),
        let record = try part.object(
          "record", known: ["recordName", "recordType", "recordChangeTag", "fields", "parent"]),
        let name = record["recordName"]?.string()
      else { throw Answer("BAD_REQUEST", "an operation is incomplete") }
      guard (1...255).contains(name.utf8.count), !name.hasPrefix("_") else {
        throw Answer("BAD_REQUEST", "invalid record name")
      }
      let tag = record["recordChangeTag"]?.string()
      if kind != "create", tag == nil { throw Answer("BAD_REQUEST", "missing recordChangeTag") }
      if kind != "delete", record["recordType"]?.string() == nil {
        throw Answer("BAD_REQUEST", "missing recordType")
      }
      var operation = Operation(
        kind: kind, name: name, type: record["recordType"]?.string(), tag: tag, size: element.bytes.count)
      guard let fields = record["fields"] else { return operation }
      var names: [(String, JSONValueSlice)] = []
      do {
        try JSONScanner.members(of: fields.bytes) { member throws(JSONError) in
          names.append((member.key, member.value))
        }
      } catch {
        throw Answer("BAD_REQUEST", "fields are not JSON")
      }
      for (name, value) in names {
        guard let first = name.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first | 0x20)
        else {
          throw Answer("BAD_REQUEST", "invalid field name \(name)")
        }
        let field = try RequestObject(value.bytes, known: ["value", "type", "isEncrypted"])
        let content = field["value"].flatMap { $0.isNull ? nil : String(decoding: $0.bytes, as: UTF8.self) }
        operation.fields.append((name, content, field["type"]?.string()))
      }
      return operation
    }

    private mutating func apply(
      _ operation: Operation, to zone: inout Zone, at now: Int64
    ) throws(Refusal) -> String {
      let current = zone.rows[operation.name]
      if operation.kind == "create" {
        if current != nil {
          throw chance(0.5)
            ? Refusal("EXISTS", "record exists")
            : Refusal("CONFLICT", "record to insert already exists")
        }
      } else {
        guard let current else { throw Refusal("NOT_FOUND", "record not found") }
        guard current.tag == operation.tag else {
          throw Refusal("CONFLICT", "client oplock error updating record")
        }
      }
      let lag = lag()
      if operation.kind == "delete" {
        zone.delete(operation.name, lag: lag, at: now)
        return #"{"recordName":\#(quoted(operation.name)),"deleted":true}"#
      }
      guard operation.size <= 1_000_000 else { throw Refusal("BAD_REQUEST", "record too large") }
      let used =
        settings.quota == .max
        ? 0 : zone.rows.values.reduce(0) { $0 + $1.fields.reduce(100) { $0 + $1.field.value.utf8.count } }
      guard settings.quota == .max || used + operation.size <= settings.quota else {
        throw Refusal("QUOTA_EXCEEDED", "the storage is full")
      }
      var row = current ?? Row(name: operation.name, type: operation.type ?? "", created: now)
      guard row.type == operation.type else { throw Refusal("BAD_REQUEST", "wrong record type") }
      if operation.kind == "replace" { row.fields = [] }
      for field in operation.fields {
        row.fields.removeAll { $0.name == field.name }
        guard let value = field.value else { continue }
        try check(field.name, value, field.type, of: row.type)
        row.fields.append((field.name, StandInField(value, field.type ?? "STRING")))
      }
      row.modified = now - now % settings.granularity
      zone.nextTag += 1
      row.tag = "w\(zone.nextTag)"
      zone.write(row, lag: lag, at: now)
      return row.json(nil)
    }

    /// Holds a field's value to its type.
    private func check(
      _ name: String, _ value: String, _ type: String?, of recordType: String
    ) throws(Refusal) {
      guard let type, let slice = try? JSONValueSlice(checking: Array(value.utf8)[...]) else {
        throw Refusal("BAD_REQUEST", "a field has no type")
      }
      let isSound =
        switch type {
        case "STRING", "BYTES": slice.kind == .string
        case "INT64", "TIMESTAMP": slice.integer() != nil
        case "DOUBLE": slice.kind == .number
        case "LOCATION", "REFERENCE", "ASSETID": slice.kind == .object
        default: type.hasSuffix("_LIST") && slice.kind == .array
        }
      guard isSound else { throw Refusal("BAD_REQUEST", "invalid attempt to set value for field") }
    }

    /// Whether a reference that has to be valid has no target.
    private static func dangles(_ row: Row, in zone: Zone) -> Bool {
      row.fields.contains { _, field in
        guard field.type == "REFERENCE" else { return false }
        var (name, action) = ("", "NONE")
        try? JSONScanner.members(of: Array(field.value.utf8)[...]) { member throws(JSONError) in
          if member.key == "recordName" { name = member.value.string() ?? "" }
          if member.key == "action" { action = member.value.string() ?? "" }
        }
        return action != "NONE" && zone.rows[name] == nil
      }
    }
  }
#endif
