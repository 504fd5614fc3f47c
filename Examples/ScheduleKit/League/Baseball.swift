extension League {
  /// Two halves, in each of which every team meets every other team.
  ///
  /// A half has 29 series of two or three games. The second half exchanges home and away.
  static let baseball = League(
    id: "mlb", name: "Major League Baseball", sport: "baseball", gamesPerTeam: 162, roundsPerHalf: 29,
    calendar: Calendar(
      from: Day(2026, 3, 26), through: Day(2026, 9, 27), off: [Day(2026, 7, 13)...Day(2026, 7, 16)]),
    hours: Hours(weekday: ["18:40", "19:05", "19:10"], weekend: ["13:05", "13:10", "16:10", "19:10"]),
    table: """
      # American League East
      BAL | Baltimore | Orioles | oriole-park-at-camden-yards | St. Louis Browns; O's
      BOS | Boston | Red Sox | fenway-park | Boston Americans
      NYY | New York | Yankees | yankee-stadium | New York Highlanders; Bronx Bombers
      TB | Tampa Bay | Rays | tropicana-field | Tampa Bay Devil Rays
      TOR | Toronto | Blue Jays | rogers-centre | Jays
      # American League Central
      CLE | Cleveland | Guardians | progressive-field | Cleveland Indians; Cleveland Naps
      CWS | Chicago | White Sox | rate-field | Chicago White Stockings; Pale Hose
      DET | Detroit | Tigers | comerica-park |
      KC | Kansas City | Royals | kauffman-stadium |
      MIN | Minnesota | Twins | target-field | Washington Senators
      # American League West
      ATH | | Athletics | sutter-health-park | Oakland Athletics; Philadelphia Athletics; Kansas City Athletics; A's
      HOU | Houston | Astros | daikin-park | Houston Colt .45s
      LAA | Los Angeles | Angels | angel-stadium | California Angels; Anaheim Angels; Los Angeles Angels of Anaheim
      SEA | Seattle | Mariners | t-mobile-park | M's
      TEX | Texas | Rangers | globe-life-field | Washington Senators
      # National League East
      ATL | Atlanta | Braves | truist-park | Boston Braves; Milwaukee Braves
      MIA | Miami | Marlins | loandepot-park | Florida Marlins
      NYM | New York | Mets | citi-field | New York Metropolitans
      PHI | Philadelphia | Phillies | citizens-bank-park | Phils
      WSH | Washington | Nationals | nationals-park | Montreal Expos; Nats
      # National League Central
      CHC | Chicago | Cubs | wrigley-field | Chicago Orphans; Cubbies
      CIN | Cincinnati | Reds | great-american-ball-park | Cincinnati Redlegs
      MIL | Milwaukee | Brewers | american-family-field | Seattle Pilots
      PIT | Pittsburgh | Pirates | pnc-park | Bucs
      STL | St. Louis | Cardinals | busch-stadium | Redbirds
      # National League West
      ARI | Arizona | Diamondbacks | chase-field | D-backs
      COL | Colorado | Rockies | coors-field |
      LAD | Los Angeles | Dodgers | dodger-stadium | Brooklyn Dodgers; Brooklyn Robins
      SD | San Diego | Padres | petco-park | Friars
      SF | San Francisco | Giants | oracle-park | New York Giants
      """)
}
