/// The exclusive right to sync into a store until an expiry time.
public struct Lease: Hashable, Sendable {
  /// The fencing number: greater for each later lease.
  ///
  /// Each transaction of the holder compares it.
  public let fence: Int64
  /// When the lease ends unless it is renewed, by the store's lease clock.
  public let expiresAt: Timestamp

  /// Creates a lease.
  public init(fence: Int64, expiresAt: Timestamp) {
    self.fence = fence
    self.expiresAt = expiresAt
  }
}
