extension Dictionary where Key == Int {
  /// The values, sorted by their numbers, which waiters receive in order of arrival.
  ///
  /// Sorted, because dictionary order varies between runs.
  package var inOrderOfArrival: [Value] { sorted { $0.key < $1.key }.map(\.value) }
}
