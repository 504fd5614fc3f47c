import SyncModels

/// The content of the remote's sync token.
struct RemoteToken {
  var era: Int
  /// The number of the last change in the token, or the token's time.
  var value: Int64
  /// When all keys were last listed; `nil` for a remote that does not list them.
  var swept: Int64?

  func token(of identity: String) -> SyncToken {
    let swept = swept.map { "/\($0)" } ?? ""
    return SyncToken("s1/\(RemoteToken.mark(of: identity))/\(era)/\(value)\(swept)")
  }

  init(era: Int, value: Int64, swept: Int64? = nil) {
    self.era = era
    self.value = value
    self.swept = swept
  }

  /// Parses a token; `nil` if it is not this remote's.
  init?(_ token: SyncToken, of identity: String) {
    let parts = token.rawValue.split(separator: "/", omittingEmptySubsequences: false)
    guard (4...5).contains(parts.count), parts[0] == "s1", parts[1] == RemoteToken.mark(of: identity),
      let era = Int(parts[2]), let value = Int64(parts[3])
    else { return nil }
    let swept = parts.count == 5 ? Int64(parts[4]) : nil
    guard parts.count == 4 || swept != nil else { return nil }
    self.init(era: era, value: value, swept: swept)
  }

  /// A short digest that differs between identities, and is the same in every process.
  static func mark(of identity: String) -> String {
    String(ContentDigest.of(identity), radix: 36)
  }
}

/// The content of the remote's page token: the start of the next page.
struct RemoteCursor {
  enum Pass: String {
    case snapshot, moving, delta
    /// A delta that a listing of all keys follows, and that listing.
    case sweepingDelta, keys
  }

  var era: Int
  var pageTerm: Int
  var pass: Pass
  /// The number of the last change when the pass began.
  var bound: Int64
  /// The last document sent, by its place or, in a snapshot, by key.
  var place: RemoteCollection.Place
  var key: String?
  /// Counts the empty pages at one position, so that each has its own token.
  var serial = 0

  func token(of identity: String) -> PageToken {
    let numbers = [Int64(era), Int64(pageTerm), bound, place.time, place.sequence, Int64(serial)]
    let text = numbers.map(String.init).joined(separator: "/")
    return PageToken("p1/\(RemoteToken.mark(of: identity))/\(pass.rawValue)/\(text)/\(key ?? "")")
  }
}

extension RemoteCursor {
  /// Parses a token; `nil` if it is not this remote's.
  init?(_ token: PageToken, of identity: String) {
    let parts = token.rawValue.split(separator: "/", maxSplits: 9, omittingEmptySubsequences: false)
    guard parts.count == 10, parts[0] == "p1", parts[1] == RemoteToken.mark(of: identity),
      let pass = Pass(rawValue: String(parts[2]))
    else { return nil }
    let numbers = parts[3..<9].compactMap { Int64($0) }
    guard numbers.count == 6, StoredNumbers.counts.contains(numbers[5]) else { return nil }
    self.init(
      era: Int(numbers[0]), pageTerm: Int(numbers[1]), pass: pass, bound: numbers[2],
      place: .init(time: numbers[3], sequence: numbers[4]), key: parts[9].isEmpty ? nil : String(parts[9]),
      serial: Int(numbers[5]))
  }
}
