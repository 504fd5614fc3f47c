import SyncModels

/// The start of a collection's next delta, stored in a ``SyncToken``.
struct RESTToken: Hashable, Sendable {
  /// Where the next delta starts.
  enum Start: Hashable, Sendable {
    /// Nowhere: everything is listed each time.
    case list
    /// After a time of the server.
    case since(Timestamp)
    /// At a token of the server.
    case token(String)
    /// At the tags of all pages, in order.
    case pages([Page])
  }

  /// A page of a listing, with its tag.
  struct Page: Hashable, Sendable {
    /// The path and the query.
    var target: String
    /// The tag; `nil` for the place where a 404 ended the listing.
    var tag: String?
  }

  var start: Start
  /// When the last complete listing began, by this machine's clock.
  var listedAt: Timestamp
  /// Whether records may have been missed, so that everything has to be listed again.
  var relists = false

  init(_ start: Start, listedAt: Timestamp) {
    self.start = start
    self.listedAt = listedAt
  }

  /// Parses a ``syncToken``; `nil` for any other text.
  init?(_ token: SyncToken) { self.init(token.rawValue) }

  init?(_ text: String) {
    guard let fields = RESTFields(text), fields.name == "rest1",
      let listedAt = fields["at"].flatMap({ Int64($0) })
    else { return nil }
    let value = fields["value"] ?? ""
    switch fields["start"] {
    case "list": start = .list
    case "since":
      guard let time = Int64(value) else { return nil }
      start = .since(Timestamp(microseconds: time))
    case "token": start = .token(value)
    case "pages":
      guard let pages = Self.pages(value) else { return nil }
      start = .pages(pages)
    default: return nil
    }
    self.listedAt = Timestamp(microseconds: listedAt)
    relists = fields["relists"] != nil
  }

  /// The token as text.
  var text: String {
    var fields = RESTFields(named: "rest1")
    fields["at"] = "\(listedAt.microseconds)"
    if relists { fields["relists"] = "1" }
    switch start {
    case .list: fields["start"] = "list"
    case .since(let time):
      fields["start"] = "since"
      fields["value"] = "\(time.microseconds)"
    case .token(let token):
      fields["start"] = "token"
      fields["value"] = token
    case .pages(let pages):
      fields["start"] = "pages"
      fields["value"] = Self.text(of: pages)
    }
    return fields.text
  }

  var syncToken: SyncToken { SyncToken(text) }

  /// A short text that differs for pages with other tags.
  static func digest(of pages: [Page]) -> String { RESTFields.digest(of: text(of: pages).utf8) }

  static func text(of pages: [Page]) -> String {
    pages.map { "\(PercentEncoding.encoded($0.target)),\(PercentEncoding.encoded($0.tag ?? ""))" }
      .joined(separator: ";")
  }

  static func pages(_ text: String) -> [Page]? {
    var pages: [Page] = []
    for part in text.split(separator: ";") {
      let pair = part.split(separator: ",", omittingEmptySubsequences: false)
      guard pair.count == 2, let target = PercentEncoding.decoded(pair[0]),
        let tag = PercentEncoding.decoded(pair[1])
      else { return nil }
      pages.append(Page(target: target, tag: tag.isEmpty ? nil : tag))
    }
    return pages
  }
}

/// Named texts in one text, for tokens.
struct RESTFields: Hashable, Sendable {
  let name: String
  private var values: [String: String] = [:]

  init(named name: String) { self.name = name }

  /// Parses ``text``; `nil` for any other text.
  init?(_ text: String) {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    self.init(named: String(parts[0]))
    for part in parts.dropFirst() {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard pair.count == 2, let value = PercentEncoding.decoded(pair[1]) else { return nil }
      values[String(pair[0])] = value
    }
  }

  subscript(name: String) -> String? {
    get { values[name] }
    set { values[name] = newValue }
  }

  /// A short text that differs for other bytes (FNV-1a).
  static func digest(of bytes: some Sequence<UInt8>) -> String {
    let hash = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return String(hash, radix: 16)
  }

  var text: String {
    ([name] + values.sorted { $0.key < $1.key }.map { "\($0.key)=\(PercentEncoding.encoded($0.value))" })
      .joined(separator: " ")
  }
}
