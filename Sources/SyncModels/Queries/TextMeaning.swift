import SyncJSON

/// What a text stands for, where one value has several spellings.
///
/// Conditions and sorting compare texts by their UTF-8 bytes. With a meaning they compare what the
/// texts stand for.
public enum TextMeaning: String, Hashable, Sendable, CaseIterable {
  /// An instant in ISO 8601, with any offset and any number of digits; see ``Timestamp/init(iso8601:)``.
  case instant
  /// A number in the grammar of JSON, such as an amount of money. It is compared exactly.
  case number
  /// A UUID, in either case.
  case uuid
  /// A text for people, without the case of its letters and without marks: *Café* is *cafe*.
  ///
  /// Marks are those of Unicode that combine with a letter of the Latin, Greek or Cyrillic script.
  case folded

  /// The comparable value of a field; null for a text that has no such meaning.
  ///
  /// A value that is not a text stays as it is.
  package func value(of field: FieldValue) -> FieldValue {
    guard case .string(let text) = field else { return field }
    switch self {
    case .instant: return Timestamp(iso8601: text).map { .integer($0.microseconds) } ?? .null
    case .number: return NumberOrder.key(of: text).map { .string($0) } ?? .null
    case .uuid: return text.isUUID ? .string(text.lowercased()) : .null
    case .folded: return .string(text.folded)
    }
  }
}

/// The order of numbers of any length as the order of texts.
private enum NumberOrder {
  /// A text that compares with others as the number that the given text spells; `nil` for no number.
  ///
  /// It is the sign, the place of the decimal point and the digits. Below zero, each is inverted.
  static func key(of text: String) -> String? {
    guard let value = try? JSONValueSlice(checking: Array(text.utf8)[...]), value.kind == .number,
      value.bytes.count == text.utf8.count
    else { return nil }
    var spelling = String(decoding: JSONScanner.canonical(value.bytes), as: UTF8.self)[...]
    if spelling == "0" { return "1" }
    let isNegative = spelling.first == "-"
    if isNegative { spelling = spelling.dropFirst() }
    let digits = spelling.prefix { $0 != "e" }
    guard let power = spelling.count == digits.count ? 0 : Int(spelling.dropFirst(digits.count + 1)),
      power.magnitude < 400_000, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    let key = "\(500_000 + power + digits.count)\(digits)"
    if !isNegative { return "2" + key }
    // The mark after the digits lets the longer one of two numbers come first.
    return "0" + String(decoding: key.utf8.map { 0x69 - $0 }, as: UTF8.self) + "~"
  }
}

extension String {
  /// Whether the text has the form of a UUID.
  package var isUUID: Bool {
    utf8.count == 36
      && utf8.enumerated().allSatisfy { place, byte in
        [8, 13, 18, 23].contains(place)
          ? byte == UInt8(ascii: "-") : Character(Unicode.Scalar(byte)).isHexDigit
      }
  }

  /// The text in lower case, and without the marks of its letters.
  fileprivate var folded: String {
    let lower = lowercased()
    if lower.utf8.allSatisfy({ $0 < 0x80 }) { return lower }
    var result = String.UnicodeScalarView()
    for scalar in lower.unicodeScalars {
      if scalar.value < 0x80 {
        result.append(scalar)
      } else if scalar == "ß" {
        result.append(contentsOf: "ss".unicodeScalars)
      } else if scalar.properties.canonicalCombiningClass == .notReordered {
        result.append(Letters.base[Character(scalar)] ?? scalar)
      }
    }
    return String(result)
  }
}

/// The letters without marks of those that Unicode has with marks.
private enum Letters {
  /// A letter by each that looks like it with one or two marks.
  ///
  /// Equal characters have one decomposition, so that no table of Unicode's is needed.
  static let base: [Character: Unicode.Scalar] = {
    var base: [Character: Unicode.Scalar] = ["ς": "σ"]
    let ranges: [ClosedRange<UInt32>] = [0x61...0x7A, 0x3B1...0x3C9, 0x430...0x44F]
    for letter in ranges.joined().compactMap(Unicode.Scalar.init) {
      for mark in marks(0x300...0x36F) { base[Self.letter(letter, mark)] = letter }
    }
    // Vietnamese letters, and those of transliterations, have two.
    for letter in "aeiouy".unicodeScalars {
      for first in marks(0x302...0x308) + marks(0x31B...0x31B) + marks(0x328...0x328) {
        for second in marks(0x300...0x30C) + marks(0x323...0x323) {
          base[Self.letter(letter, first, second)] = letter
        }
      }
    }
    return base
  }()

  private static func marks(_ range: ClosedRange<UInt32>) -> [Unicode.Scalar] {
    range.compactMap(Unicode.Scalar.init)
  }

  private static func letter(_ scalars: Unicode.Scalar...) -> Character {
    Character(String(String.UnicodeScalarView(scalars)))
  }
}
