extension String {
  /// The text with control characters spelled out as in `\u{1b}`.
  ///
  /// It is safe for a terminal and a log. Ids, names and messages come from outside. The controls
  /// of C0 and C1 drive a terminal, and a line break forges a line of a log. Those of bidirectional
  /// text make both show another text.
  ///
  /// - Parameter keepsLineBreaks: Whether line breaks stay unchanged.
  package func shown(keepingLineBreaks keepsLineBreaks: Bool = false) -> String {
    let isPlain = unicodeScalars.allSatisfy { !$0.isControl || (keepsLineBreaks && $0 == "\n") }
    if isPlain { return self }
    var text = ""
    for scalar in unicodeScalars {
      if !scalar.isControl || (keepsLineBreaks && scalar == "\n") {
        text.unicodeScalars.append(scalar)
      } else {
        text += "\\u{\(String(scalar.value, radix: 16))}"
      }
    }
    return text
  }
}

extension Unicode.Scalar {
  fileprivate var isControl: Bool {
    switch value {
    case 0..<0x20, 0x7F...0x9F: true
    case 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
