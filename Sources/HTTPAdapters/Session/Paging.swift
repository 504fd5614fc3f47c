package import SyncModels
import Synchronization

/// What the pages of all remotes have in common.
extension RecordPage {
  /// The answer to a position that leads nowhere: the pass starts over.
  package static func reset(_ reason: ResetReason) -> RecordPage {
    RecordPage(coverage: .full, changes: [], next: .reset(reason))
  }
}

extension Timestamp {
  /// The last millisecond of the year 9999. A later number in an answer is not a time.
  package static let latestMillisecond = Timestamp.endOfYear9999.microseconds / 1000
}

/// Named texts in one text: the tokens of sources.
package struct TokenFields: Hashable, Sendable {
  private let name: String
  private var values: [String: String] = [:]

  /// Creates a token without fields.
  ///
  /// - Parameter name: The kind of the token, and the version of its fields.
  package init(named name: String) { self.name = name }

  /// Parses ``text``; `nil` for any other text, and for a token with another name.
  package init?(_ text: String, named name: String) {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    guard parts[0] == name else { return nil }
    self.init(named: name)
    for part in parts.dropFirst() {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard pair.count == 2, let value = PercentEncoding.decoded(pair[1]) else { return nil }
      values[String(pair[0])] = value
    }
  }

  /// A text; `nil` for none.
  package subscript(name: String) -> String? {
    get { values[name] }
    set { values[name] = newValue }
  }

  /// A whole number; `nil` for none.
  package subscript<Number: FixedWidthInteger>(number name: String) -> Number? {
    get { values[name].flatMap { Number($0) } }
    set { values[name] = newValue.map { "\($0)" } }
  }

  /// A time in milliseconds; `nil` for none, and for a number that is no time.
  package subscript(milliseconds name: String) -> Int64? {
    get { self[number: name].flatMap { (0...Timestamp.latestMillisecond).contains($0) ? $0 : nil } }
    set { self[number: name] = newValue }
  }

  /// Whether a mark is there.
  package subscript(mark name: String) -> Bool {
    get { values[name] != nil }
    set { values[name] = newValue ? "1" : nil }
  }

  /// The fields, sorted by name.
  package var text: String {
    ([name] + values.sorted { $0.key < $1.key }.map { "\($0.key)=\(PercentEncoding.encoded($0.value))" })
      .joined(separator: " ")
  }

  /// A short text that differs for other bytes (FNV-1a).
  package static func digest(of bytes: some Sequence<UInt8>) -> String {
    let hash = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return String(hash, radix: 16)
  }
}

/// The number of records of each type that fit into an answer.
///
/// It is learned from answers that were too long, or took too long.
package final class PageSizes: Sendable {
  private let largest = Mutex<[RecordType: Int]>([:])

  /// Requests a page, with half as many records each time the answer is too long.
  ///
  /// After an answer that took too long, the next call asks for half as many.
  ///
  /// Later pages begin with the size that fitted: an answer that is too long is read up to the
  /// limit before it is abandoned.
  package func fit(
    _ type: RecordType, _ limit: Int,
    _ ask: (Int) async throws(SyncError) -> HTTPResponse
  ) async throws(SyncError) -> HTTPResponse {
    var size = max(1, min(limit, largest.withLock { $0[type] } ?? limit))
    while true {
      do throws(SyncError) {
        return try await ask(size)
      } catch {
        let isTooSlow = error.underlying is HTTPFailure.TooSlow
        guard isTooSlow || error.underlying is HTTPFailure.TooLong, size > 1 else { throw error }
        size /= 2
        largest.withLock { $0[type] = size }
        // The server may be away altogether: the engine decides when to ask again.
        if isTooSlow { throw error }
      }
    }
  }
}
