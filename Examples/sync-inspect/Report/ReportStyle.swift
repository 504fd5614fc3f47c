import CanonicalSyncPages

/// The style of a report, besides that of all pages.
enum ReportStyle {
  /// The labels of cells, which each table has as custom properties.
  private static let labels = HTML(
    (2...24).map { ".rows td:nth-child(\($0))::before { content: var(--c\($0)); }" as HTML }, separator: "\n")

  /// The style sheet.
  static let sheet: HTML = """
    .n { text-align: right; font-variant-numeric: tabular-nums; }
    .scroll time { white-space: nowrap; }
    td:last-child { min-width: 10rem; }
    td.n:last-child { min-width: 0; }
    .sides { width: 100%; table-layout: fixed; }
    .plot { position: relative; padding-left: 4.5rem; margin: 1rem 0 .25rem; }
    svg { display: block; width: 100%; height: 8rem; background: var(--surface); overflow: visible; }
    svg.ticks { height: 4rem; }
    path { fill: none; stroke: var(--line); stroke-width: 2; vector-effect: non-scaling-stroke; }
    path.dots { stroke-width: 4; stroke-linecap: round; }
    path.line { stroke: var(--rule); stroke-width: 1; }
    .scale span { position: absolute; left: 0; width: 4rem; text-align: right; transform: translateY(-50%); }
    .scale, .ends { color: var(--quiet); font-size: .875rem; }
    .ends { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; padding-left: 4.5rem; }
    .key { display: inline-block; width: .75rem; height: .75rem; margin-right: .375rem; background: currentColor; }
    .key.killed { background: none; border: 2px dashed; }
    .finished { stroke: var(--good); color: var(--good); }
    .stopped, .running { stroke: var(--stopped); color: var(--stopped); }
    .partly { stroke: var(--warning); color: var(--warning); }
    .killed, .failed { stroke: var(--bad); color: var(--bad); }
    path.killed { stroke-dasharray: 4 2; }
    @media (max-width: 40rem) {
      .rows, .rows tbody, .rows tr, .rows th, .rows td { display: block; text-align: left; }
      .rows thead, .rows td:empty { display: none; }
      .rows tr { padding: .5rem 0; border-bottom: 1px solid var(--rule); }
      .rows tbody th, .rows td { border: 0; padding: .125rem 0; overflow-wrap: anywhere; }
      .rows td { position: relative; padding-left: 9.5rem; min-height: 1.5em; }
      .rows th.n::before { content: var(--c1) " "; }
      .ends time:last-child { margin-left: auto; }
      .rows td::before { position: absolute; left: 0; color: var(--quiet); }
      \(labels)
    }
    @media (max-width: 40rem) { .plot, .ends { padding-left: 3.5rem; } .scale span { width: 3rem; } }

    """
}
