import SyncJSON
public import SyncModels

extension RESTAPI {
  /// Reads a description from JSON.
  ///
  /// ```json
  /// {"base": "https://api.example.com/v1/", "auth": {"bearer": "env:API_TOKEN"},
  ///  "types": {"games": {"path": "games", "records": "/data", "version": "/updated_at",
  ///                      "paging": {"next": "/meta/next"}, "delta": {"since": "updated_since"}}}}
  /// ```
  ///
  /// - Parameters:
  ///   - json: The description, as JSON text.
  ///   - name: The name of the text, for errors.
  /// - Throws: `invalidConfiguration` with the path of the wrong member, and with the nearest known
  ///   one for a member that is not known.
  public init(json: [UInt8], named name: String) throws(SyncError) {
    let root = try DeclaredValue(json, of: name).object([
      "base", "auth", "types", "keepsUnknownMembers", "account", "pace", "headers",
    ])
    let types = try root.required("types")
    var collections: [Collection] = []
    for (type, declaration) in try types.entries() {
      collections.append(try Collection(RecordType(type), declaration))
    }
    _ = try types.schema(of: collections.map(\.entity))
    self.init(
      base: try root.required("base").text(), credentials: try root["auth"].map(Self.credentials),
      collections: collections)
    keepsUnknownMembers = try root["keepsUnknownMembers"]?.flag() ?? false
    headers = try root["headers"]?.headers() ?? [:]
    account = try root["account"].map(Account.init)
    if let value = root["pace"] {
      let parts = try value.object(["requests", "seconds"])
      pace = Pace(
        try parts.required("requests").wholeNumber(in: 1...1_000_000),
        in: try parts.required("seconds").seconds(in: 0.001...86_400))
    }
    do {
      try check()
    } catch {
      throw SyncError(.invalidConfiguration, during: "reading \(name)", error.message)
    }
  }

  private static func credentials(_ value: DeclaredValue) throws(SyncError) -> HTTPCredentials {
    let (scheme, object) = try value.variant([
      "bearer": [], "basic": [], "header": [], "query": [], "oauth2": [],
    ])
    let member = try object.required(scheme)
    switch scheme {
    case "bearer": return .bearer(try member.secret())
    case "basic": return .basic(try member.secret())
    case "oauth2": return .oauth2(try OAuth2Client(member))
    case "query":
      let query = try member.object(["name", "value"])
      return .query(try query.required("name").text(), try query.required("value").secret())
    default:
      let header = try member.object(["name", "value"])
      let name = try header.required("name")
      let text = try name.text()
      guard HTTPHeaders.isName(text) else { throw name.failure("is not the name of a header.") }
      return .header(text, try header.required("value").secret())
    }
  }
}

extension OAuth2Client {
  fileprivate init(_ value: DeclaredValue) throws(SyncError) {
    let object = try value.object(["tokenURL", "clientID", "clientSecret", "refreshToken", "scope"])
    self.init(
      tokenURL: try object.required("tokenURL").text(), clientID: try object.required("clientID").secret(),
      clientSecret: try object["clientSecret"]?.secret(), refreshToken: try object["refreshToken"]?.secret(),
      scope: try object["scope"]?.text())
    guard clientSecret != nil || refreshToken != nil else {
      throw value.failure("lacks \"clientSecret\", without which a client cannot ask for itself.")
    }
  }
}

extension RESTAPI.Account {
  fileprivate init(_ value: DeclaredValue) throws(SyncError) {
    guard value.kind == .object else {
      self = .value(try value.secret())
      return
    }
    let object = try value.object(["path", "id"])
    self = .at(path: try object.required("path").text(), id: try object.required("id").pointer())
  }
}

extension RESTAPI.Collection {
  private static let members =
    [
      "path", "query", "records", "id", "version", "deleted", "paging", "pageSize", "total", "delta",
      "sweepEvery", "item", "push", "headers", "where", "request", "errors", "each", "under",
    ] + Entity.declaredMembers

