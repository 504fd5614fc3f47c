extension Int {
  /// The next number, or the same at the end of the range.
  ///
  /// The number was stored, and may have any value.
  var addingOne: Int { self == .max ? self : self + 1 }
}
