extension Array {
  /// Splits the elements into portions of a size, in order.
  func portions(of size: Int) -> [[Element]] {
    stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
  }
}
