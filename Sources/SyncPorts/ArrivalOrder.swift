extension Dictionary where Key == Int {
  /// The values, sorted by their numbers, which waiters receive in order of arrival.
  ///
  /// Sorted, because dictionary order varies between runs. Mostly there are none, and a process's
  /// first sort takes longer than a small page.
  package var inOrderOfArrival: [Value] { isEmpty ? [] : sorted { $0.key < $1.key }.map(\.value) }
}
