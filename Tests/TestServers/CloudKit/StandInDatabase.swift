#if CloudKit && os(Linux)
  import SyncJSON
  import InMemoryAdapters
  import SyncModels
  import SyncPorts
  import Synchronization

  /// One database of the stand-in: its zones.
  struct Database {
    var zones: [String: Zone] = ["_defaultZone": Zone()]
    var markers: [String: Marker] = [:]
    var nextMarker = 0
  }

  /// A place in the answers to one query.
  struct Marker {
    var query: [UInt8]
    var zone: String
    var salt: UInt64
    var offset: Int
    /// The sort key of the last record.
    var time: Int64
    var rank: UInt64
  }

  /// One zone: its records, its log, and an index that lags behind.
  struct Zone {
    var rows: [String: Row] = [:]
    /// The positions of deleted records in the log.
    var graves: [String: (sequence: Int, type: String)] = [:]
    var index: [String: Row] = [:]
    var pending: [(due: Int64, sequence: Int, name: String, row: Row?)] = []
    /// The latest write of each name that the index knows.
    var indexed: [String: Int] = [:]
    var sequence = 0
    var nextTag = 0
    /// The number of times that tokens became void.
    var era = 0

    /// The latest state of a name, written or deleted.
    mutating func write(_ row: Row, lag: Int64, at now: Int64) {
      sequence += 1
      var row = row
      row.sequence = sequence
      rows[row.name] = row
      graves[row.name] = nil
      pending.append((now + lag, sequence, row.name, row))
    }

    mutating func delete(_ name: String, lag: Int64, at now: Int64) {
      guard let row = rows.removeValue(forKey: name) else { return }
      sequence += 1
      graves[name] = (sequence, row.type)
      pending.append((now + lag, sequence, name, nil))
    }

    /// Brings the index up to a time, each name by its latest due write.
    mutating func settle(at now: Int64) {
      guard pending.contains(where: { $0.due <= now }) else { return }
      for update in pending where update.due <= now && update.sequence > indexed[update.name] ?? 0 {
        index[update.name] = update.row
        indexed[update.name] = update.sequence
      }
      pending.removeAll { $0.due <= now }
    }
  }

  /// One record as the stand-in keeps it.
  package struct Row: Sendable {
    package var name: String
    package var type: String
    package var tag = ""
    package var created: Int64 = 0
    package var modified: Int64 = 0
    package var fields: [(name: String, field: StandInField)] = []
    var sequence = 0

    /// The record as the service spells it.
    ///
    /// - Parameter keys: The fields to return; `nil` for all.
    package func json(_ keys: [String]?) -> String {
      let wanted = fields.filter { keys?.contains($0.name) ?? true }.map {
        "\(quoted($0.name)):\($0.field.json)"
      }
      return
        #"{"recordName":\#(quoted(name)),"recordType":\#(quoted(type)),"fields":{\#(wanted.joined(separator: ","))},"pluginFields":{},"recordChangeTag":"\#(tag)","created":{"timestamp":\#(created),"userRecordName":"_u","deviceID":"1"},"modified":{"timestamp":\#(modified),"userRecordName":"_u","deviceID":"1"},"deleted":false}"#
    }
  }

  /// One field: its value as spelled, and its type.
  package struct StandInField: Sendable, Equatable {
    package var value: String
    package var type: String

    package init(_ value: String, _ type: String) {
      self.value = value
      self.type = type
    }

    var json: String { #"{"value":\#(value),"type":"\#(type)"}"# }
  }

  /// A string as JSON.
  func quoted(_ text: String) -> String { String(decoding: JSONString.quoted(text), as: UTF8.self) }

  /// An object of a request, which may hold only members that the service knows.
  struct RequestObject {
    private(set) var members: [String: JSONValueSlice] = [:]

    init(_ bytes: ArraySlice<UInt8>, known: Set<String>) throws(Answer) {
      do {
        try JSONScanner.members(of: bytes) { member throws(JSONError) in
          members[member.key] = member.value
        }
      } catch {
        throw Answer("BAD_REQUEST", "the request is not JSON")
      }
      if let stranger = members.keys.first(where: { !known.contains($0) }) {
        throw Answer("BAD_REQUEST", "unknown member \(stranger)")
      }
    }

    subscript(name: String) -> JSONValueSlice? { members[name] }

    func object(_ name: String, known: Set<String>) throws(Answer) -> RequestObject? {
      guard let value = members[name] else { return nil }
      guard value.kind == .object else { throw Answer("BAD_REQUEST", "\(name) is not an object") }
      return try RequestObject(value.bytes, known: known)
    }

    func list(_ name: String) throws(Answer) -> [JSONValueSlice]? {
      guard let value = members[name] else { return nil }
      guard value.kind == .array else { throw Answer("BAD_REQUEST", "\(name) is not a list") }
      var elements: [JSONValueSlice] = []
      do {
        try JSONScanner.elements(of: value.bytes) { element throws(JSONError) in elements.append(element) }
      } catch {
        throw Answer("BAD_REQUEST", "\(name) is not JSON")
      }
      return elements
    }

    func strings(_ name: String) throws(Answer) -> [String]? { try list(name)?.compactMap { $0.string() } }

    /// The zone that a request names, or the default one.
    func zone() throws(Answer) -> String {
      guard let zone = try object("zoneID", known: ["zoneName", "ownerRecordName", "ownerName"]) else {
        return "_defaultZone"
      }
      guard let name = zone["zoneName"]?.string() else { throw Answer("BAD_REQUEST", "no zoneName") }
      return name
    }
  }

  extension StandInCloudKit.State {
    /// Brings every index up to a time.
    mutating func settle(at now: Int64) {
      for database in databases.keys {
        for zone in databases[database]?.zones.keys.map(\.self) ?? [] {
          databases[database]?.zones[zone]?.settle(at: now)
        }
      }
    }

    /// The time until an index learns of a write.
    mutating func lag() -> Int64 {
      let longest = settings.indexLag.wholeMicroseconds / 1000
      return longest > 0 ? Int64.random(in: 0...longest, using: &random) : 0
    }

    mutating func expireTokens() {
      for database in databases.keys {
        databases[database]?.markers = [:]
        for zone in databases[database]?.zones.keys.map(\.self) ?? [] {
          databases[database]?.zones[zone]?.era += 1
        }
      }
    }

    mutating func chance(_ share: Double) -> Bool {
      share > 0 && Double.random(in: 0..<1, using: &random) < share
    }
  }

  // What tests do to the data directly, as other clients of the service would.
  extension StandInCloudKit {
    /// Writes records of one request, which share their time.
    package func put(
      _ rows: [(name: String, fields: [(name: String, field: StandInField)])], type: String,
      in database: String = "public", zone: String = "_defaultZone"
    ) {
      let now = clock.timestamp.microseconds / 1000
      state.withLock { state in
        var place = state.databases.removeValue(forKey: database) ?? Database()
        // Taken out, so that no second reference makes each change a copy of everything.
        var content = place.zones.removeValue(forKey: zone) ?? Zone()
        for (name, fields) in rows {
          var row = content.rows[name] ?? Row(name: name, type: type, created: now)
          row.fields = fields
          row.modified = now - now % state.settings.granularity
          content.nextTag += 1
          row.tag = "g\(content.nextTag)"
          content.write(row, lag: state.lag(), at: now)
        }
        place.zones[zone] = content
        state.databases[database] = place
        state.settle(at: now)
      }
    }

    /// Deletes records.
    package func delete(_ names: [String], in database: String = "public", zone: String = "_defaultZone") {
      let now = clock.timestamp.microseconds / 1000
      state.withLock { state in
        for name in names {
          let lag = state.lag()
          state.databases[database]?.zones[zone]?.delete(name, lag: lag, at: now)
        }
        state.settle(at: now)
      }
    }

    /// The records of a type, by name.
    package func rows(
      _ type: String, in database: String = "public", zone: String = "_defaultZone"
    ) -> [String: Row] {
      state.withLock { $0.databases[database]?.zones[zone]?.rows.filter { $0.value.type == type } ?? [:] }
    }

    /// Creates a zone.
    package func makeZone(_ zone: String, in database: String = "private") {
      state.withLock { state in
        state.databases[database, default: Database()].zones[zone] = Zone()
        state.databases[database]?.zones[zone]?.era = Int.random(in: 1...1_000_000, using: &state.random)
      }
    }

    /// Deletes a zone with its records.
    package func removeZone(_ zone: String, in database: String = "private") {
      state.withLock { $0.databases[database]?.zones[zone] = nil }
    }

    /// Ends the validity of every token and marker.
    package func expireTokens() { state.withLock { $0.expireTokens() } }
  }
#endif
