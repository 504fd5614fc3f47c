/// The targets of a `Link` header, by relation (RFC 8288).
enum LinkHeader {
  /// The target of the first link with a relation; `nil` for none.
  ///
  /// Relations compare in any case. A link with an anchor is about something else.
  static func target(of relation: String, in header: String) -> String? {
    var rest = Substring(header)
    while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
      let target = rest[rest.index(after: open)..<close]
      rest = rest[rest.index(after: close)...]
      let parameters = parameters(&rest)
      let relations = parameters.first { $0.name == "rel" }?.value.split(separator: " ") ?? []
      if relations.contains(where: { $0.lowercased() == relation.lowercased() }),
        !parameters.contains(where: { $0.name == "anchor" })
      {
        return String(target)
      }
    }
    return nil
  }

  /// Takes the parameters of one link, up to the comma before the next one.
  private static func parameters(_ rest: inout Substring) -> [(name: String, value: String)] {
    var parameters: [(name: String, value: String)] = []
    while true {
      skipSpace(&rest)
      guard rest.first == ";" else { break }
      rest.removeFirst()
      skipSpace(&rest)
      let name = rest.prefix { $0 != "=" && $0 != ";" && $0 != "," && $0 != " " }.lowercased()
      rest.removeFirst(name.count)
      skipSpace(&rest)
      guard rest.first == "=" else {
        parameters.append((name, ""))
        continue
      }
      rest.removeFirst()
      skipSpace(&rest)
      parameters.append((name, value(&rest)))
    }
    return parameters
  }

  /// Takes a token or a quoted text.
  private static func value(_ rest: inout Substring) -> String {
    guard rest.first == "\"" else {
      let token = rest.prefix { $0 != ";" && $0 != "," && $0 != " " }
      rest.removeFirst(token.count)
      return String(token)
    }
    rest.removeFirst()
    var text = ""
    while let character = rest.popFirst(), character != "\"" {
      if character == "\\", let escaped = rest.popFirst() {
        text.append(escaped)
      } else {
        text.append(character)
      }
    }
    return text
  }

  private static func skipSpace(_ rest: inout Substring) {
    rest = rest.drop { $0 == " " || $0 == "\t" }
  }
}
