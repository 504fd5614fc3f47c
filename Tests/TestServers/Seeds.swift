import Foundation

/// Which random worlds a test tries.
package enum Seeds {
  /// Whether there is time for many.
  package static let isSoak = ProcessInfo.processInfo.environment["CANONICALSYNC_SOAK"] != nil
  /// A handful, or fifty in a soak.
  package static let all = (1...UInt64(isSoak ? 50 : 5)).map(\.self)
}
