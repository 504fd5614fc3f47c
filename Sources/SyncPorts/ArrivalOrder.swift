extension Dictionary where Key == Int {
  /// The values by their numbers, which those who wait are given as they come.
  ///
  /// Not in the order in which a dictionary happens to keep them: the same would then go otherwise each time.
  package var inOrderOfArrival: [Value] { sorted { $0.key < $1.key }.map(\.value) }
}
