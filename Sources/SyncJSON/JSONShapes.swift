/// The keys of objects that are read one after another, each after those before it, as a tree.
///
/// The records of a type have their members in one order, and a type asks for them in one order. So
/// the scan compares a key with the one that was in its place before, and a lookup begins with the
/// member that was asked for next before. Both only guess: what differs is read as in a first text.
struct JSONShapes {
  /// A key in its place: after certain others in an object at a certain place of the text.
  struct Step {
    /// It has ASCII characters alone, and none with an escape.
    let key: String
    /// The place of the bytes of the key with its quotes among ``words``, and their number.
    let spelling: (word: Int, length: Int)
    /// The step of the key before.
    let before: Int
    /// The step before the first key of the object.
    let origin: Int
    /// One step of a key that follows this one; ``sibling`` leads to the others.
    var following = 0
    var sibling = 0
    /// The step before the first key of the objects in this member's value.
    var inside = 0
    /// How many nodes after its object's the key was found.
    var distance = 0
    /// The step of the key that was asked for next.
    var asked = 0
  }

  /// Step 0 means that nothing is known, step 1 is before the first key of a text.
  private(set) var steps: [Step]
  /// The step of the key that was asked for last.
  private(set) var last = 0
  /// Spellings of eight bytes each, the last one of a key from the end of the key backwards.
  private var words: [UInt64] = []

  private static var most: Int { 1024 }
  /// The keys of a dictionary, for example, may be others in each text.
  private static var mostAtOnePlace: Int { 8 }
  private static var mostOfAnObject: Int { 256 }

  /// The step at which a text begins.
  let start: Int

  /// - Parameter learns: Whether other texts follow.
  init(learns: Bool) {
    start = learns ? 1 : 0
    steps = (0...start).map(Self.origin)
  }

  private static func origin(_ step: Int) -> Step { Step(key: "", spelling: (0, 0), before: 0, origin: step) }

  /// The step of a known key whose opening quote is at an offset; 0 if there is none.
  @inline(__always)
  func step(after step: Int, spelledAt offset: Int, of text: Span<UInt8>) -> Int {
    var next = steps[step].following
    while next != 0, !isSpelled(next, at: offset, of: text) { next = steps[next].sibling }
    return next
  }

  @inline(__always)
  private func isSpelled(_ step: Int, at offset: Int, of text: Span<UInt8>) -> Bool {
    let (first, length) = steps[step].spelling
    // So late a key is read in the ordinary way.
    guard offset <= text.count &- max(length, 8) else { return false }
    let word = JSONScanner.word(at: offset, of: text)
    if length < 8 { return word &<< UInt64(64 &- 8 &* length) == words[first] }
    guard word == words[first] else { return false }
    var (place, number) = (8, first)
    while place < length {
      number &+= 1
      let word = JSONScanner.word(at: offset &+ min(place, length &- 8), of: text)
      guard word == words[number] else { return false }
      place &+= 8
    }
    return true
  }

  /// The step of a key that was read after others; 0 for one that is not remembered.
  mutating func step(after before: Int, _ key: JSONToken, of text: Span<UInt8>) -> Int {
    guard before != 0, !key.hasEscapes else { return 0 }
    var bytes: [UInt8] = []
    for offset in key.start + 1..<key.end - 1 { bytes.append(text[offset]) }
    var (known, count) = (steps[before].following, 0)
    while known != 0 {
      if steps[known].key.utf8.elementsEqual(bytes) { return known }
      (known, count) = (steps[known].sibling, count + 1)
    }
    guard steps.count < Self.most, count < Self.mostAtOnePlace, bytes.allSatisfy({ $0 < 0x80 }) else {
      return 0
    }
    // Of an object with a repeated key, the last copy is to be found.
    var (earlier, number) = (before, 0)
    while earlier != steps[before].origin {
      number += 1
      if number == Self.mostOfAnObject || steps[earlier].key.utf8.elementsEqual(bytes) { return 0 }
      earlier = steps[earlier].before
    }
    var new = Step(
      key: String(decoding: bytes, as: UTF8.self), spelling: (words.count, bytes.count + 2), before: before,
      origin: steps[before].origin)
    new.sibling = steps[before].following
    steps[before].following = steps.count
    steps.append(new)
    spell([UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")])
    return steps.count - 1
  }

  private mutating func spell(_ key: [UInt8]) {
    if key.count < 8 {
      words.append(JSONScanner.word(at: 0, of: (Array(repeating: 0, count: 8 - key.count) + key).span))
      return
    }
    for place in stride(from: 0, to: key.count, by: 8) {
      words.append(JSONScanner.word(at: min(place, key.count - 8), of: key.span))
    }
  }

  /// The step before the first key of an object that is, or is within, a member's value.
  @inline(__always)
  mutating func inside(_ step: Int) -> Int {
    let known = steps[step].inside
    return known != 0 || step == 0 ? known : newInside(step)
  }

  private mutating func newInside(_ step: Int) -> Int {
    guard steps.count < Self.most else { return 0 }
    steps[step].inside = steps.count
    steps.append(Self.origin(steps.count))
    return steps.count - 1
  }

  /// The step of the key that is expected to be asked for next.
  @inline(__always)
  var expected: Int { steps[last].asked }

  /// Whether a key has the same bytes as that of a step.
  ///
  /// Another spelling that string equality takes for it has more bytes.
  @inline(__always)
  func isKey(_ key: String, of step: Int) -> Bool {
    steps[step].key.utf8.count == key.utf8.count && steps[step].key == key
  }

  /// The key that was expected is being asked for.
  @inline(__always)
  mutating func ask(for step: Int) { last = step }

  /// Another key has been asked for, and was found.
  mutating func expect(_ step: Int, at distance: Int) {
    steps[last].asked = step
    steps[step].distance = distance
    last = step
  }
}
