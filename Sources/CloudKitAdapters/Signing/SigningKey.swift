#if CloudKit
  public import SyncModels

  #if canImport(CryptoKit)
    import CryptoKit
    import Foundation
  #else
    import CanonicalSyncCCrypto
  #endif

  /// A private key on the curve P-256, which signs requests. No description contains it.
  public struct SigningKey: Sendable {
    /// The key in DER, checked once. It is parsed for each signature, so that no object of the
    /// library is shared between threads.
    private let der: [UInt8]

    /// Reads a key in PEM.
    ///
    /// It is SEC 1, also behind its curve parameters, or unencrypted PKCS #8.
    ///
    /// - Throws: `invalidConfiguration`, with the flaw, for anything else. The message quotes
    ///   nothing of the key.
    public init(pem text: String) throws(SyncError) {
      der = try PEM.privateKey(in: text)
      _ = try signature(of: [])
    }

    #if canImport(CryptoKit)
      /// The DER signature of a message, by ECDSA with SHA-256.
      func signature(of message: [UInt8]) throws(SyncError) -> [UInt8] {
        do {
          let key = try P256.Signing.PrivateKey(derRepresentation: der)
          return Array(try key.signature(for: message).derRepresentation)
        } catch {
          throw PEM.flaw("Its bytes are not a private key on the curve P-256.")
        }
      }

      /// The SHA-256 digest of bytes.
      static func digest(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }
    #else
      /// The DER signature of a message, by ECDSA with SHA-256.
      func signature(of message: [UInt8]) throws(SyncError) -> [UInt8] {
        defer { ERR_clear_error() }
        let key = der.withUnsafeBufferPointer { bytes in
          var start = bytes.baseAddress
          return d2i_AutoPrivateKey(nil, &start, bytes.count)
        }
        guard let key else { throw PEM.flaw("Its bytes are not a private key.") }
        defer { EVP_PKEY_free(key) }
        guard Self.isOnP256(key) else { throw PEM.flaw("It is not a key on the curve P-256.") }
        guard let context = EVP_MD_CTX_new() else { throw Self.outOfMemory }
        defer { EVP_MD_CTX_free(context) }
        // The longest DER signature on this curve has 72 bytes.
        var signature = [UInt8](repeating: 0, count: 128)
        var count = signature.count
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
          EVP_DigestSign(context, &signature, &count, message, message.count) == 1
        else { throw PEM.flaw("The system's libcrypto cannot sign with it.") }
        return Array(signature.prefix(count))
      }

      private static func isOnP256(_ key: OpaquePointer) -> Bool {
        guard EVP_PKEY_get_base_id(key) == EVP_PKEY_EC else { return false }
        var name = [CChar](repeating: 0, count: 64)
        var count = 0
        guard EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1, count <= name.count else {
          return false
        }
        return ["prime256v1", "P-256", "secp256r1"].contains(
          String(decoding: name.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self))
      }

      /// The SHA-256 digest of bytes.
      static func digest(_ bytes: [UInt8]) throws(SyncError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        guard EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil) == 1 else {
          throw outOfMemory
        }
        return digest
      }

      private static var outOfMemory: SyncError {
        SyncError(
          .invalidConfiguration, during: "signing a request", "The system's libcrypto does not work.")
      }
    #endif
  }

  extension SigningKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of the key alone.
    public var description: String { "a P-256 private key" }
    /// The kind of the key alone.
    public var debugDescription: String { description }
    /// No children: a dump shows nothing of the key.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
  }
#endif