  fileprivate init(_ type: RecordType, _ value: DeclaredValue) throws(SyncError) {
    let object = try value.object(Self.members)
    self.init(try Entity(type, from: object), path: try object.required("path").text())
    for (name, member) in try object["query"]?.entries() ?? [] { query[name] = try member.text() }
    if let member = object["records"] { records = try member.pointer() }
    if let member = object["id"] {
      if member.kind == .array {
        var parts: [JSONPointer] = []
        for part in try member.elements() { parts.append(try part.pointer()) }
        guard let first = parts.first else { throw member.failure("is empty.") }
        (id, furtherID) = (first, Array(parts.dropFirst()))
      } else {
        id = try member.pointer()
      }
    }
    if let member = object["version"] {
      if member.kind == .object {
        let parts = try member.object(["pointer", "layout"])
        version = try parts.required("pointer").pointer()
        versionFormat = try parts.required("layout").layout()
      } else {
        version = try member.pointer()
      }
    }
    headers = try object["headers"]?.headers() ?? [:]
    filter = try object["where"].map(RESTAPI.Filter.init)
    errors = try object["errors"]?.pointer()
    if let member = object["request"] {
      let parts = try member.object(["method", "body"])
      request = RESTAPI.ListRequest(
        try parts["method"]?.text() ?? "POST", body: try parts["body"]?.json(.object) ?? [])
    }
    if let member = object["each"] {
      let parts = try member.object(["parameter", "values"])
      var values: [String] = []
      for value in try parts.required("values").elements() { values.append(try value.text()) }
      each = RESTAPI.Each(try parts.required("parameter").text(), values: values)
    }
    if let member = object["under"] {
      let parts = try member.object(["type", "parameter", "as", "keys", "changed"])
      let parent = RecordType(try parts.required("type").text())
      let pointer = try parts["as"]?.pointer() ?? JSONPointer("/\(parent.rawValue)")
      guard let name = pointer?.member else {
        throw member.failure("needs \"as\" to be a member, as /id is.")
      }
      under = RESTAPI.Parent(parent, parameter: try parts.required("parameter").text(), as: FieldName(name))
      if let keys = parts["keys"] {
        guard try keys.text() == "within" else { throw keys.failure("must be \"within\".") }
        under?.hasKeysWithin = true
      }
      under?.followsChanges = try parts["changed"]?.flag() ?? false
      if !entity.references.contains(where: { $0.field == FieldName(name) }) {
        entity = Entity(
          type, references: entity.references + [.to(parent, by: FieldName(name))], indexes: entity.indexes)
      }
    }
    if let member = object["deleted"] {
      if member.kind == .object {
        let parts = try member.object(["pointer", "equals", "exists"])
        deleted = try parts.required("pointer").pointer()
        if let exists = parts["exists"] {
          guard try exists.flag(), parts["equals"] == nil else {
            throw exists.failure("must be true, and without \"equals\".")
          }
          deletedIf = .presence
        } else {
          deletedIf = .word(try parts.required("equals").text())
        }
      } else {
        deleted = try member.pointer()
      }
    }
    if let member = object["paging"] {
      let parts: DeclaredObject
      (paging, parts) = try RESTAPI.Paging.read(member)
      if case .page = paging {} else { firstCursor = try parts["first"]?.text() }
      more = try parts["more"].map(RESTAPI.Flag.init)
      rebasesLinks = try parts["rebase"]?.flag() ?? false
    }
    if let member = object["pageSize"] {
      let size = try member.object(["parameter", "maximum"])
      pageSize = RESTAPI.PageSize(
        try size.required("parameter").text(), maximum: try size["maximum"]?.wholeNumber(in: 1...1_000_000))
    }
    total = try object["total"]?.pointer()
    if let member = object["delta"] {
      let parts: DeclaredObject
      (delta, parts) = try RESTAPI.Delta.read(member)
      sinceTemplate = try parts["template"]?.text()
      if let until = parts["until"] {
        window = RESTAPI.Window(
          until: try until.text(), length: try parts.required("window").seconds(in: 1...315_576_000),
          start: try parts["start"]?.time())
      } else if let stray = parts["window"] ?? parts["start"] {
        throw stray.failure("needs \"until\", the parameter for the end of the span.")
      }
    }
    sweepEvery = try object["sweepEvery"]?.seconds(in: 1...31_622_400)
    push = try object["push"].map(RESTAPI.Push.init)
    if let member = object["item"] {
      if member.kind == .object {
        let parts = try member.object(["path", "record"])
        item = try parts.required("path").text()
        if let record = parts["record"] { itemRecord = try record.pointer() }
      } else {
        item = try member.text()
      }
    }
  }
}

