extension League {
  /// Two halves of 41 games each. The second half exchanges home and away.
  static let hockey = League(
    id: "nhl", name: "National Hockey League", sport: "hockey", gamesPerTeam: 82, roundsPerHalf: 41,
    calendar: Calendar(
      from: Day(2026, 10, 6), through: Day(2027, 4, 15),
      off: [Day(2026, 12, 24)...Day(2026, 12, 26), Day(2027, 2, 4)...Day(2027, 2, 9)]),
    hours: Hours(weekday: ["19:00", "19:30"], weekend: ["13:00", "15:00", "19:00"]),
    table: """
      # Eastern Conference Atlantic
      BOS | Boston | Bruins | td-garden |
      BUF | Buffalo | Sabres | keybank-center |
      DET | Detroit | Red Wings | little-caesars-arena | Detroit Cougars; Detroit Falcons
      FLA | Florida | Panthers | amerant-bank-arena |
      MTL | Montreal | Canadiens | bell-centre | Canadiens de Montréal; Habs
      OTT | Ottawa | Senators | canadian-tire-centre | Sens
      TBL | Tampa Bay | Lightning | benchmark-international-arena | Bolts
      TOR | Toronto | Maple Leafs | scotiabank-arena | Toronto St. Patricks; Leafs
      # Eastern Conference Metropolitan
      CAR | Carolina | Hurricanes | lenovo-center | Hartford Whalers; Canes
      CBJ | Columbus | Blue Jackets | nationwide-arena |
      NJD | New Jersey | Devils | prudential-center | Colorado Rockies; Kansas City Scouts
      NYI | New York | Islanders | ubs-arena | Isles
      NYR | New York | Rangers | madison-square-garden | Blueshirts
      PHI | Philadelphia | Flyers | xfinity-mobile-arena |
      PIT | Pittsburgh | Penguins | ppg-paints-arena | Pens
      WSH | Washington | Capitals | capital-one-arena | Caps
      # Western Conference Central
      CHI | Chicago | Blackhawks | united-center | Chicago Black Hawks
      COL | Colorado | Avalanche | ball-arena | Quebec Nordiques; Avs
      DAL | Dallas | Stars | american-airlines-center | Minnesota North Stars
      MIN | Minnesota | Wild | grand-casino-arena |
      NSH | Nashville | Predators | bridgestone-arena | Preds
      STL | St. Louis | Blues | enterprise-center |
      UTA | Utah | Mammoth | delta-center | Utah Hockey Club
      WPG | Winnipeg | Jets | canada-life-centre | Atlanta Thrashers
      # Western Conference Pacific
      ANA | Anaheim | Ducks | honda-center | Mighty Ducks of Anaheim
      CGY | Calgary | Flames | scotiabank-saddledome | Atlanta Flames
      EDM | Edmonton | Oilers | rogers-place | Alberta Oilers
      LAK | Los Angeles | Kings | cryptocom-arena |
      SEA | Seattle | Kraken | climate-pledge-arena |
      SJS | San Jose | Sharks | sap-center-at-san-jose |
      VAN | Vancouver | Canucks | rogers-arena |
      VGK | Vegas | Golden Knights | t-mobile-arena |
      """)
}
