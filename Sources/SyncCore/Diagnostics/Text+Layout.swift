package import SyncModels

extension Int {
  /// The number with a comma between thousands: `1,234,567`.
  package var grouped: String {
    let digits = String(magnitude)
    var text = self < 0 ? "-" : ""
    for (offset, digit) in digits.enumerated() {
      if offset > 0, (digits.count - offset) % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return text
  }
}

extension Counted {
  /// The same with a comma between thousands: `1,234,567 records`.
  package var grouped: String { "\(count.grouped) \(words)" }
}

extension String {
  /// The text padded with trailing spaces to a number of characters.
  package func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }

  /// The text padded with leading spaces to a number of characters.
  package func paddedBefore(to width: Int) -> String {
    String(repeating: " ", count: max(0, width - count)) + self
  }
}
