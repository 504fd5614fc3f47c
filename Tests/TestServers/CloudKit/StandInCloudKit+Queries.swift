#if CloudKit && os(Linux)
  import InMemoryAdapters
  import SyncJSON
  import SyncModels

  extension StandInCloudKit.State {
    /// One comparison of a query.
    private struct Filter {
      var field: String
      var comparator: String
      var value: FieldValue
    }

    mutating func query(_ call: Call) throws(Answer) -> Answer {
      let request = try RequestObject(
        call.body[...],
        known: ["query", "zoneID", "resultsLimit", "continuationMarker", "desiredKeys", "numbersAsStrings"])
      guard let query = try request.object("query", known: ["recordType", "filterBy", "sortBy"]),
        let type = query["recordType"]?.string()
      else { throw Answer("BAD_REQUEST", "no query") }
      let zoneName = try request.zone()
      guard let zone = databases[call.database]?.zones[zoneName] else {
        throw Answer("ZONE_NOT_FOUND", "no such zone")
      }
      let filters = try filters(query)
      let isSorted = try sortField(query)
      if filters.isEmpty, !settings.queryable.contains("recordName") {
        throw Answer("BAD_REQUEST", "Field 'recordName' is not marked queryable")
      }
      let keys = try request.strings("desiredKeys")
      let limit = max(
        0,
        min(request["resultsLimit"]?.integer().map { Int($0) } ?? settings.mostRecords, settings.mostRecords))
      if request["resultsLimit"] != nil, limit < 1 { throw Answer("BAD_REQUEST", "bad resultsLimit") }

      let text =
        Array((query["recordType"]?.bytes ?? []) + (query["filterBy"]?.bytes ?? []))
        + Array("|\(zoneName)|\(keys ?? ["*"])".utf8)
      var marker = Marker(
        query: text, zone: zoneName, salt: UInt64.random(in: .min ... .max, using: &random), offset: 0,
        time: .min, rank: 0)
      if let token = request["continuationMarker"]?.string() {
        guard let known = databases[call.database]?.markers[token] else {
          throw Answer("BAD_REQUEST", "Invalid continuation marker")
        }
        guard known.query == text else {
          throw Answer("BAD_REQUEST", "The continuation marker belongs to another query")
        }
        marker = known
      }
      // The usual filter first, as most records of a large type are outside it.
      let times = filters.filter { $0.field == "___modTime" }
      let found = zone.index.values.filter { row in
        row.type == type && times.allSatisfy { Self.matches(.integer(row.modified), $0) }
          && filters.allSatisfy { $0.field == "___modTime" || Self.matches(Self.value(row, $0.field), $0) }
      }
      let salt = marker.salt
      let ranked = found.map { (row: $0, rank: Self.rank($0.sequence, salt)) }
      var sorted = ranked.sorted { a, b in
        if isSorted, a.row.modified != b.row.modified { return a.row.modified < b.row.modified }
        return a.rank < b.rank
      }
      let isFirst = marker.time == .min
      if settings.countsByOffset {
        sorted = Array(sorted.dropFirst(marker.offset))
      } else if !isFirst {
        let (time, rank) = (marker.time, marker.rank)
        sorted = sorted.filter {
          isSorted ? ($0.row.modified, $0.rank) > (time, rank) : $0.rank > rank
        }
      }
      var count = limit
      if settings.hasShortPages, chance(0.25) { count = Int.random(in: 0...limit, using: &random) }
      let page = sorted.prefix(count)
      var next: String?
      if sorted.count > count {
        marker.offset += count
        if let last = page.last { (marker.time, marker.rank) = (last.row.modified, last.rank) }
        next = remember(marker, in: call.database)
      }
      let spoiled = choosePlace(page.indices)
      let records = page.indices.compactMap { place -> String? in
        let row = page[place].row
        if place == spoiled { return recordError?.json(#""recordName":\#(quoted(row.name))"#) }
        if settings.showsOldContent { return row.json(keys) }
        return zone.rows[row.name]?.json(keys)
      }
      return Answer(
        Array(
          #"{"records":[\#(records.joined(separator: ","))]\#(next.map { #","continuationMarker":"\#($0)""# } ?? "")}"#
            .utf8))
    }

    private mutating func remember(_ marker: Marker, in database: String) -> String {
      databases[database]?.nextMarker += 1
      let token = "m\(databases[database]?.nextMarker ?? 0)"
      databases[database]?.markers[token] = marker
      return token
    }

    private func filters(_ query: RequestObject) throws(Answer) -> [Filter] {
      var filters: [Filter] = []
      for element in try query.list("filterBy") ?? [] {
        let part = try RequestObject(
          element.bytes, known: ["fieldName", "systemFieldName", "comparator", "fieldValue", "distance"])
        guard let field = part["fieldName"]?.string(), let comparator = part["comparator"]?.string(),
          let value = try part.object("fieldValue", known: ["value", "type"]), let wanted = value["value"]
        else { throw Answer("BAD_REQUEST", "a filter is incomplete") }
        guard settings.queryable.contains(field) else {
          throw Answer("BAD_REQUEST", "Field '\(field)' is not marked queryable")
        }
        if field == "___modTime", value["type"]?.string() != "TIMESTAMP" {
          throw Answer("BAD_REQUEST", "Field '___modTime' is a TIMESTAMP")
        }
        filters.append(Filter(field: field, comparator: comparator, value: FieldValue(wanted)))
      }
      return filters
    }

    private func sortField(_ query: RequestObject) throws(Answer) -> Bool {
      guard let sorts = try query.list("sortBy"), !sorts.isEmpty else { return false }
      for element in sorts {
        let part = try RequestObject(element.bytes, known: ["fieldName", "systemFieldName", "ascending"])
        let field = part["fieldName"]?.string() ?? ""
        guard settings.sortable.contains(field) else {
          throw Answer("BAD_REQUEST", "Field '\(field)' is not marked sortable")
        }
      }
      return true
    }

    private static func value(_ row: Row, _ field: String) -> FieldValue {
      guard let field = row.fields.first(where: { $0.name == field }),
        let slice = try? JSONValueSlice(checking: Array(field.field.value.utf8)[...])
      else { return .null }
      return FieldValue(slice)
    }

    private static func matches(_ value: FieldValue, _ filter: Filter) -> Bool {
      switch filter.comparator {
      case "EQUALS": value == filter.value
      case "NOT_EQUALS": value != filter.value
      case "LESS_THAN": value < filter.value
      case "LESS_THAN_OR_EQUALS": value <= filter.value
      case "GREATER_THAN": value > filter.value
      case "GREATER_THAN_OR_EQUALS": value >= filter.value
      default: false
      }
    }

    /// The place of a record among those of its time, another one in each query.
    private static func rank(_ sequence: Int, _ salt: UInt64) -> UInt64 {
      var mixed = (UInt64(truncatingIfNeeded: sequence) ^ salt) &* 0x9E37_79B9_7F4A_7C15
      mixed ^= mixed >> 32
      return mixed &* 0xD6E8_FEB8_6659_FD93
    }

    mutating func lookup(_ call: Call) throws(Answer) -> Answer {
      let request = try RequestObject(
        call.body[...], known: ["records", "zoneID", "desiredKeys", "numbersAsStrings"])
      let names = try request.list("records") ?? []
      guard (1...200).contains(names.count) else { throw Answer("BAD_REQUEST", "too many records") }
      guard let zone = databases[call.database]?.zones[try request.zone()] else {
        throw Answer("ZONE_NOT_FOUND", "no such zone")
      }
      let keys = try request.strings("desiredKeys")
      var records: [String] = []
      let spoiled = choosePlace(names.indices)
      for (place, element) in names.enumerated() {
        let name = try RequestObject(element.bytes, known: ["recordName", "desiredKeys"])["recordName"]?
          .string()
        guard let name else { throw Answer("BAD_REQUEST", "no recordName") }
        if place == spoiled, let recordError {
          records.append(recordError.json(#""recordName":\#(quoted(name))"#))
          continue
        }
        records.append(
          zone.rows[name]?.json(keys)
            ?? #"{"recordName":\#(quoted(name)),"reason":"Record not found","serverErrorCode":"NOT_FOUND"}"#)
      }
      return Answer(Array(#"{"records":[\#(records.joined(separator: ","))]}"#.utf8))
    }
  }
#endif
