import CRecords
import CanonicalSync
import SyncAdapters

/// Makes the pages of a remote.
struct Pages {
  let options: Options

  func count(of entity: Entity) -> Int {
    (changes(of: entity) + options.page - 1) / options.page
  }

  func changes(of entity: Entity) -> Int {
    switch (entity.type, options.workload) {
    case ("teams", _): Int(record_teams)
    case ("notes", _): 0
    case (_, "W8"): options.changes / options.types
    case (_, "W9fill"): options.changes / Entity.ten.count
    case (_, "W9"): 0
    default: options.changes
    }
  }

  /// The changes of one page.
  func changes(_ page: Int, of entity: Entity) -> [RecordChange] {
    let places = page * options.page..<min(changes(of: entity), (page + 1) * options.page)
    if entity.type == "teams" { return places.map { team($0) } }
    if options.workload == "W5" { return [] }
    // One buffer for a page, as it arrives from the network.
    var bytes: [UInt8] = []
    bytes.reserveCapacity(places.count * Int(record_payload_limit))
    var ranges: [Range<Int>] = []
    var records: [record] = []
    for place in places {
      var record = made(place)
      if entity.naturalKey != nil { record_make_with_mac(options.recipe, Int64(place), &record) }
      ranges.append(bytes.count..<bytes.count + Int(record.length))
      withUnsafeBytes(of: &record.payload) { bytes += $0.prefix(Int(record.length)) }
      records.append(record)
    }
    return zip(zip(places, records), ranges).map { made, range in
      let (place, record) = made
      return .upsert(
        Record(
          id: RecordID(type: entity.type, key: text(record.id)),
          version: Version(modifiedAt: Timestamp(milliseconds: record.modified_at)),
          payload: Payload(bytes[range]),
          fields: fields(of: record, place, entity)))
    }
  }

  private func fields(of record: record, _ place: Int, _ entity: Entity) -> [FieldValue] {
    if entity.fields.isEmpty { return [] }
    guard entity.naturalKey == nil else { return [.string(mac(place))] }
    return [.string(text(record.home)), .string(text(record.away)), .integer(record.venue)]
  }

  private func mac(_ place: Int) -> String {
    var mac: (Int64, Int64) = (0, 0)
    return withUnsafeMutableBytes(of: &mac) { buffer in
      let start = buffer.assumingMemoryBound(to: CChar.self).baseAddress!
      record_mac(options.recipe, Int64(place), start)
      return String(cString: start)
    }
  }

  /// One page as a JSON array.
  func text(_ page: Int) -> [UInt8] {
    var bytes = [UInt8(ascii: "[")]
    for place in page * options.page..<min(options.changes, (page + 1) * options.page) {
      var record = made(place)
      if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
      withUnsafeBytes(of: &record.payload) { bytes += $0.prefix(Int(record.length)) }
    }
    return bytes + [UInt8(ascii: "]")]
  }

  /// The changed copy of a record after an edit.
  func edit(_ place: Int) -> (key: String, payload: Payload) {
    var record = record()
    record_make(options.recipe, record_of_edit(options.recipe, Int64(place)), 1, &record)
    let bytes = withUnsafeBytes(of: &record.payload) { Array($0.prefix(Int(record.length))) }
    return (text(record.id), Payload(bytes))
  }

  private func made(_ place: Int) -> record {
    var record = record()
    let number =
      options.generation > 0
      ? record_of_delta(options.recipe, Int64(place), options.generation) : Int64(place)
    record_make(options.recipe, number, options.generation, &record)
    return record
  }

  private func team(_ number: Int) -> RecordChange {
    var name: (Int64, Int64) = (0, 0)
    let key = withUnsafeMutableBytes(of: &name) { buffer in
      let start = buffer.assumingMemoryBound(to: CChar.self).baseAddress!
      record_team(Int64(number), start)
      return String(cString: start)
    }
    return .upsert(
      Record(
        id: RecordID(type: "teams", key: key), version: Version(modifiedAt: Timestamp(microseconds: 1)),
        payload: Payload(Array("{\"id\":\"\(key)\"}".utf8)), fields: []))
  }

  private func text<T>(_ characters: T) -> String {
    withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