extension RESTAPI.Paging {
  /// Returns the paging, and the object for what all kinds may have.
  fileprivate static func read(
    _ value: DeclaredValue
  ) throws(SyncError) -> (paging: RESTAPI.Paging, object: DeclaredObject) {
    let (shape, object) = try value.variant([
      "link": ["more", "rebase"], "next": ["more", "rebase"], "cursor": ["parameter", "first", "more"],
      "after": ["parameter", "first", "more"],
      "page": ["first", "more"], "offset": ["more"],
    ])
    let member = try object.required(shape)
    switch shape {
    case "link": return (.link(try member.text()), object)
    case "next": return (.next(try member.pointer()), object)
    case "cursor":
      let parameter = try object.required("parameter").text()
      guard member.kind == .object else {
        return (.cursor(try member.pointer(), parameter: parameter), object)
      }
      let name = try member.object(["header"]).required("header").text()
      return (.cursorHeader(name, parameter: parameter), object)
    case "after":
      return (.after(try member.pointer(), parameter: try object.required("parameter").text()), object)
    case "page":
      return (.page(try member.text(), first: try object["first"]?.wholeNumber(in: 0...1) ?? 1), object)
    default: return (.offset(try member.text()), object)
    }
  }
}

extension RESTAPI.Flag {
  fileprivate init(_ value: DeclaredValue) throws(SyncError) {
    guard value.kind == .object else {
      self.init(try value.pointer())
      return
    }
    let parts = try value.object(["pointer", "equals"])
    self.init(try parts.required("pointer").pointer(), whileMore: try parts.required("equals").flag())
  }
}

extension RESTAPI.Delta {
  /// Returns the delta, and the object for what stands beside it.
  fileprivate static func read(
    _ value: DeclaredValue
  ) throws(SyncError) -> (delta: RESTAPI.Delta, object: DeclaredObject) {
    let (shape, object) = try value.variant([
      "since": ["format", "layout", "overlap", "clock", "template", "until", "window", "start"],
      "token": ["parameter"], "next": [], "etag": [],
    ])
    let member = try object.required(shape)
    switch shape {
    case "since":
      if let format = object["format"], object["layout"] != nil {
        throw format.failure("and \"layout\" say the same; only one is possible.")
      }
      let format = try (object["layout"] ?? object["format"])?.layout() ?? .rfc3339
      let delta = RESTAPI.Delta.since(
        try member.text(), format: format,
        overlap: try object["overlap"]?.seconds(in: 0.001...86_400) ?? .seconds(format.hasSeconds ? 30 : 90),
        clock: try object["clock"]?.pointer())
      return (delta, object)
    case "next": return (.next(try member.pointer()), object)
    case "token":
      return (.token(try member.pointer(), parameter: try object.required("parameter").text()), object)
    default:
      guard try member.flag() else { throw member.failure("is false; leave it out instead.") }
      return (.etag, object)
    }
  }
}

extension RESTAPI.Push {
  fileprivate init(_ value: DeclaredValue) throws(SyncError) {
    let object = try value.object([
      "write", "create", "idempotency", "find", "delete", "precondition", "replacesObjects", "body", "reason",
      "atOnce",
    ])
    self.init(
      write: try object["write"]?.request(["PUT", "PATCH", "POST"]),
      create: try object["create"]?.request(["POST", "PUT"]),
      delete: try object["delete"]?.request(["DELETE", "POST"]),
      precondition: try object["precondition"]?.choice(of: RESTAPI.Precondition.self))
    idempotencyHeader = try object["idempotency"]?.object(["header"]).required("header").text()
    find = try object["find"]?.text()
    if write == nil, create == nil {
      throw value.failure("needs \"write\", \"create\" or both: how records are changed and made.")
    }
    replacesObjects = try object["replacesObjects"]?.flag() ?? false
    if let member = object["body"] { body = try member.pointer() }
    reason = try object["reason"]?.pointer()
    atOnce = try object["atOnce"]?.wholeNumber(in: 1...64) ?? atOnce
  }
}

extension RESTAPI.Filter {
  fileprivate init(_ value: DeclaredValue) throws(SyncError) {
    let parts = try value.object(["pointer", "equals", "exists"])
    let pointer = try parts.required("pointer").pointer()
    if let exists = parts["exists"] {
      guard parts["equals"] == nil else { throw exists.failure("and \"equals\" cannot stand together.") }
      self.init(pointer, .exists(try exists.flag()))
    } else {
      let json = try parts.required("equals").json(.string, .number, .true, .false)
      self.init(pointer, .equals(json: String(decoding: json, as: UTF8.self)))
    }
  }
}

extension DeclaredValue {
  /// The name of a format of times, or a pattern.
  fileprivate func layout() throws(SyncError) -> RESTAPI.TimeFormat {
    let text = try text()
    if let format = RESTAPI.TimeFormat(layout: text) { return format }
    throw failure(
      "is \"\(text)\", not rfc3339, rfc2822, seconds, milliseconds, number, or a pattern as yyyy-MM-dd HH:mm:ss is."
    )
  }

