#if Curl && os(Linux)
  import CanonicalSyncCCurl
  import HTTPAdapters

  /// The active transfers and the kept connections, on the thread that owns them.
  final class CurlLoop {
    /// Wakes the thread from its wait for bytes.
    // Unchecked: libcurl allows the only call with this pointer on any thread while the handle
    // exists, and the driver forgets the waker under its lock before the loop ends.
    struct Waker: @unchecked Sendable {
      fileprivate let multi: UnsafeMutableRawPointer

      func wake() { _ = curl_multi_wakeup(multi) }
    }

    /// The number of connections that are kept.
    private static let connectionLimit = 32
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    private let multi: UnsafeMutableRawPointer
    private let idleTime: Duration
    private var handles: [UnsafeMutableRawPointer: CurlHandle] = [:]
    private var places: [ObjectIdentifier: UnsafeMutableRawPointer] = [:]
    /// Whether libcurl cannot continue.
    private(set) var hasFailed = false

    /// Creates the loop; `nil` if the system lacks the resources.
    init?(idleTime: Duration) {
      guard Self.isReady, let multi = curl_multi_init() else { return nil }
      self.multi = multi
      self.idleTime = idleTime
      let isSet =
        ccurl_multi_set_number(multi, CURLMOPT_MAXCONNECTS, Self.connectionLimit) == CURLM_OK
      // Without spare descriptors it can wait but not be woken.
      guard isSet, curl_multi_wakeup(multi) == CURLM_OK else { return nil }
    }

    deinit {
      for handle in handles.values {
        curl_multi_remove_handle(multi, handle.easy)
        handle.transfer.complete(HTTPFailure.cut(handle.transfer.request))
      }
      curl_multi_cleanup(multi)
    }

    var waker: Waker { Waker(multi: multi) }

    /// Whether no transfer is under way.
    var isIdle: Bool { handles.isEmpty }

    /// Follows orders, moves the available bytes, and waits for more bytes or a wake-up.
    ///
    /// Returns `false` if there was nothing to do.
    func turn(_ orders: CurlDriver.Orders) -> Bool {
      for order in orders.begun { add(order.transfer, order.options) }
      for transfer in orders.givenUp {
        if let easy = places[ObjectIdentifier(transfer)] { remove(easy) }
      }
      var running: Int32 = 0
      guard curl_multi_perform(multi, &running) == CURLM_OK else {
        hasFailed = true
        return true
      }
      let hasEnded = takeEnded()
      if hasEnded || !orders.isEmpty { return true }
      let milliseconds = Int32(clamping: Int64(idleTime / .milliseconds(1)))
      hasFailed = curl_multi_poll(multi, nil, 0, milliseconds, nil) != CURLM_OK
      return false
    }

    private func add(_ transfer: Transfer, _ options: CurlTransport.Options) {
      guard !transfer.isOver else { return }
      do throws(CurlFailure) {
        let handle = try CurlHandle(transfer, options, idleTime: idleTime)
        guard curl_multi_add_handle(multi, handle.easy) == CURLM_OK else {
          throw CurlFailure(code: CURLE_FAILED_INIT)
        }
        handles[handle.easy] = handle
        places[ObjectIdentifier(transfer)] = handle.easy
      } catch {
        transfer.complete(error.syncError(transfer.request, options))
      }
    }

    @discardableResult
    private func remove(_ easy: UnsafeMutableRawPointer) -> CurlHandle? {
      guard let handle = handles.removeValue(forKey: easy) else { return nil }
      places[ObjectIdentifier(handle.transfer)] = nil
      curl_multi_remove_handle(multi, easy)
      return handle
    }

    private func takeEnded() -> Bool {
      var hasEnded = false
      var result = CURLE_OK
      while let easy = ccurl_next_ended(multi, &result) {
        hasEnded = true
        let failure = handles[easy]?.failure(result)
        // Removed first, so that its connection is free when the next request comes.
        remove(easy)?.transfer.complete(failure)
      }
      return hasEnded
    }
  }
#endif
