import Foundation

/// The seeds of random worlds for a test.
package enum Seeds {
  /// Whether a soak run was requested.
  package static let isSoak = ProcessInfo.processInfo.environment["CANONICALSYNC_SOAK"] != nil
  /// Five seeds, or fifty in a soak run.
  package static let all = (1...UInt64(isSoak ? 50 : 5)).map(\.self)
}