  /// A time in ISO 8601.
  fileprivate func time() throws(SyncError) -> Timestamp {
    let text = try text()
    guard let time = Timestamp(iso8601: text) else {
      throw failure("is \"\(text)\", not a time as 2026-01-01T00:00:00Z is.")
    }
    return time
  }

  /// Headers by name. A value of `env:` or `file:` is a secret.
  fileprivate func headers() throws(SyncError) -> [String: HTTPSecret] {
    var headers: [String: HTTPSecret] = [:]
    for (name, value) in try entries() {
      guard HTTPHeaders.isName(name) else { throw value.failure("is not the name of a header.") }
      let text = try value.text()
      let isSecret = text.hasPrefix("env:") || text.hasPrefix("file:")
      headers[name] = isSecret ? try value.secret() : .text(text)
    }
    return headers
  }

  fileprivate func pointer() throws(SyncError) -> JSONPointer {
    guard kind == .string else { throw failure("is \(kind.inWords), not a JSON pointer such as /data.") }
    // The empty pointer is the whole answer.
    let text = try textOrNothing()
    guard let pointer = JSONPointer(text) else {
      throw failure("is \"\(text)\", not a JSON pointer such as /\(text.filter { $0 != "~" }) (RFC 6901).")
    }
    return pointer
  }

  /// A method and a path, such as `PUT games/{id}`.
  fileprivate func request(_ methods: [String]) throws(SyncError) -> RESTAPI.Request {
    let parts = try text().split(separator: " ", maxSplits: 1).map(String.init)
    guard parts.count == 2, methods.contains(parts[0]) else {
      throw failure(
        "must be a method (\(methods.joined(separator: ", "))) and a path, as in \(methods[0]) games/{id}.")
    }
    return RESTAPI.Request(parts[0], parts[1])
  }
}

extension RESTAPI {
  /// The mark for a record's key in a path.
  static let keyMark = "{id}"
  /// The mark for the key that the app has given a record, in a path that finds it.
  static let ownKeyMark = "{key}"

  /// Checks what types alone cannot rule out.
  ///
  /// - Throws: `invalidConfiguration` with the path of the wrong member.
  func check() throws(SyncError) {
    for collection in collections { try collection.check(beside: credentials?.parameter) }
    func wrong(_ message: String) -> SyncError {
      SyncError(.invalidConfiguration, during: "reading the description of an API", message)
    }
    if case .at(let path, _) = account,
      path.contains("://") || path.hasPrefix("//") || HTTPAddress("https://host/\(path)") == nil
    {
      throw wrong("account.path is \"\(path)\", not a path below the base.")
    }
    if let pace, pace.requests < 1 || pace.span <= .zero {
      throw wrong("pace must be of 1 request or more, in more than no time.")
    }
  }
}

extension RESTAPI.Collection {
  /// The place of a member in the declaration, for errors.
  func place(_ member: String) -> String { "types.\(entity.type).\(member)" }

  fileprivate func check(beside secret: String?) throws(SyncError) {
    try checkParts()
    try check(listPath, at: "path", hasKey: false)
    try check(item, at: "item", hasKey: true)
    try check(push?.write?.path, at: "push.write", hasKey: true)
    try check(push?.create?.path, at: "push.create", hasKey: false)
    try checkCreation()
    try check(push?.delete?.path, at: "push.delete", hasKey: true)
    if let maximum = pageSize?.maximum, maximum < 1 { throw wrong("pageSize.maximum", "must be 1 or more.") }
    if let sweepEvery, sweepEvery <= .zero { throw wrong("sweepEvery", "must be more than zero.") }
    if case .since(_, _, let overlap, _) = delta, overlap <= .zero {
      throw wrong("delta.overlap", "must be more than zero, or late commits are lost.")
    }
    if case .page(_, let first) = paging, first < 0 { throw wrong("paging.first", "must be 0 or more.") }
    if push?.precondition == .version, version?.member == nil {
      throw wrong(
        "push.precondition", "is \"version\", which needs \"version\" to be a member of the record.")
    }
    let names = parameters + (secret.map { [($0, "auth.query")] } ?? [])
    for (index, name) in names.enumerated() where names[..<index].contains(where: { $0.name == name.name }) {
      throw wrong(name.place, "uses the parameter \"\(name.name)\" a second time.")
    }
  }

