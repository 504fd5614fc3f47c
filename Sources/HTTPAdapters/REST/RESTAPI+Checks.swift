import SyncJSON
import SyncModels

extension RESTAPI {
  /// The mark for a record's key in a path.
  static let keyMark = "{id}"

  /// Checks what types alone cannot rule out.
  ///
  /// - Throws: `invalidConfiguration` with the path of the wrong member.
  func check() throws(SyncError) {
    for collection in collections { try collection.check() }
  }
}

extension RESTAPI.Collection {
  /// The place of a member in the declaration, for errors.
  func place(_ member: String) -> String { "types.\(entity.type).\(member)" }

  fileprivate func check() throws(SyncError) {
    try check(path, at: "path", hasKey: false)
    try check(item, at: "item", hasKey: true)
    try check(push?.write.path, at: "push.write", hasKey: true)
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
    let names = parameters
    for (index, name) in names.enumerated() where names[..<index].contains(where: { $0.name == name.name }) {
      throw wrong(name.place, "uses the parameter \"\(name.name)\" a second time.")
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
    case .etag, nil: break
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
          "lacks {id}. An API that assigns ids itself cannot be pushed to: after a lost answer, the record would be created twice."
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
