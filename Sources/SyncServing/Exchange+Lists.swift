import SyncJSON
import SyncModels
import SyncPorts

// Lists: by timestamps along the ledger, in other orders by the store's records.
extension Exchange {
  /// One element of a list.
  struct Item {
    var id: RecordID
    var stamp: Int64
    /// `nil` for a tombstone.
    var record: Record?
  }

  /// A part of a list.
  struct Page {
    var items: [Item] = []
    var headers: [String: String] = [:]
  }

  private static let portion = 500

  func list(_ call: Call, _ entity: Entity) throws(SyncError) -> ServiceResponse {
    guard caller.reads(entity.type) != .nothing else { throw Refusal.forbidden.error }
    let query = try ListQuery(call.pairs)
    let etag = last(entity.type)
    var headers = Self.tags(etag)
    try checkList(call, query, entity)
    if try call.precondition("if-none-match") == etag {
      return ServiceResponse(status: 304, headers: headers)
    }
    if call.method == "HEAD" {
      let total = "\(try count(query, entity))"
      (headers["Total-Objects"], headers["Total-Records"]) = (total, total)
      return .json([], headers: headers)
    }
    let page = try page(call, query, entity, withTombstones: true)
    headers.merge(page.headers) { $1 }
    return .json(
      RecordJSON.list(
        page.items.map { item in
          item.record.map { RecordJSON.object($0, stamp: item.stamp, fields: query.fields) }
            ?? RecordJSON.tombstone(item.id.key, stamp: item.stamp)
        }), headers: headers)
  }

  /// Checks that the caller's delta still holds, and `If-Match`.
  func checkList(_ call: Call, _ query: ListQuery, _ entity: Entity) throws(SyncError) {
    if service.access != nil, let since = query.since {
      let start = try ledger.rightsStart(of: caller, entity.type, in: snapshot) ?? .max
      let tracked =
        caller.reads(entity.type).condition == nil ? 0 : ledger.courses[entity.type]?.tracked ?? .max
      if since < max(start, tracked) { throw Self.listAgain(hasOtherRights: since < start) }
    }
    if let match = try call.precondition("if-match"), match != -1, match != last(entity.type) {
      throw Refusal.modifiedMeanwhile(nil, last(entity.type)).error
    }
  }

  private static func listAgain(hasOtherRights: Bool) -> SyncError {
    var refusal = Refusal.parameter(
      "_since", "What this user may read has changed: list everything again, without _since")
    // Tells this package's client that it need not ask before it removes what the new listing lacks.
    if hasOtherRights { refusal.headers["Listing-Void"] = "rights" }
    return refusal.error
  }

  private func isVisible(_ record: Record, _ entity: Entity) -> Bool {
    allows(record, caller.reads(entity.type), entity)
  }

  private func count(_ query: ListQuery, _ entity: Entity) throws(SyncError) -> Int {
    if !query.hasFilter, query.listsRecords, query.after == 0, query.before == .max {
      return try snapshot.count(Query(entity.type, where: caller.reads(entity.type).condition))
    }
    var count = 0
    try visit(query, entity) { _ in count += 1 }
    return count
  }

  /// The page of a list that a request asks for.
  func page(
    _ call: Call, _ query: ListQuery, _ entity: Entity, withTombstones: Bool
  ) throws(SyncError) -> Page {
    let limit = min(query.limit ?? service.options.pageLimit, max(1, service.options.pageLimit))
    if query.keys == nil, let descends = query.descends {
      return try course(call, query, entity, descends: descends, limit, withTombstones)
    }
    var items: [Item] = []
    try visit(query, entity) { items.append($0) }
    if withTombstones, query.listsTombstones { items += try tombstones(query, entity) }
    let order = query.order.isEmpty ? [.descending(ListQuery.lastModified)] : query.order
    let names = Set(order.map(\.field))
    let valued = items.map { item in
      let read = item.record.map { ListQuery.reader(of: $0, stamp: item.stamp, entity, names) }
      return (
        item,
        order.map { sort in
          sort.field == ListQuery.lastModified
            ? .integer(item.stamp)
            : sort.field == ListQuery.id ? .string(item.id.key) : read?(sort.field) ?? .null
        }
      )
    }
    let sorted = valued.sorted { a, b in
      for (place, sort) in order.enumerated() where a.1[place] != b.1[place] {
        return sort.isDescending ? b.1[place] < a.1[place] : a.1[place] < b.1[place]
      }
      return a.0.id < b.0.id
    }
    let start = try place(query.token, "o") ?? 0
    let rest = sorted.dropFirst(Int(clamping: start)).map(\.0)
    var (page, bytes) = (Page(), 0)
    for item in rest {
      guard page.items.count < limit, page.items.isEmpty || bytes < service.options.pageBytes else { break }
      page.items.append(item)
      bytes += item.record?.payload.bytes.count ?? 0
    }
    if page.items.count < rest.count {
      page.headers["Next-Page"] = nextPage(call, query, "o\(start + Int64(page.items.count))")
    }
    return page
  }

