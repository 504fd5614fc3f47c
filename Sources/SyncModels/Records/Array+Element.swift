extension Array {
  /// The element at an index; `nil` if the array has none there.
  ///
  /// A record that was stored under an earlier declaration has fewer fields than its type.
  package func element(at index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
