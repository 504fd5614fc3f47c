/// The right to be the one that syncs into a store, for a while.
public struct Lease: Hashable, Sendable {
  /// The fencing number: greater for each later lease, and compared inside each of the holder's transactions.
  public let fence: Int64
  /// When the lease ends unless it is renewed, by the store's lease clock.
  public let expiresAt: Timestamp

  /// Describes a lease.
  public init(fence: Int64, expiresAt: Timestamp) {
    self.fence = fence
    self.expiresAt = expiresAt
  }
}
