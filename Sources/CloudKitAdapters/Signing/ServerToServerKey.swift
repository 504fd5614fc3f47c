#if CloudKit
  import Foundation
  import HTTPAdapters
  public import SyncModels

  /// A server's key for the public database, made in the CloudKit console.
  ///
  /// Each request is signed anew with the current time: a signature is valid for about ten minutes.
  public struct ServerToServerKey: Sendable {
    /// The name that the console gave the key.
    public let keyID: String
    private let key: SigningKey

    /// Creates a key from its name and its private half.
    ///
    /// - Throws: `invalidConfiguration` for a name that no header can hold.
    public init(keyID: String, privateKey: SigningKey) throws(SyncError) {
      guard !keyID.isEmpty, keyID.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
        throw SyncError(
          .invalidConfiguration, during: "preparing to sign requests",
          "The key's id is empty or has a character that a header cannot hold.")
      }
      self.keyID = keyID
      key = privateKey
    }

    /// The headers that sign a request.
    ///
    /// - Parameters:
    ///   - path: The path as it is sent, without host and query.
    ///   - now: The time of the signature, by a clock that is right.
    func headers(path: String, body: [UInt8], at now: Timestamp) throws(SyncError) -> HTTPHeaders {
      let date = now.rfc3339
      let digest = Data(try SigningKey.digest(body)).base64EncodedString()
      let signature = try key.signature(of: Array("\(date):\(digest):\(path)".utf8))
      return [
        "X-Apple-CloudKit-Request-KeyID": keyID,
        "X-Apple-CloudKit-Request-ISO8601Date": date,
        "X-Apple-CloudKit-Request-SignatureV1": Data(signature).base64EncodedString(),
      ]
    }
  }

  extension ServerToServerKey: CustomStringConvertible, CustomReflectable {
    /// The kind of the key alone.
    public var description: String { "a server-to-server key" }
    /// No children: a dump shows neither name nor key.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
  }
#endif
