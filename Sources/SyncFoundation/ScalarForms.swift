public import SyncModels

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension URL: ScalarFormed, FieldValueConvertible {
  /// The absolute URL as a string.
  public static var scalarForm: ScalarForm<URL> {
    ScalarForm("a URL", isString: true) { (text) throws(OtherForm) in
      guard let url = URL(string: String(decoding: text, as: UTF8.self)) else { throw OtherForm() }
      return url
    } write: {
      .string($0.absoluteString)
    }
  }

  /// The URL as a string.
  public var fieldValue: FieldValue { Self.scalarForm.fieldValue(of: self) }
}

extension Data: ScalarFormed {
  /// Base64 with padding.
  public static var scalarForm: ScalarForm<Data> { .base64 }
}

extension ScalarForm where Value == Data {
  /// Base64 with padding, as in RFC 4648 section 4.
  public static var base64: ScalarForm<Data> {
    ScalarForm("base64") { json in
      guard case .string(let text) = json else { return nil }
      return Data(base64Encoded: text)
    } write: {
      .string($0.base64EncodedString())
    }
  }

  /// Base64 for URLs, as in RFC 4648 section 5.
  ///
  /// It is written without padding, and read with or without it.
  public static var base64URL: ScalarForm<Data> {
    ScalarForm("base64 for URLs") { json in
      guard case .string(let text) = json, !text.utf8.contains(where: { $0 == 0x2B || $0 == 0x2F }) else {
        return nil
      }
      var standard = text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
      while standard.count % 4 != 0 { standard.append("=") }
      return Data(base64Encoded: String(standard))
    } write: { data in
      let text = data.base64EncodedString().compactMap { (character) -> Character? in
        switch character {
        case "+": "-"
        case "/": "_"
        case "=": nil
        default: character
        }
      }
      return .string(String(text))
    }
  }
}

extension UUID: ScalarFormed, FieldValueConvertible, RecordKey {
  /// Lowercase digits, as RFC 9562 writes them; both cases are read.
  public static var scalarForm: ScalarForm<UUID> { .lowercase }

  /// The UUID as a lowercase string.
  public var fieldValue: FieldValue { Self.scalarForm.fieldValue(of: self) }

  /// The UUID as a lowercase string, unless the type's coding gives its key another form.
  public var recordKey: String { uuidString.lowercased() }

  /// The UUID in lower case, and in upper case, as Foundation spells it.
  public var recordKeys: [String] { [recordKey, uuidString] }

  /// Whether a key spells the UUID, in either case.
  public func names(_ key: String) -> Bool { UUID(uuidString: key) == self }
}

extension ScalarForm where Value == UUID {
  /// A string with lowercase digits; both cases are read.
  public static var lowercase: ScalarForm<UUID> { uuid { $0.uuidString.lowercased() } }

  /// A string with uppercase digits, as Foundation spells them; both cases are read.
  public static var uppercase: ScalarForm<UUID> { uuid(spelling: \.uuidString) }

  private static func uuid(spelling: @escaping @Sendable (UUID) -> String) -> ScalarForm<UUID> {
    ScalarForm("a UUID", meaning: .uuid, isString: true) { (text) throws(OtherForm) in
      guard let uuid = UUID(uuidString: String(decoding: text, as: UTF8.self)) else { throw OtherForm() }
      return uuid
    } write: {
      .string(spelling($0))
    }
  }
}
