import SyncModels

/// A complete answer.
public struct HTTPResponse: Hashable, Sendable {
  /// The status, such as 200.
  public var status: Int
  /// The headers.
  public var headers: HTTPHeaders
  /// The body's bytes.
  public var body: [UInt8]

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
