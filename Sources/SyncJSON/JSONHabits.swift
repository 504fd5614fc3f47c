/// What the objects that are decoded one after another have in common.
///
/// They are read into one text, whose memory they share; see ``JSONShapes``.
package final class JSONHabits {
  private var text: JSONText?

  /// Begins without habits.
  package init() {}

  /// An empty text.
  func text(of decoder: JSONByteDecoder) -> JSONText {
    // A value may keep its decoder, and with it the text.
    if isKnownUniquelyReferenced(&text), let text { return text }
    let new = JSONText(userInfo: decoder.userInfo, forms: decoder.forms, learns: true)
    text = new
    return new
  }
}
