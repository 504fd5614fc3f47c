#if Postgres
  import Synchronization

  /// The caches of a pool's stores, of which the least recently used are dropped.
  final class CacheShelf: Sendable {
    private struct Shelf {
      var caches: [Int: (cache: StoreCache, use: Int)] = [:]
      var uses = 0
      var lastNumber = 0
    }

    private let shelf = Mutex(Shelf())
    private let capacity: Int

    /// - Parameter capacity: The largest number of caches.
    init(capacity: Int) { self.capacity = capacity }

    /// A number for a user's cache.
    func newNumber() -> Int {
      shelf.withLock { shelf in
        shelf.lastNumber += 1
        return shelf.lastNumber
      }
    }

    /// The cache of a user, which may be empty.
    func take(_ number: Int) -> StoreCache {
      shelf.withLock { $0.caches[number]?.cache } ?? StoreCache()
    }

    /// Keeps a user's cache.
    ///
    /// - Complexity: O(*n*) in the capacity, if one has to go for it.
    func put(_ cache: StoreCache, for number: Int) {
      shelf.withLock { shelf in
        shelf.uses += 1
        shelf.caches[number] = (cache, shelf.uses)
        guard shelf.caches.count > capacity else { return }
        if let oldest = shelf.caches.min(by: { $0.value.use < $1.value.use }) {
          shelf.caches[oldest.key] = nil
        }
      }
    }

    func remove(_ number: Int) { shelf.withLock { $0.caches[number] = nil } }
  }
#endif
