/// Whose data a remote shows, as far as a source can tell.
public enum RemoteAccount: Hashable, Sendable {
  /// The account's name at the remote, which no other account has.
  case named(String)
  /// Credentials, by short texts that differ for others and do not reveal them.
  ///
  /// The last one is of the current credentials. Those before it are of credentials that the source
  /// has replaced itself, by successors of the same account.
  case credentials([String])
}
