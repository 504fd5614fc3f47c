/// A second JSON checker, written for simplicity.
///
/// It recurses and copies freely.
struct JSONOracle {
  private var rest: [Unicode.Scalar]

  /// Whether bytes are one JSON value that nests no deeper than a limit.
  static func accepts(_ bytes: [UInt8], depthLimit: Int = 64) -> Bool {
    guard let text = String(validating: bytes, as: UTF8.self) else { return false }
    var oracle = JSONOracle(rest: text.unicodeScalars.reversed())
    return oracle.value(depthLimit) && oracle.rest.isEmpty
  }

  private mutating func value(_ depth: Int) -> Bool {
    white()
    defer { white() }
    switch rest.last {
    case "{":
      return depth > 0
        && sequence("{", "}") { oracle in
          oracle.white()
          guard oracle.string() else { return false }
          oracle.white()
          return oracle.take(":") && oracle.value(depth - 1)
        }
    case "[": return depth > 0 && sequence("[", "]") { oracle in oracle.value(depth - 1) }
    case "\"": return string()
    case "t": return word("true")
    case "f": return word("false")
    case "n": return word("null")
    default: return number()
    }
  }

  private mutating func sequence(
    _ open: Unicode.Scalar, _ close: Unicode.Scalar, _ item: (inout JSONOracle) -> Bool
  ) -> Bool {
    guard take(open) else { return false }
    white()
    if take(close) { return true }
    repeat {
      guard item(&self) else { return false }
    } while take(",")
    return take(close)
  }

  private mutating func string() -> Bool {
    guard take("\"") else { return false }
    while let scalar = rest.popLast() {
      if scalar == "\"" { return true }
      if scalar.value < 0x20 { return false }
      guard scalar == "\\" else { continue }
      guard let letter = rest.popLast() else { return false }
      if letter == "u" {
        for _ in 0..<4 {
          guard let digit = rest.popLast(), digit.isASCII, digit.properties.isASCIIHexDigit else {
            return false
          }
        }
      } else if !"\"\\/bfnrt".unicodeScalars.contains(letter) {
        return false
      }
    }
    return false
  }

  private mutating func number() -> Bool {
    var text = ""
    while let next = rest.last, "+-.eE0123456789".unicodeScalars.contains(next) {
      text.unicodeScalars.append(next)
      rest.removeLast()
    }
    return text.wholeMatch(of: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/) != nil
  }

  private mutating func word(_ word: String) -> Bool { word.unicodeScalars.allSatisfy { take($0) } }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard rest.last == scalar else { return false }
    rest.removeLast()
    return true
  }

  private mutating func white() {
    while let last = rest.last, " \n\r\t".unicodeScalars.contains(last) { rest.removeLast() }
  }
}
