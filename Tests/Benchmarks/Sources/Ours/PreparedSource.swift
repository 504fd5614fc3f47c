import CanonicalSync
import SyncAdapters

/// A source whose pages are in memory already, or are made on request.
///
/// A latency delays them if it is set.
struct PreparedSource: RemoteRecordSource {
  let identity = "benchmark"
  let capabilities = SourceCapabilities(deltas: .changeTokens, sendsTombstones: true, listing: .snapshot)
  private let pages: Pages
  private var prepared: [RecordType: [[RecordChange]]] = [:]
  private var texts: [[UInt8]] = []

  init(_ options: Options) {
    pages = Pages(options: options)
    if options.workload == "W5" {
      texts = (0..<pages.count(of: .plain)).map { pages.text($0) }
    } else if !options.isLazy {
      for entity in options.entities() {
        prepared[entity.type] = (0..<pages.count(of: entity)).map { pages.changes($0, of: entity) }
      }
    }
  }

  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    let number: Int =
      switch request.position {
      case .start: 0
      case .resume(let token): Int(token.rawValue) ?? 0
      }
    if pages.options.latency > .zero { try? await Task.sleep(for: pages.options.latency) }
    let isLast = number + 1 >= pages.count(of: request.entity)
    return RecordPage(
      coverage: request.position == .start(since: nil) ? .full : .delta,
      changes: changes(number, of: request.entity), startToken: SyncToken("\(pages.options.generation)"),
      total: pages.changes(of: request.entity),
      next: isLast ? .done(nil) : .more(PageToken("\(number + 1)"), resumable: true))
  }

  private func changes(_ number: Int, of entity: Entity) -> [RecordChange] {
    if texts.indices.contains(number) { return sliced(texts[number], of: entity) }
    if let prepared = prepared[entity.type] {
      return prepared.indices.contains(number) ? prepared[number] : []
    }
    return pages.changes(number, of: entity)
  }

  private func sliced(_ text: [UInt8], of entity: Entity) -> [RecordChange] {
    let reader = RecordReader(entity, layout: RecordLayout(modifiedAt: "updated_at"))
    var changes: [RecordChange] = []
    changes.reserveCapacity(pages.options.page)
    do {
      try JSONScanner.elements(of: text[...]) { element throws(JSONError) in
        changes.append(reader.read(element.bytes))
      }
    } catch {
      // The sync's counts show it.
      return []
    }
    return changes
  }
}
