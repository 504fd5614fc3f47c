public import SyncModels

/// One request for a transport to send.
public struct HTTPRequest: Hashable, Sendable {
  /// The method, such as `GET`.
  public var method: String
  /// The address.
  public var address: HTTPAddress
  /// The headers. The transport adds `Host` and the like.
  public var headers: HTTPHeaders
  /// The body; empty for none.
  public var body: [UInt8]
  /// The longest time from the call to the body's last byte.
  public var deadline: Duration
  /// The most bytes of the answer's body, as delivered to the caller.
  public var bodyLimit: Int
  /// Whether a second copy has no second effect, for a reason outside the headers.
  public var repeatsSafely = false

  /// Creates a request.
  public init(
    _ method: String, _ address: HTTPAddress, headers: HTTPHeaders = [:], body: [UInt8] = [],
    deadline: Duration = .seconds(60), bodyLimit: Int = 64 << 20
  ) {
    self.method = method
    self.address = address
    self.headers = headers
    self.body = body
    self.deadline = deadline
    self.bodyLimit = bodyLimit
  }
}

extension HTTPRequest {
  /// Whether the server may receive a copy over a second connection without a second effect.
  ///
  /// That is so for requests that only read, and for those with a precondition or an idempotency
  /// key.
  public var mayBeRepeated: Bool {
    if repeatsSafely || ["GET", "HEAD", "OPTIONS"].contains(method) { return true }
    return ["If-Match", "If-None-Match", "If-Unmodified-Since", "Idempotency-Key"].contains {
      headers[$0] != nil
    }
  }
}

extension HTTPRequest {
  /// The error for an answer whose body is longer than ``bodyLimit``.
  ///
  /// It tells callers to request less.
  public var answerTooLong: SyncError { HTTPFailure.tooLong(self) }
}

extension HTTPRequest: CustomStringConvertible {
  /// The method and the origin, fit for a log.
  public var description: String { "\(method) \(address.origin)" }
}

/// A complete answer.
public struct HTTPResponse: Hashable, Sendable {
  /// The status, such as 200.
  public var status: Int
  /// The headers.
  public var headers: HTTPHeaders
  /// The body's bytes.
  public var body: [UInt8]
  /// Whether the answer is of another address, to which a redirect led.
  package var isRedirected = false
  /// The address that answered, without credentials; `nil` if no session sent the request.
  package var address: HTTPAddress?

  /// Creates an answer.
  public init(status: Int, headers: HTTPHeaders = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

extension HTTPResponse: CustomStringConvertible {
  /// The status and the number of bytes, fit for a log.
  public var description: String { "\(status), \(Counted(body.count, "byte"))" }
}

/// The headers of a request or of an answer, found by name in any case.
///
/// Descriptions hold names only: values may be secrets.
public struct HTTPHeaders: Hashable, Sendable {
  private var values: [String: String] = [:]

  /// Creates an empty list.
  public init() {}

  /// The value of a header. Setting a value replaces the previous one.
  public subscript(name: String) -> String? {
    get { values[name.lowercased()] }
    set { values[name.lowercased()] = newValue }
  }

  /// Whether a text can be a header's name.
  static func isName(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        (0x21...0x7E).contains(byte) && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
      }
  }

  /// Every name, in lower case, with its value, sorted by name.
  public var fields: [(name: String, value: String)] {
    values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
  /// Creates headers from names and values. The last value of a repeated name counts.
  public init(dictionaryLiteral elements: (String, String)...) {
    for (name, value) in elements { self[name] = value }
  }
}

extension HTTPHeaders: CustomStringConvertible, CustomReflectable {
  /// The names, without their values.
  public var description: String { "\(values.keys.sorted())" }

  /// The names, without their values.
  public var customMirror: Mirror { Mirror(self, children: ["names": values.keys.sorted()]) }
}
