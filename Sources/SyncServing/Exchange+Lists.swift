import SyncCore
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

    /// The values of some fields, of which two are the server's.
    func values(of names: [FieldName]) -> [FieldValue] {
      let values = record.flatMap { try? $0.payload.values(of: names) } ?? names.map { _ in .null }
      return zip(names, values).map { name, value in
        name == ListQuery.id ? .string(id.key) : name == ListQuery.lastModified ? .integer(stamp) : value
      }
    }

    func json(_ fields: Set<String>?) -> [UInt8] {
      record.map { RecordJSON.object($0, stamp: stamp, fields: fields) }
        ?? RecordJSON.tombstone(id.key, stamp: stamp)
    }
  }

  /// A part of a list.
  struct Page {
    var items: [Item] = []
    var headers: [String: String] = [:]
    private var bytes = 0

    /// Adds an element; `false` if the page is full.
    mutating func take(_ item: Item, _ limit: Int, bytes limitOfBytes: Int) -> Bool {
      guard items.count < limit, items.isEmpty || bytes < limitOfBytes else { return false }
      items.append(item)
      bytes += item.record?.payload.bytes.count ?? 64
      return true
    }

    func response(_ fields: Set<String>? = nil) -> ServiceResponse {
      .data(.json(items.map { $0.json(fields) }), headers: headers)
    }
  }

  func list(_ call: Call, _ entity: Entity) throws(SyncError) -> ServiceResponse {
    guard caller.reads(entity.type) != .nothing else { throw Refusal.forbidden.error }
    let query = try ListQuery(call.pairs)
    let etag = last(entity.type)
    let headers = Self.tags(etag)
    try checkList(call, query, entity)
    if try call.precondition("if-none-match") == etag {
      return ServiceResponse(status: 304, headers: headers)
    }
    if call.request.method == "HEAD" {
      return .json([], headers: headers.merging(Self.totals(try count(query, entity))) { $1 })
    }
    var page = try page(call, query, entity, withTombstones: true)
    page.headers.merge(headers) { $1 }
    return page.response(query.fields)
  }

  /// Checks that the caller's delta still holds, and `If-Match`.
  func checkList(_ call: Call, _ query: ListQuery, _ entity: Entity) throws(SyncError) {
    if service.access != nil, let since = query.since {
      let start = try ledger.rightsStart(of: caller, entity.type) ?? .max
      let tracked =
        caller.reads(entity.type).condition == nil ? 0 : ledger.courses[entity.type]?.tracked ?? .max
      if since < max(start, tracked) { throw Self.listAgain(hasOtherRights: since < start) }
    }
    if let match = try call.precondition("if-match"), match != -1, match != last(entity.type) {
      throw Refusal.modifiedMeanwhile(nil, last(entity.type)).error
    }
  }

  private static func listAgain(hasOtherRights: Bool) -> SyncError {
    // The header tells this package's client that it need not ask before it removes what the new
    // listing lacks.
    Refusal.parameter(
      "_since", "What this user may read has changed: list everything again, without _since",
      headers: hasOtherRights ? ["Listing-Void": "rights"] : [:]
    ).error
  }

  private func count(_ query: ListQuery, _ entity: Entity) throws(SyncError) -> Int {
    if !query.hasFilter, query.listsRecords, query.span.after == 0, query.span.before == .max {
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
    let pageLimit = max(1, service.options.pageLimit)
    let limit = min(query.limit ?? pageLimit, pageLimit)
    if query.keys == nil, let descends = query.descends {
      return try course(call, query, entity, descends: descends, limit, withTombstones)
    }
    let start = try place(query.token, "o") ?? 0
    var page = Page()
    for item in try sorted(query, entity, withTombstones).dropFirst(Int(clamping: start))
    where !page.take(item, limit, bytes: service.options.pageBytes) {
      page.headers["Next-Page"] = nextPage(call, query, "o\(start + Int64(page.items.count))")
      break
    }
    return page
  }

  /// The whole list in an order other than by timestamps alone.
  private func sorted(
    _ query: ListQuery, _ entity: Entity, _ withTombstones: Bool
  ) throws(SyncError) -> [Item] {
    var items: [Item] = []
    try visit(query, entity) { items.append($0) }
    if withTombstones, query.listsTombstones { items += try tombstones(query, entity) }
    let order = query.order.isEmpty ? [.descending(ListQuery.lastModified)] : query.order
    let names = order.map(\.field)
    let valued = items.map { (item: $0, values: $0.values(of: names)) }
    return valued.sorted { a, b in
      for (place, sort) in order.enumerated() where a.values[place] != b.values[place] {
        return (a.values[place] < b.values[place]) != sort.isDescending
      }
      return a.item.id < b.item.id
    }.map(\.item)
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
    var span = query.span
    if let place = try place(query.token, "s") {
      if descends { span.before = min(span.before, place) } else { span.after = max(span.after, place) }
    }
    while !span.isOver {
      let places = try ledger.next(entity.type, in: &span, descends: descends)
      for item in try items(places, query, entity, withTombstones)
      where !page.take(item, limit, bytes: service.options.pageBytes) {
        page.headers["Next-Page"] = nextPage(call, query, "s\(page.items.last?.stamp ?? 0)")
        return page
      }
    }
    return page
  }

  /// What a list shows of some records, in their order.
  private func items(
    _ places: [Ledger.Place], _ query: ListQuery, _ entity: Entity, _ withTombstones: Bool
  ) throws(SyncError) -> [Item] {
    var items: [Item] = []
    for (place, record) in zip(places, try snapshot.records(withIDs: places.map(\.id))) {
      if let record, isVisible(record, entity) {
        let item = Item(id: place.id, stamp: place.stamp, record: record)
        if query.listsRecords, query.selects(item) { items.append(item) }
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
      guard let was = try ledger.entry(of: id)?.was(condition, of: entity, since: since) else {
        throw Self.listAgain(hasOtherRights: false)
      }
      return was
    }
  }

  private func tombstones(_ query: ListQuery, _ entity: Entity) throws(SyncError) -> [Item] {
    var span = query.span
    var items: [Item] = []
    while !span.isOver {
      let places = try ledger.next(entity.type, in: &span)
      items += try self.items(places, query, entity, true).filter { $0.record == nil }
    }
    return items
  }

  /// Visits the records that a query selects, in the order of their keys.
  func visit(_ query: ListQuery, _ entity: Entity, _ body: (Item) -> Void) throws(SyncError) {
    guard query.listsRecords else { return }
    func take(_ records: [Record]) throws(SyncError) {
      for record in records where isVisible(record, entity) {
        let item = Item(id: record.id, stamp: try ledger.entry(of: record.id)?.stamp ?? 0, record: record)
        if query.hasTime(item.stamp), query.selects(item) { body(item) }
      }
    }
    if let keys = query.keys {
      let ids = keys.map { RecordID(type: entity.type, key: $0) }
      return try take(try snapshot.records(withIDs: ids).compactMap(\.self))
    }
    // What the store can select by declared fields need not be read.
    let conditions = [caller.reads(entity.type).condition, query.condition].compactMap(\.self)
      .filter { $0.fields.isSubset(of: entity.fields) && !$0.fields.contains(ListQuery.id) }
    let condition: Condition? = conditions.isEmpty ? nil : .all(conditions)
    var portions = snapshot.portions(of: Query(entity.type, where: condition))
    while let records = try portions.next() { try take(records) }
  }
}