  private func nextPage(_ call: Call, _ query: ListQuery, _ token: String) -> String {
    let pairs = (query.pairs + [("_token", token)]).map {
      "\(PercentText.encoded($0.name))=\(PercentText.encoded($0.value))"
    }
    return "\(call.origin)\(call.address)?\(pairs.joined(separator: "&"))"
  }

  private func place(_ token: String?, _ kind: Character) throws(SyncError) -> Int64? {
    guard let token else { return nil }
    guard token.first == kind, let place = Int64(token.dropFirst()), place >= 0 else {
      throw Refusal.parameter("_token", "Invalid token").error
    }
    return place
  }

  /// A page in the order of timestamps.
  private func course(
    _ call: Call, _ query: ListQuery, _ entity: Entity, descends: Bool, _ limit: Int, _ withTombstones: Bool
  ) throws(SyncError) -> Page {
    var page = Page()
    guard limit > 0 else { return page }
    var (after, before) = (query.after, query.before)
    if let place = try place(query.token, "s") {
      if descends { before = min(before, place) } else { after = max(after, place) }
    }
    var bytes = 0
    while true {
      let places: [Ledger.Place]
      let isOver: Bool
      if descends {
        let found = try ledger.placesBackwards(
          entity.type, after: after, before: before, limit: Self.portion, in: snapshot)
        (places, before) = (found.places, found.reached + 1)
        isOver = found.reached <= after || found.reached < ledger.courses[entity.type]?.birth ?? 0
      } else {
        places = try ledger.places(
          entity.type, after: after, before: before, limit: Self.portion, in: snapshot)
        after = places.last?.stamp ?? after
        isOver = places.count < Self.portion
      }
      for item in try items(places, query, entity, withTombstones) {
        if page.items.count == limit || !page.items.isEmpty && bytes >= service.options.pageBytes {
          page.headers["Next-Page"] = nextPage(call, query, "s\(page.items.last?.stamp ?? 0)")
          return page
        }
        page.items.append(item)
        bytes += item.record?.payload.bytes.count ?? 64
      }
      if isOver { return page }
    }
  }

  /// What a list shows of some records, in their order.
  private func items(
    _ places: [Ledger.Place], _ query: ListQuery, _ entity: Entity, _ withTombstones: Bool
  ) throws(SyncError) -> [Item] {
    var items: [Item] = []
    for (place, record) in zip(places, try snapshot.records(withIDs: places.map(\.id))) {
      if let record, isVisible(record, entity) {
        guard query.listsRecords, query.selects(record, stamp: place.stamp, entity) else { continue }
        items.append(Item(id: place.id, stamp: place.stamp, record: record))
      } else if withTombstones, query.listsTombstones,
        try wasVisible(place.id, record, since: query.since ?? 0, entity)
      {
        items.append(Item(id: place.id, stamp: place.stamp))
      }
    }
    return items
  }

  /// Whether the caller may have seen a record that it does not see now.
  private func wasVisible(
    _ id: RecordID, _ record: Record?, since: Int64, _ entity: Entity
  ) throws(SyncError) -> Bool {
    switch caller.reads(entity.type) {
    case .nothing: return false
    case .everything: return record == nil
    case .matching(let condition):
      guard let was = try ledger.entry(of: id, in: snapshot)?.was(condition, of: entity, since: since) else {
        throw Self.listAgain(hasOtherRights: false)
      }
      return was
    }
  }

  private func tombstones(_ query: ListQuery, _ entity: Entity) throws(SyncError) -> [Item] {
    var after = query.after
    var items: [Item] = []
    while true {
      let places = try ledger.places(
        entity.type, after: after, before: query.before, limit: Self.portion, in: snapshot)
      items += try self.items(places, query, entity, true).filter { $0.record == nil }
      guard let last = places.last?.stamp, places.count == Self.portion else { return items }
      after = last
    }
  }

  /// Visits the records that a query selects, in the order of their keys.
  func visit(_ query: ListQuery, _ entity: Entity, _ body: (Item) -> Void) throws(SyncError) {
    guard query.listsRecords else { return }
    func take(_ records: [Record]) throws(SyncError) {
      for record in records where isVisible(record, entity) {
        let stamp = try ledger.entry(of: record.id, in: snapshot)?.stamp ?? 0
        guard stamp > query.after, stamp < query.before, query.selects(record, stamp: stamp, entity) else {
          continue
        }
        body(Item(id: record.id, stamp: stamp, record: record))
      }
    }
    if let keys = query.keys {
      let ids = keys.map { RecordID(type: entity.type, key: $0) }
      return try take(try snapshot.records(withIDs: ids).compactMap(\.self))
    }
    // What the store can select by declared fields need not be read.
    let conditions = [caller.reads(entity.type).condition, query.condition].compactMap(\.self)
      .filter { $0.fields.isSubset(of: entity.fields) && !$0.fields.contains(ListQuery.id) }
    var last: String?
    repeat {
      let records = try snapshot.records(
        Query(
          entity.type, where: conditions.isEmpty ? nil : .all(conditions), afterKey: last, limit: Self.portion
        ))
      try take(records)
      last = records.count < Self.portion ? nil : records.last?.id.key
    } while last != nil
  }
}
