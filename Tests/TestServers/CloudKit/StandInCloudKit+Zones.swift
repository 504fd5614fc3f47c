#if CloudKit && os(Linux)
  import SyncJSON
  import SyncModels

  extension StandInCloudKit.State {
    /// The changes of zones, each since its token.
    ///
    /// An equal request gets an equal answer while nothing changes.
    mutating func zoneChanges(_ call: Call) throws(Answer) -> Answer {
      let request = try RequestObject(call.body[...], known: ["zones", "resultsLimit", "numberAsStrings"])
      guard call.database != "public" else {
        throw Answer("BAD_REQUEST", "the public database has no change tokens")
      }
      var answers: [String] = []
      for element in try request.list("zones") ?? [] {
        let zone = try RequestObject(
          element.bytes,
          known: ["zoneID", "syncToken", "resultsLimit", "desiredKeys", "desiredRecordTypes", "reverse"])
        answers.append(try changes(zone, call))
      }
      guard !answers.isEmpty else { throw Answer("BAD_REQUEST", "no zones") }
      return Answer(Array(#"{"zones":[\#(answers.joined(separator: ","))]}"#.utf8))
    }

    private mutating func changes(_ request: RequestObject, _ call: Call) throws(Answer) -> String {
      let name = try request.zone()
      if let zoneError {
        pause = zoneError.pause
        return zoneError.json(#""zoneID":{"zoneName":\#(quoted(name))}"#)
      }
      let zoneID = request["zoneID"].map { String(decoding: $0.bytes, as: UTF8.self) } ?? "{}"
      func refusal(_ code: String, _ reason: String) -> String {
        #"{"zoneID":\#(zoneID),"serverErrorCode":"\#(code)","reason":"\#(reason)"}"#
      }
      guard name != "_defaultZone" else {
        throw Answer("BAD_REQUEST", "the default zone has no change tokens")
      }
      guard let zone = databases[call.database]?.zones[name] else {
        return refusal("ZONE_NOT_FOUND", "Zone does not exist")
      }
      var since = 0
      if let text = request["syncToken"]?.string() {
        let parts = text.split(separator: ".").compactMap { Int($0) }
        guard parts.count == 2, parts[0] == zone.era, parts[1] <= zone.sequence else {
          switch settings.seed % 4 {
          case 0: return refusal("CHANGE_TOKEN_EXPIRED", "token expired")
          case 1: return refusal("BAD_REQUEST", "Unknown sync continuation type")
          case 2: throw Answer("BAD_REQUEST", "client knowledge differs from server knowledge")
          default: throw Answer("CHANGE_TOKEN_EXPIRED", "expired", status: 400)
          }
        }
        since = parts[1]
      }
      let limit = max(1, min(request["resultsLimit"]?.integer().map { Int($0) } ?? 200, settings.mostRecords))
      let keys = try request.strings("desiredKeys")
      let types = try request.strings("desiredRecordTypes").map { Set($0) }
      var log: [(sequence: Int, name: String)] = []
      for row in zone.rows.values where row.sequence > since { log.append((row.sequence, row.name)) }
      // A first pass lists no tombstones.
      for (name, grave) in zone.graves where since > 0 && grave.sequence > since {
        log.append((grave.sequence, name))
      }
      let sorted = log.sorted { $0.sequence < $1.sequence }
      if isStuck {
        return
          #"{"zoneID":\#(zoneID),"records":[],"syncToken":"\#(zone.era).\#(since)","moreComing":true}"#
      }
      var count = limit
      // Decided by the token alone, so that an equal request gets an equal answer.
      if settings.hasShortPages, (UInt64(since) &+ settings.seed) % 3 == 0 {
        count = Int((UInt64(since) &* 7 &+ settings.seed) % UInt64(limit)) + 1
      }
      let page = sorted.prefix(count)
      let isLast = page.count == sorted.count
      let reached = isLast ? zone.sequence : page.last?.sequence ?? since
      let spoiled = choosePlace(page.indices)
      let records = page.indices.compactMap { place -> String? in
        let entry = page[place]
        if place == spoiled { return recordError?.json(#""recordName":\#(quoted(entry.name))"#) }
        if let row = zone.rows[entry.name] {
          return types.map { $0.contains(row.type) } ?? true ? row.json(keys) : nil
        }
        guard let grave = zone.graves[entry.name] else { return nil }
        if settings.tombstonesHaveType {
          guard types.map({ $0.contains(grave.type) }) ?? true else { return nil }
          return
            #"{"recordName":\#(quoted(entry.name)),"recordType":\#(quoted(grave.type)),"recordChangeTag":"x","deleted":true}"#
        }
        if types != nil, settings.filterOmitsTombstones { return nil }
        return
          #"{"recordName":\#(quoted(entry.name)),"recordType":null,"recordChangeTag":"x","deleted":true}"#
      }
      let more = isLast ? (since % 2 == 0 ? "null" : "false") : "true"
      return
        #"{"zoneID":\#(zoneID),"records":[\#(records.joined(separator: ","))],"syncToken":"\#(zone.era).\#(reached)","moreComing":\#(more)}"#
    }
  }
#endif
