/// Why a sweep was not carried out.
public enum SweepRefusal: Hashable, Sendable {
  /// The sweep would remove too many records at once.
  case massDeletion(missing: Int, of: Int)
  /// The listing held this many malformed records without a readable key.
  ///
  /// A sweep could remove one of their records.
  case unidentifiedMalformed(Int)
}
