public import SyncModels

/// Options for resolving conflicts and sending edits.
public struct EditOptions: Sendable {
  /// The policy that resolves merge conflicts.
  public var policy: any MergePolicy
  /// Other policies, for some types.
  public var policies: [RecordType: any MergePolicy]
  /// The tolerance for stamps from the remote that are ahead of the local clock.
  ///
  /// It is zero or more. Zero trusts no stamp that is ahead.
  /// A stamp further ahead is reported, and counts as the remote's modification time, or as now.
  public var maximumClockSkew: Duration
  /// Returns whether a resolved conflict matters to a person.
  public var isSignificant: @Sendable (Conflict) -> Bool
  /// Makes room at a remote whose storage is full.
  ///
  /// It returns whether it succeeded. The push then tries once more. It must not wait for a sync
  /// of the same engine, which would wait for it: such a sync throws `syncAlreadyInProgress`.
  public var onStorageFull: (@Sendable () async -> Bool)?

  /// Creates options; by default the later write wins, and every conflict matters.
  public init(
    policy: any MergePolicy = LastWriteWins(), policies: [RecordType: any MergePolicy] = [:],
    maximumClockSkew: Duration = .seconds(300),
    isSignificant: @escaping @Sendable (Conflict) -> Bool = { _ in true },
    onStorageFull: (@Sendable () async -> Bool)? = nil
  ) {
    self.policy = policy
    self.policies = policies
    self.maximumClockSkew = maximumClockSkew
    self.isSignificant = isSignificant
    self.onStorageFull = onStorageFull
  }

  /// Returns the policy for the merge conflicts of a type.
  func policy(for type: RecordType) -> any MergePolicy {
    policies[type] ?? policy
  }
}
