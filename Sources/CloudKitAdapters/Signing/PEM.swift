#if CloudKit
  import Foundation
  import SyncModels

  /// The text armour around a private key: labelled blocks of base64.
  enum PEM {
    /// The labels of unencrypted keys: SEC 1 and PKCS #8.
    private static let keyLabels: Set<String> = ["EC PRIVATE KEY", "PRIVATE KEY"]

    /// Returns the bytes of the only private key in a text.
    ///
    /// Other blocks, such as the curve parameters that `openssl ecparam -genkey` writes first, are
    /// skipped.
    ///
    /// - Throws: `invalidConfiguration` with the flaw. Nothing of the text is quoted but a label.
    static func privateKey(in text: String) throws(SyncError) -> [UInt8] {
      let blocks = try blocks(in: text)
      let keys = blocks.filter { keyLabels.contains($0.label) }
      guard let key = keys.first else {
        if blocks.contains(where: { $0.label == "ENCRYPTED PRIVATE KEY" }) { throw encrypted }
        guard let other = blocks.first else {
          throw flaw("It is not PEM: no line begins with \"-----BEGIN\".")
        }
        throw flaw("It holds a \(Self.shown(other.label)), not a private key.")
      }
      guard keys.count == 1 else { throw flaw("It holds \(keys.count) private keys, and needs one.") }
      // RFC 1421 headers announce an encrypted key.
      if key.body.contains(where: { $0.contains(":") }) { throw encrypted }
      let base64 = key.body.joined()
      guard !base64.isEmpty, let bytes = Data(base64Encoded: base64) else {
        throw flaw("The text between its BEGIN and END lines is not base64.")
      }
      return Array(bytes)
    }

    private struct Block {
      var label: String
      var body: [String] = []
    }

    private static func blocks(in text: String) throws(SyncError) -> [Block] {
      var blocks: [Block] = []
      var open: Block?
      for line in text.split(whereSeparator: \.isNewline) {
        let line = line.trimmingCharacters(in: .whitespaces)
        if let label = label(of: line, "BEGIN") {
          guard open == nil else { throw flaw("A block begins inside another one.") }
          open = Block(label: label)
        } else if let label = label(of: line, "END") {
          guard let block = open, block.label == label else {
            throw flaw("The END line has no matching BEGIN line.")
          }
          blocks.append(block)
          open = nil
        } else {
          open?.body.append(line)
        }
      }
      guard open == nil else { throw flaw("It is cut off: a block has no END line.") }
      return blocks
    }

    private static func label(of line: String, _ word: String) -> String? {
      let (prefix, suffix) = ("-----\(word) ", "-----")
      guard line.hasPrefix(prefix), line.hasSuffix(suffix), line.count > prefix.count + suffix.count else {
        return nil
      }
      return String(line.dropFirst(prefix.count).dropLast(suffix.count))
    }

    /// A label, fit for a message. A long one is no label of any tool.
    private static func shown(_ label: String) -> String {
      let isPlain = label.utf8.allSatisfy { (0x20...0x7E).contains($0) }
      return isPlain && label.utf8.count <= 40 ? label : "block with an unknown label"
    }

    private static var encrypted: SyncError {
      flaw("The key is encrypted. `openssl pkcs8 -topk8 -nocrypt` writes it without a passphrase.")
    }

    static func flaw(_ sentence: String) -> SyncError {
      SyncError(
        .invalidConfiguration, during: "reading the private key",
        "The private key cannot be used. \(sentence) A P-256 key in PEM is needed, as `openssl ecparam -name prime256v1 -genkey -noout` writes it."
      )
    }
  }
#endif
