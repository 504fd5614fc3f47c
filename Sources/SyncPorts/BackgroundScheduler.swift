public import SyncModels

/// Somebody who wakes the app for work in the background: an operating system's scheduler, or a server's own.
///
/// For whoever implements it: keep at most one pending request of each kind, and when one comes due hand it to the work that
/// ``run(_:)`` was given. What the work does, and when the next request is to begin, is the engine's to say; which civil time an
/// instant has (the app's time zone and its daylight-saving changes) is yours.
public protocol BackgroundScheduler: Sendable {
  /// Asks to be run, no earlier than the request says; the pending request of the same kind, if any, is replaced.
  ///
  /// It may be called at any time and from any thread: before ``run(_:)``, between, and by the work itself. It returns at once.
  ///
  /// - Returns: The earliest begin, resolved: the time to show. A scheduler may begin later, as systems do to save
  ///   power and servers to spread load, never earlier.
  /// - Throws: `invalidConfiguration` where the system takes no requests of the kind, such as one that the app has not been
  ///   permitted. The pending request, if any, is then as it was.
  @discardableResult
  func submit(_ request: BackgroundRequest) throws(SyncError) -> Timestamp

  /// Hands each request that comes due to the work, until the calling task is cancelled.
  ///
  /// It is called once, by the engine, and everything happens inside the call:
  ///
  /// 1. Wait until a pending request's earliest begin has come; if it needs the network, until the network is not known to be
  ///    away; if it needs external power, until the machine is not known to run on a battery.
  /// 2. Take the request off the pending ones *before* the work is called: the work submits the next of its kind first of all.
  /// 3. Call the work with the kind and a token. One kind's work is never called again before it has returned; the other kind's may be
  ///    called meanwhile, or has to wait, as suits the platform.
  /// 4. When the platform's time is up (a system's expiration handler, a server's SIGTERM), cancel the token, with a
  ///    ``CancellationSource``, and wait for the work. It stops at its next page, everything saved.
  /// 5. Tell the platform the outcome.
  ///
  /// When the calling task is cancelled: begin nothing more, wait for the work under way (it is a child task and sees the
  /// cancellation as well), return. Pending requests stay pending.
  func run(
    _ work: @escaping @Sendable (BackgroundRequest.Kind, any CancellationToken) async -> BackgroundOutcome
  ) async
}

/// How work in the background ended, as a platform wants to be told.
public enum BackgroundOutcome: String, Hashable, Sendable, Codable {
  /// All was done, or nothing had to be, or what could be done before the time was up is saved.
  case succeeded
  /// Nothing could be done although it should have been.
  case failed
}
