import SyncModels

/// A place among tagged pages; those before it have not changed.
struct RESTTagWalk: Hashable, Sendable {
  let token: RESTToken
  let index: Int
  /// The page at this place.
  let page: RESTToken.Page

  /// - Precondition: The token has so many pages.
  init(_ token: RESTToken, at index: Int) {
    guard case .pages(let pages) = token.start else { preconditionFailure("not a token of pages") }
    self.token = token
    self.index = index
    page = pages[index]
  }

  /// Parses a ``pageToken``; `nil` for any other text.
  init?(_ pageToken: PageToken) {
    guard let fields = RESTFields(pageToken.rawValue), fields.name == "rest1walk",
      let token = fields["token"].flatMap({ RESTToken($0) }),
      let index = fields["index"].flatMap({ Int($0) }),
      case .pages(let pages) = token.start, pages.indices.contains(index)
    else { return nil }
    self.init(token, at: index)
  }

  /// The place after this one; `nil` at the end.
  var next: RESTTagWalk? {
    guard case .pages(let pages) = token.start, pages.indices.contains(index + 1) else { return nil }
    return RESTTagWalk(token, at: index + 1)
  }

  var pageToken: PageToken {
    var fields = RESTFields(named: "rest1walk")
    fields["token"] = token.text
    fields["index"] = "\(index)"
    return PageToken(fields.text)
  }
}