  /// The path of the list, with an example for each mark.
  private var listPath: String {
    [each?.parameter, under?.parameter].compactMap(\.self).reduce(path) { $0.replacing("{\($1)}", with: "x") }
  }

  private func checkParts() throws(SyncError) {
    let parts = [("each", each != nil), ("under", under != nil), ("delta.until", window != nil)]
      .filter(\.1).map(\.0)
    if parts.count > 1 { throw wrong(parts[1], "cannot stand beside \"\(parts[0])\".") }
    if let each, each.values.isEmpty { throw wrong("each.values", "is empty.") }
    if let under {
      if !path.contains("{\(under.parameter)}") {
        throw wrong("path", "lacks {\(under.parameter)}, which stands for the key of the record above it.")
      }
      if delta != nil { throw wrong("delta", "cannot stand beside \"under\": each list is read whole.") }
    }
    if each != nil, let delta {
      if case .since = delta {
      } else {
        throw wrong("delta", "must be \"since\" beside \"each\": a token is of one list.")
      }
    }
    if case .since(_, let format, let overlap, _) = delta, !format.hasSeconds, overlap < .seconds(60) {
      throw wrong("delta.overlap", "must be 60 or more, as the layout of the times has no seconds.")
    }
    if let window, case .since(_, _, let overlap, _) = delta, window.length <= overlap {
      throw wrong("delta.window", "must be longer than the overlap, which is \(overlap).")
    }
    if let sinceTemplate, !sinceTemplate.contains("{since}") {
      throw wrong("delta.template", "lacks {since}, which stands for the time.")
    }
    if let request, !HTTPHeaders.isName(request.method) { throw wrong("request.method", "is no method.") }
    if delta == .etag, request != nil { throw wrong("delta.etag", "needs a GET.") }
  }

  private func checkCreation() throws(SyncError) {
    guard let push else { return }
    if push.create == nil, push.idempotencyHeader != nil || push.find != nil {
      throw wrong("push", "has \"idempotency\" or \"find\", which belong to \"create\".")
    }
    if let find = push.find, !find.contains(RESTAPI.ownKeyMark) {
      throw wrong("push.find", "lacks {key}, which stands for the key that the app has given.")
    }
    if let name = push.idempotencyHeader, !HTTPHeaders.isName(name) {
      throw wrong("push.idempotency.header", "is not the name of a header.")
    }
  }

  /// The parameters of requests, each with its place in the declaration.
  private var parameters: [(name: String, place: String)] {
    var names = query.keys.sorted().map { ($0, "query") }
    switch paging {
    case .cursor(_, let name):
      // One parameter may be both, as in the changes of CouchDB.
      if !cursorIsToken { names.append((name, "paging.parameter")) }
    case .cursorHeader(_, let name), .after(_, let name): names.append((name, "paging.parameter"))
    case .page(let name, _): names.append((name, "paging.page"))
    case .offset(let name): names.append((name, "paging.offset"))
    case .link, .next, nil: break
    }
    if let pageSize { names.append((pageSize.parameter, "pageSize.parameter")) }
    switch delta {
    case .since(let name, _, _, _):
      names.append((name, "delta.since"))
      if let window { names.append((window.until, "delta.until")) }
    case .token(_, let name): names.append((name, "delta.parameter"))
    case .next, .etag, nil: break
    }
    return names
  }

  private func check(_ path: String?, at member: String, hasKey: Bool) throws(SyncError) {
    guard let path else { return }
    let pieces = path.split(separator: "/").map(String.init)
    guard !path.contains("://"), !path.hasPrefix("//"), !path.contains("?"), !pieces.contains(".."),
      !pieces.contains("."),
      HTTPAddress("https://host/" + path.replacing(RESTAPI.keyMark, with: "1")) != nil
    else {
      throw wrong(
        member, "is \"\(path)\", not a path below the base; parameters belong into \"query\".")
    }
    guard path.contains(RESTAPI.keyMark) == hasKey else {
      if !hasKey { throw wrong(member, "contains {id}; the path of a list has no key.") }
      if member.hasPrefix("push") {
        throw wrong(
          member,
          "lacks {id}, which stands for the record's key. An API that gives records keys of its own has \"create\"."
        )
      }
      throw wrong(member, "lacks {id}, which stands for the record's key.")
    }
  }

  private func wrong(_ member: String, _ complaint: String) -> SyncError {
    SyncError(
      .invalidConfiguration, during: "reading the description of an API", "\(place(member)) \(complaint)")
  }
}
