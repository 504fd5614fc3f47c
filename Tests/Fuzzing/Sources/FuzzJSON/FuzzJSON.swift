// Feeds libFuzzer's inputs to the JSON scanner and the payload decoder, and checks that they agree.
//
//     cd Tests/Fuzzing
//     swift build --sanitize=fuzzer
//     mkdir -p .build/corpus
//     SWIFT_BACKTRACE=enable=no .build/debug/FuzzJSON -max_total_time=120 \
//       .build/corpus <directory of JSON files>
//
// New inputs are stored in the first directory; the others are only read. An input that fails is
// written to the working directory as `crash-…`; `.build/debug/FuzzJSON crash-…` runs it again.

import SyncJSON

/// Tries one input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  do throws(JSONError) {
    let value = try JSONValueSlice(checking: bytes[...])
    checkAccepted(value, of: bytes)
  } catch {
    checkRefused(bytes, with: error)
  }
  return 0
}

private func checkAccepted(_ value: JSONValueSlice, of bytes: [UInt8]) {
  precondition(String(validating: bytes, as: UTF8.self) != nil, "accepted bytes are UTF-8")
  let tree: Tree
  do {
    tree = try Tree(visiting: value)
  } catch {
    preconditionFailure("a checked value was refused when visited: \(error)")
  }

  let compact = JSONScanner.compacted(bytes[...])
  precondition(JSONScanner.compacted(compact[...]) == compact, "compacting twice is compacting once")
  let compactTree = try? Tree(visiting: JSONValueSlice(checking: compact[...]))
  precondition(compactTree == tree, "compacting keeps the value")

  do {
    let decoded = try JSONByteDecoder().decode(Tree.self, from: bytes[...])
    precondition(decoded == tree.lastOfRepeatedKeys, "the decoder reads what the visits read")
    let encoded = try JSONByteEncoder().encode(decoded)
    let again = try JSONByteDecoder().decode(Tree.self, from: encoded[...])
    precondition(again == decoded, "an encoded value reads back equal")
  } catch is DecodingError {
    precondition(tree.hasInfinity, "the decoder refuses only numbers past the greatest double")
  } catch {
    preconditionFailure("\(error)")
  }
}

private func checkRefused(_ bytes: [UInt8], with error: JSONError) {
  precondition((0...bytes.count).contains(error.offset), "the offset is in the text")
  let decoded = try? JSONByteDecoder().decode(Tree.self, from: bytes[...])
  precondition(decoded == nil, "the decoder refuses it too")
  do throws(JSONError) {
    try JSONScanner.members(of: bytes[...]) { _ in }
    preconditionFailure("visited, but refused")
  } catch let other {
    precondition(other == error || other.reason == .notAnObject, "both report the same error")
  }
  do throws(JSONError) {
    try JSONScanner.elements(of: bytes[...]) { _ in }
    preconditionFailure("visited, but refused")
  } catch let other {
    precondition(other == error || other.reason == .notAnArray, "both report the same error")
  }
  _ = JSONScanner.compacted(bytes[...])
}
