/// The mark that ends a body on the wire.
package enum BodyFraming: Hashable, Sendable {
  /// An announced number of bytes.
  case length(Int64)
  /// Chunks or frames, the last of which is marked.
  case frames
  /// The connection's end, which looks the same after a server crash.
  case connection

  /// The framing that the headers of HTTP/1 announce.
  package init(_ headers: HTTPHeaders) {
    self =
      if headers["Transfer-Encoding"] != nil {
        .frames
      } else if let length = headers["Content-Length"].flatMap({ Int64($0) }), length >= 0 {
        .length(length)
      } else {
        .connection
      }
  }
}

/// The received bytes of a body.
///
/// A body of announced length is kept in one piece, any other in several: a growing array would
/// hold several times as much.
struct AnswerBody {
  private(set) var count = 0
  private var pieces: [[UInt8]] = []

  /// Reserves room for an announced length. The system provides memory only for written pages.
  mutating func expect(_ length: Int) {
    guard length > 0, pieces.isEmpty else { return }
    addPiece(of: length)
  }

  mutating func append(_ bytes: some Collection<UInt8>) {
    let isRoom = pieces.last.map { $0.capacity - $0.count >= bytes.count } ?? false
    if !isRoom { addPiece(of: max(bytes.count, min(max(count, 16 << 10), 1 << 20))) }
    pieces[pieces.count - 1].append(contentsOf: bytes)
    count += bytes.count
  }

  private mutating func addPiece(of capacity: Int) {
    var piece: [UInt8] = []
    piece.reserveCapacity(capacity)
    pieces.append(piece)
  }

  /// All received bytes.
  var bytes: [UInt8] {
    if pieces.count == 1 { return pieces[0] }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    for piece in pieces { bytes += piece }
    return bytes
  }
}
