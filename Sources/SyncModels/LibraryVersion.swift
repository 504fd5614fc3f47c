/// The version of the library.
public enum LibraryVersion {
  /// The version, as in `1.0.0`; with a suffix between two releases.
  ///
  /// Versions are semantic: a change that may break a program that compiles without warnings
  /// raises the first number.
  public static let current = "1.0.0-dev"
}
