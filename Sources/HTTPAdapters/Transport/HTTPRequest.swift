/// One request, as a transport is to send it.
public struct HTTPRequest: Hashable, Sendable {
  /// What is asked for, such as `GET`.
  public var method: String
  /// Where.
  public var address: HTTPAddress
  /// The headers; `Host` and the like are the transport's to add.
  public var headers: HTTPHeaders
  /// The body; empty for none.
  public var body: [UInt8]
  /// How long it may take, from the call to the body's last byte.
  public var deadline: Duration
  /// How many bytes the answer's body may have, as they are handed over.
  public var bodyLimit: Int

  /// Describes a request.
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

extension HTTPRequest: CustomStringConvertible {
  /// The method and the origin, fit for a log.
  public var description: String { "\(method) \(address.origin)" }
}
