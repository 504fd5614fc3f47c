import SyncJSON

/// A string that compares, hashes and sorts by its UTF-8 bytes, as all keys do.
package struct UTF8Key: Hashable, Comparable, Sendable {
  package let string: String

  package init(_ string: String) {
    self.string = string
  }

  package static func == (a: UTF8Key, b: UTF8Key) -> Bool {
    a.string.isSameUTF8(as: b.string)
  }

  package static func < (a: UTF8Key, b: UTF8Key) -> Bool {
    a.string.precedesByUTF8(b.string)
  }

  package func hash(into hasher: inout Hasher) { string.hashUTF8(into: &hasher) }
}
