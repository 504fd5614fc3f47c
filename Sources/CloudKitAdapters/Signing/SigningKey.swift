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
    /// The key as it was given, checked once. It is parsed for each signature, so that no object of
    /// the library is shared between threads.
    private let pem: [UInt8]

    /// Reads a key in PEM.
    ///
    /// It is SEC 1, also behind its curve parameters, or unencrypted PKCS #8.
    ///
    /// - Throws: `invalidConfiguration`, with the flaw, for anything else. The message quotes
    ///   nothing of the key.
    public init(pem text: String) throws(SyncError) {
      guard text.contains("-----BEGIN ") else {
        throw Self.flaw("It is not PEM: no line begins with \"-----BEGIN\".")
      }
      pem = Array(text.utf8)
      _ = try signature(of: [])
    }

    private static func flaw(_ sentence: String) -> SyncError {
      SyncError(
        .invalidConfiguration, during: "reading the private key",
        "The private key cannot be used. \(sentence) A P-256 key in PEM is needed, as `openssl ecparam -name prime256v1 -genkey -noout` writes it."
      )
    }

    #if canImport(CryptoKit)
      /// The DER signature of a message, by ECDSA with SHA-256.
      func signature(of message: [UInt8]) throws(SyncError) -> [UInt8] {
        var text = String(decoding: pem, as: UTF8.self)[...]
        // CryptoKit reads one block, and some tools write the curve's parameters before the key.
        if let start = text.firstRange(of: "-----BEGIN EC PRIVATE KEY-----") {
          text = text[start.lowerBound...]
        }
        do {
          let key = try P256.Signing.PrivateKey(pemRepresentation: String(text))
          return Array(try key.signature(for: message).derRepresentation)
        } catch {
          throw Self.flaw("It holds no private key on the curve P-256 that can be read.")
        }
      }

      /// The SHA-256 digest of bytes.
      static func digest(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }
    #else
      /// The DER signature of a message, by ECDSA with SHA-256.
      func signature(of message: [UInt8]) throws(SyncError) -> [UInt8] {
        defer { ERR_clear_error() }
        let key = try parsed()
        defer { EVP_PKEY_free(key) }
        guard Self.isOnP256(key) else { throw Self.flaw("It is not a key on the curve P-256.") }
        guard let context = EVP_MD_CTX_new() else { throw Self.outOfMemory }
        defer { EVP_MD_CTX_free(context) }
        // The longest DER signature on this curve has 72 bytes.
        var signature = [UInt8](repeating: 0, count: 128)
        var count = signature.count
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
          EVP_DigestSign(context, &signature, &count, message, message.count) == 1
        else { throw Self.flaw("The system's libcrypto cannot sign with it.") }
        return Array(signature.prefix(count))
      }

      /// The only key in the text, to be freed by the caller.
      private func parsed() throws(SyncError) -> OpaquePointer {
        var isEncrypted = false
        let (key, other) = pem.withUnsafeBytes { bytes -> (OpaquePointer?, OpaquePointer?) in
          guard let text = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else {
            return (nil, nil)
          }
          defer { BIO_free(text) }
          func next() -> OpaquePointer? {
            PEM_read_bio_PrivateKey(
              text, nil,
              { _, _, _, isEncrypted in
                isEncrypted?.storeBytes(of: true, as: Bool.self)
                return -1
              }, &isEncrypted)
          }
          let first = next()
          return (first, first == nil ? nil : next())
        }
        if isEncrypted {
          EVP_PKEY_free(key)
          throw Self.flaw(
            "The key is encrypted. `openssl pkcs8 -topk8 -nocrypt` writes it without a passphrase.")
        }
        guard let key else { throw Self.flaw("It holds no private key that can be read.") }
        guard other == nil else {
          EVP_PKEY_free(key)
          EVP_PKEY_free(other)
          throw Self.flaw("It holds several private keys, and needs one.")
        }
        return key
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
