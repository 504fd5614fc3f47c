extension League {
  /// Two halves of 41 games each. The second half exchanges home and away.
  static let basketball = League(
    id: "nba", name: "National Basketball Association", sport: "basketball", gamesPerTeam: 82,
    roundsPerHalf: 41,
    calendar: Calendar(
      from: Day(2026, 10, 20), through: Day(2027, 4, 11),
      off: [
        Day(2026, 11, 26)...Day(2026, 11, 26), Day(2026, 12, 24)...Day(2026, 12, 24),
        Day(2027, 2, 19)...Day(2027, 2, 24),
      ]),
    hours: Hours(weekday: ["19:00", "19:30", "20:00"], weekend: ["15:00", "17:00", "19:00", "19:30"]),
    table: """
      # Eastern Conference Atlantic
      BOS | Boston | Celtics | td-garden |
      BKN | Brooklyn | Nets | barclays-center | New Jersey Nets; New York Nets
      NYK | New York | Knicks | madison-square-garden | New York Knickerbockers
      PHI | Philadelphia | 76ers | xfinity-mobile-arena | Syracuse Nationals; Sixers
      TOR | Toronto | Raptors | scotiabank-arena |
      # Eastern Conference Central
      CHI | Chicago | Bulls | united-center |
      CLE | Cleveland | Cavaliers | rocket-arena | Cavs
      DET | Detroit | Pistons | little-caesars-arena | Fort Wayne Pistons
      IND | Indiana | Pacers | gainbridge-fieldhouse |
      MIL | Milwaukee | Bucks | fiserv-forum |
      # Eastern Conference Southeast
      ATL | Atlanta | Hawks | state-farm-arena | St. Louis Hawks; Tri-Cities Blackhawks
      CHA | Charlotte | Hornets | spectrum-center | Charlotte Bobcats
      MIA | Miami | Heat | kaseya-center |
      ORL | Orlando | Magic | kia-center |
      WAS | Washington | Wizards | capital-one-arena | Washington Bullets; Baltimore Bullets
      # Western Conference Northwest
      DEN | Denver | Nuggets | ball-arena | Denver Rockets
      MIN | Minnesota | Timberwolves | target-center | Wolves
      OKC | Oklahoma City | Thunder | paycom-center | Seattle SuperSonics
      POR | Portland | Trail Blazers | moda-center | Blazers
      UTA | Utah | Jazz | delta-center | New Orleans Jazz
      # Western Conference Pacific
      GSW | Golden State | Warriors | chase-center | San Francisco Warriors; Philadelphia Warriors; Dubs
      LAC | LA | Clippers | intuit-dome | San Diego Clippers; Buffalo Braves
      LAL | Los Angeles | Lakers | cryptocom-arena | Minneapolis Lakers
      PHX | Phoenix | Suns | mortgage-matchup-center |
      SAC | Sacramento | Kings | golden-1-center | Kansas City Kings; Cincinnati Royals; Rochester Royals
      # Western Conference Southwest
      DAL | Dallas | Mavericks | american-airlines-center | Mavs
      HOU | Houston | Rockets | toyota-center | San Diego Rockets
      MEM | Memphis | Grizzlies | fedexforum | Vancouver Grizzlies
      NOP | New Orleans | Pelicans | smoothie-king-center | New Orleans Hornets
      SAS | San Antonio | Spurs | frost-bank-center | Dallas Chaparrals
      """)
}
