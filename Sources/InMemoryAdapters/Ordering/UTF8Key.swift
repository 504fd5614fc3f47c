/// A string that compares by its UTF-8 bytes, as keys do everywhere.
struct UTF8Key: Comparable, Sendable {
  let string: String

  init(_ string: String) {
    self.string = string
  }

  static func == (a: UTF8Key, b: UTF8Key) -> Bool {
    a.string.utf8.elementsEqual(b.string.utf8)
  }

  static func < (a: UTF8Key, b: UTF8Key) -> Bool {
    a.string.utf8.lexicographicallyPrecedes(b.string.utf8)
  }
}
