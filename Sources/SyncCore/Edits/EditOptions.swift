public import SyncModels

/// How local edits are settled and sent.
public struct EditOptions: Sendable {
  /// Who settles an edit that met another one.
  public var policy: any MergePolicy
  /// Other policies, for some types.
  public var policies: [RecordType: any MergePolicy]
  /// How far ahead of the local clock a remote's stamp is believed; one further ahead is told and counts as the remote's modification time, or as now.
  public var maximumClockSkew: Duration
  /// Whether a settled conflict matters to a person.
  public var isSignificant: @Sendable (Conflict) -> Bool
  /// Makes room at a remote whose storage is full, and answers whether it did; the push then tries once more.
  public var onStorageFull: (@Sendable () async -> Bool)?

  /// Describes how edits are settled; by default the later write wins, and every conflict matters.
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

  /// Who settles the clashes of a type.
  func policy(for type: RecordType) -> any MergePolicy {
    policies[type] ?? policy
  }
}
