import SyncModels

/// A string that compares by its UTF-8 bytes, as all keys do.
struct UTF8Key: Comparable, Sendable {
  let string: String

  init(_ string: String) {
    self.string = string
  }

  static func == (a: UTF8Key, b: UTF8Key) -> Bool {
    a.string.isSameUTF8(as: b.string)
  }

  static func < (a: UTF8Key, b: UTF8Key) -> Bool {
    a.string.precedesByUTF8(b.string)
  }
}
