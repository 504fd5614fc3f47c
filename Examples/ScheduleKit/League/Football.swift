extension League {
  /// Seventeen weeks with one game a week.
  ///
  /// Games are on Sundays, except for one on the Thursday before and one on the Monday after.
  static let football = League(
    id: "nfl", name: "National Football League", sport: "american-football", gamesPerTeam: 17,
    roundsPerHalf: 17,
    calendar: Calendar(from: Day(2026, 9, 13), through: Day(2027, 1, 10), everyDays: 7),
    hours: Hours(weekday: ["20:15"], weekend: ["13:00", "13:00", "13:05", "16:25"]),
    table: """
      # American Football Conference East
      BUF | Buffalo | Bills | highmark-stadium |
      MIA | Miami | Dolphins | hard-rock-stadium | Fins
      NE | New England | Patriots | gillette-stadium | Boston Patriots; Pats
      NYJ | New York | Jets | metlife-stadium | New York Titans; Titans of New York
      # American Football Conference North
      BAL | Baltimore | Ravens | m-t-bank-stadium |
      CIN | Cincinnati | Bengals | paycor-stadium |
      CLE | Cleveland | Browns | huntington-bank-field |
      PIT | Pittsburgh | Steelers | acrisure-stadium | Pittsburgh Pirates
      # American Football Conference South
      HOU | Houston | Texans | nrg-stadium |
      IND | Indianapolis | Colts | lucas-oil-stadium | Baltimore Colts
      JAX | Jacksonville | Jaguars | everbank-stadium | Jags
      TEN | Tennessee | Titans | nissan-stadium | Houston Oilers; Tennessee Oilers
      # American Football Conference West
      DEN | Denver | Broncos | empower-field-at-mile-high |
      KC | Kansas City | Chiefs | arrowhead-stadium | Dallas Texans
      LV | Las Vegas | Raiders | allegiant-stadium | Oakland Raiders; Los Angeles Raiders
      LAC | Los Angeles | Chargers | sofi-stadium | San Diego Chargers; Bolts
      # National Football Conference East
      DAL | Dallas | Cowboys | att-stadium |
      NYG | New York | Giants | metlife-stadium | Big Blue
      PHI | Philadelphia | Eagles | lincoln-financial-field |
      WAS | Washington | Commanders | northwest-stadium | Washington Redskins; Washington Football Team; Boston Redskins
      # National Football Conference North
      CHI | Chicago | Bears | soldier-field | Chicago Staleys; Decatur Staleys
      DET | Detroit | Lions | ford-field | Portsmouth Spartans
      GB | Green Bay | Packers | lambeau-field | The Pack
      MIN | Minnesota | Vikings | us-bank-stadium | Vikes
      # National Football Conference South
      ATL | Atlanta | Falcons | mercedes-benz-stadium |
      CAR | Carolina | Panthers | bank-of-america-stadium |
      NO | New Orleans | Saints | caesars-superdome |
      TB | Tampa Bay | Buccaneers | raymond-james-stadium | Bucs
      # National Football Conference West
      ARI | Arizona | Cardinals | state-farm-stadium | Phoenix Cardinals; St. Louis Cardinals; Chicago Cardinals
      LAR | Los Angeles | Rams | sofi-stadium | St. Louis Rams; Cleveland Rams
      SF | San Francisco | 49ers | levis-stadium | Niners
      SEA | Seattle | Seahawks | lumen-field | Hawks
      """)
}
