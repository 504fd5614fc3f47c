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
      "base", "auth", "types", "keepsUnknownMembers", "account", "pace",
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
      "sweepEvery", "item", "push",
    ] + Entity.declaredMembers

  fileprivate init(_ type: RecordType, _ value: DeclaredValue) throws(SyncError) {
    let object = try value.object(Self.members)
    self.init(try Entity(type, from: object), path: try object.required("path").text())
    for (name, member) in try object["query"]?.entries() ?? [] { query[name] = try member.text() }
    if let member = object["records"] { records = try member.pointer() }
    if let member = object["id"] { id = try member.pointer() }
    version = try object["version"]?.pointer()
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
      more = try parts["more"].map(RESTAPI.Flag.init)
      rebasesLinks = try parts["rebase"]?.flag() ?? false
    }
    if let member = object["pageSize"] {
      let size = try member.object(["parameter", "maximum"])
      pageSize = RESTAPI.PageSize(
        try size.required("parameter").text(), maximum: try size["maximum"]?.wholeNumber(in: 1...1_000_000))
    }
    total = try object["total"]?.pointer()
    delta = try object["delta"].map(RESTAPI.Delta.init)
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
      "link": ["more", "rebase"], "next": ["more", "rebase"], "cursor": ["parameter", "more"],
      "page": ["first", "more"], "offset": ["more"],
    ])
    let member = try object.required(shape)
    switch shape {
    case "link": return (.link(try member.text()), object)
    case "next": return (.next(try member.pointer()), object)
    case "cursor":
      return (.cursor(try member.pointer(), parameter: try object.required("parameter").text()), object)
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
  fileprivate init(_ value: DeclaredValue) throws(SyncError) {
    let (shape, object) = try value.variant([
      "since": ["format", "overlap", "clock"], "token": ["parameter"], "next": [], "etag": [],
    ])
    let member = try object.required(shape)
    switch shape {
    case "since":
      self = .since(
        try member.text(), format: try object["format"]?.choice(of: RESTAPI.TimeFormat.self) ?? .rfc3339,
        overlap: try object["overlap"]?.seconds(in: 0.001...86_400) ?? .seconds(30),
        clock: try object["clock"]?.pointer())
    case "next": self = .next(try member.pointer())
    case "token": self = .token(try member.pointer(), parameter: try object.required("parameter").text())
    default:
      guard try member.flag() else { throw member.failure("is false; leave it out instead.") }
      self = .etag
    }
  }
}

extension RESTAPI.Push {
  fileprivate init(_ value: DeclaredValue) throws(SyncError) {
    let object = try value.object([
      "write", "create", "idempotency", "find", "delete", "precondition", "body", "reason",
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
    if let member = object["body"] { body = try member.pointer() }
    reason = try object["reason"]?.pointer()
  }
}

extension DeclaredValue {
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
    try check(path, at: "path", hasKey: false)
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
    case .cursor(_, let name): names.append((name, "paging.parameter"))
    case .page(let name, _): names.append((name, "paging.page"))
    case .offset(let name): names.append((name, "paging.offset"))
    case .link, .next, nil: break
    }
    if let pageSize { names.append((pageSize.parameter, "pageSize.parameter")) }
    switch delta {
    case .since(let name, _, _, _): names.append((name, "delta.since"))
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
