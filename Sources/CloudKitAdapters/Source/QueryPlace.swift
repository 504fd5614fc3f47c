#if CloudKit
  import HTTPAdapters
  import SyncModels

  /// Where a delta of the public database starts, and when all keys were last listed.
  struct QueryToken {
    /// The least modification time, in milliseconds.
    var since: Int64
    /// When all keys were last listed, in milliseconds by the service's clock.
    var swept: Int64

    init(since: Int64, swept: Int64) { (self.since, self.swept) = (since, swept) }

    /// Parses a token; `nil` for another source's.
    init?(_ token: SyncToken) {
      let parts = token.rawValue.split(separator: " ", omittingEmptySubsequences: false)
      guard parts.count == 3, parts[0] == "ckq1", let since = TokenText.time(parts[1]),
        let swept = TokenText.time(parts[2])
      else { return nil }
      self.init(since: since, swept: swept)
    }

    var syncToken: SyncToken { SyncToken("ckq1 \(since) \(swept)") }
  }

  /// A place in a listing by modification time.
  struct QueryPlace: Equatable {
    /// What the whole pass lists.
    var coverage: RecordPage.Coverage
    /// Whether this part of the pass lists keys alone.
    var isKeysAlone = false
    /// Whether a listing of all keys follows the records.
    var keysFollow = false
    /// The least modification time of the next records.
    var from: Int64
    /// Whether exactly that time is wanted, as its records fill a page.
    var isOneTime = false
    /// The service's marker, where the time alone does not lead on.
    var marker: String?

    init(coverage: RecordPage.Coverage, from: Int64) { (self.coverage, self.from) = (coverage, from) }

    /// Parses a token; `nil` for another source's.
    init?(_ token: PageToken) {
      let parts = token.rawValue.split(separator: " ", omittingEmptySubsequences: false)
      guard parts.count == 5, parts[0] == "ckq1",
        let coverage = RecordPage.Coverage(rawValue: String(parts[1])),
        let from = TokenText.time(parts[3]), let marker = PercentEncoding.decoded(parts[4])
      else { return nil }
      self.init(coverage: coverage, from: from)
      for flag in parts[2] {
        switch flag {
        case "k": isKeysAlone = true
        case "f": keysFollow = true
        case "e": isOneTime = true
        case "-": break
        default: return nil
        }
      }
      self.marker = marker.isEmpty ? nil : marker
    }

    var pageToken: PageToken {
      let flags = "\(isKeysAlone ? "k" : "")\(keysFollow ? "f" : "")\(isOneTime ? "e" : "")"
      return PageToken(
        "ckq1 \(coverage.rawValue) \(flags.isEmpty ? "-" : flags) \(from) \(PercentEncoding.encoded(marker ?? ""))"
      )
    }

    /// The place at a later time, for a new query.
    func moved(to time: Int64, isOneTime: Bool = false) -> QueryPlace {
      var place = self
      (place.from, place.isOneTime, place.marker) = (time, isOneTime, nil)
      return place
    }
  }

  /// The numbers in tokens.
  enum TokenText {
    /// A time in milliseconds that a token can hold.
    static func time(_ text: Substring) -> Int64? {
      Int64(text).flatMap { (0...CloudKitTime.latest).contains($0) ? $0 : nil }
    }
  }
#endif
