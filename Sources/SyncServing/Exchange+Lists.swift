import SyncCore
import SyncJSON
import SyncModels
import SyncPorts

// Lists: by timestamps along the ledger, in other orders by the store's records.
extension Exchange {
  func list() throws(SyncError) -> ServiceResponse {
    guard caller.reads(type) != .nothing else { throw Refusal.forbidden }
    let query = try ListQuery(call.pairs)
    try checkList(query)
    if try call.precondition("if-none-match") == last {
      return ServiceResponse(status: 304, headers: .tags(last))
    }
    if call.request.method == "HEAD" {
      return .json([], headers: .tags(last).merging(.totals(try count(query))) { $1 })
    }
    let page = try page(query)
    return response(page.items, next: page.next, query.fields)
  }

  /// - Parameter next: The address of the next page.
  func response(_ items: [Item], next: String?, _ fields: Set<String>? = nil) -> ServiceResponse {
    var headers = [String: String].tags(last)
    headers["Next-Page"] = next
    return .data(.json(items.map { $0.json(fields) }), headers: headers)
  }

  /// Checks that the caller's delta still holds, and `If-Match`.
  func checkList(_ query: ListQuery) throws(SyncError) {
    if service.access != nil, let since = query.since {
      let start = try ledger.rightsStart(of: caller, type) ?? .max
      let tracked = caller.reads(type).condition == nil ? 0 : ledger.courses[type]?.tracked ?? .max
      if since < max(start, tracked) { throw Self.listAgain(hasOtherRights: since < start) }
    }
    if let match = try call.precondition("if-match"), match != -1, match != last {
      throw Refusal.modifiedMeanwhile(nil, last)
    }
  }

  private static func listAgain(hasOtherRights: Bool) -> SyncError {
    // The header tells this package's client that it need not ask before it removes what the new
    // listing lacks.
    Refusal.parameter(
      "_since", "What this user may read has changed: list everything again, without _since",
      headers: hasOtherRights ? ["Listing-Void": "rights"] : [:])
  }

  private func count(_ query: ListQuery) throws(SyncError) -> Int {
    if !query.hasFilter, query.listsRecords, query.span == Ledger.Span() {
      return try snapshot.count(Query(type, where: caller.reads(type).condition))
    }
    var count = 0
    try visit(query) { _ in count += 1 }
    return count
  }

  /// The page of a list that a request asks for, and the address of the next page.
  func page(_ query: ListQuery) throws(SyncError) -> (items: [Item], next: String?) {
    let listsTombstones = call.reads && query.listsTombstones
    // A list that is deleted without a limit has no pages.
    let isWhole = !call.reads && query.limit == nil && query.token == nil
    let most = max(1, service.options.pageLimit)
    let limit = min(query.limit ?? most, most)
    var page: [Item] = []
    var bytes = 0
    func take(_ item: Item) -> Bool {
      let isFull = page.count >= limit || !page.isEmpty && bytes >= service.options.pageBytes
      if isFull, !isWhole { return false }
      page.append(item)
      bytes += item.record?.payload.bytes.count ?? 64
      return true
    }
    var next: String?
    if !isWhole, query.keys == nil, let descends = query.descends {
      var span = query.span
      if let place = try place(query.token, "s") {
        if descends { span.before = min(span.before, place) } else { span.after = max(span.after, place) }
      }
      try ledger.walk(type, span, descends: descends) { (places) throws(SyncError) in
        for item in try shown(places, query, listsTombstones) where !take(item) {
          next = call.address(ofPage: "s\(page.last?.stamp ?? 0)")
          return false
        }
        return true
      }
      return (page, next)
    }
    var items: [Item] = []
    try visit(query) { items.append($0) }
    if listsTombstones {
      try ledger.walk(type, query.span) { (places) throws(SyncError) in
        items += try shown(places, query, true).filter { $0.record == nil }
        return true
      }
    }
    let start = try place(query.token, "o") ?? 0
    for item in Self.sorted(items, query.order).dropFirst(Int(clamping: start)) where !take(item) {
      next = call.address(ofPage: "o\(start + Int64(page.count))")
      break
    }
    return (page, next)
  }

  private static func sorted(_ items: [Item], _ order: [Query.SortField]) -> [Item] {
    let valued = items.map { item in (item: item, values: order.map { item.value(of: $0.field) }) }
    return valued.sorted { a, b in
      for (place, sort) in order.enumerated() where a.values[place] != b.values[place] {
        return (a.values[place] < b.values[place]) != sort.isDescending
      }
      return a.item.id < b.item.id
    }.map(\.item)
  }

  private func place(_ token: String?, _ kind: Character) throws(SyncError) -> Int64? {
    guard let token else { return nil }
    guard token.first == kind, let place = Int64(token.dropFirst()), place >= 0 else {
      throw Refusal.parameter("_token", "Invalid token")
    }
    return place
  }

  /// What a list shows of some records, in their order.
  private func shown(
    _ places: [Ledger.Place], _ query: ListQuery, _ listsTombstones: Bool
  ) throws(SyncError) -> [Item] {
    var items: [Item] = []
    for (place, record) in zip(places, try snapshot.records(withIDs: places.map(\.id))) {
      if let record, mayRead(record) {
        let item = Item(id: place.id, record: record, stamp: place.stamp)
        if query.listsRecords, query.selects(item) { items.append(item) }
      } else if listsTombstones, try wasReadable(place.id, since: query.since ?? 0) {
        items.append(Item(id: place.id, stamp: place.stamp))
      }
    }
    return items
  }

  /// Whether the caller may have seen a record that it does not see now.
  private func wasReadable(_ id: RecordID, since: Int64) throws(SyncError) -> Bool {
    // Who reads everything does not see what is deleted.
    guard let condition = caller.reads(type).condition else { return true }
    guard let was = try ledger.entry(of: id)?.was(condition, of: entity, since: since) else {
      throw Self.listAgain(hasOtherRights: false)
    }
    return was
  }

  /// Visits the records that a query selects, in the order of their keys.
  private func visit(_ query: ListQuery, _ body: (Item) -> Void) throws(SyncError) {
    guard query.listsRecords else { return }
    func take(_ records: [Record]) throws(SyncError) {
      for record in records where mayRead(record) {
        let item = Item(id: record.id, record: record, stamp: try ledger.entry(of: record.id)?.stamp ?? 0)
        if query.hasTime(item.stamp), query.selects(item) { body(item) }
      }
    }
    if let keys = query.keys {
      let ids = keys.map { RecordID(type: type, key: $0) }
      return try take(try snapshot.records(withIDs: ids).compactMap(\.self))
    }
    // What the store can select by declared fields need not be read.
    let conditions = [caller.reads(type).condition, query.condition].compactMap(\.self)
      .filter { $0.fields.isSubset(of: entity.fields) && !$0.fields.contains(ListQuery.id) }
    var portions = snapshot.portions(of: Query(type, where: conditions.isEmpty ? nil : .all(conditions)))
    while let records = try portions.next() { try take(records) }
  }
}
