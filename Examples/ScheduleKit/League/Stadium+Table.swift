extension Stadium {
  /// The columns: id, name, city, time zone, former names.
  static let table = """
    acrisure-stadium | Acrisure Stadium | Pittsburgh | New_York | Heinz Field
    allegiant-stadium | Allegiant Stadium | Paradise | Los_Angeles |
    amerant-bank-arena | Amerant Bank Arena | Sunrise | New_York | FLA Live Arena; BB&T Center; BankAtlantic Center
    american-airlines-center | American Airlines Center | Dallas | Chicago |
    american-family-field | American Family Field | Milwaukee | Chicago | Miller Park
    angel-stadium | Angel Stadium | Anaheim | Los_Angeles | Anaheim Stadium; Edison International Field
    arrowhead-stadium | GEHA Field at Arrowhead Stadium | Kansas City | Chicago | Arrowhead Stadium
    att-stadium | AT&T Stadium | Arlington | Chicago | Cowboys Stadium
    ball-arena | Ball Arena | Denver | Denver | Pepsi Center
    bank-of-america-stadium | Bank of America Stadium | Charlotte | New_York | Ericsson Stadium
    barclays-center | Barclays Center | Brooklyn | New_York |
    bell-centre | Bell Centre | Montreal | Toronto | Molson Centre
    benchmark-international-arena | Benchmark International Arena | Tampa | New_York | Amalie Arena; St. Pete Times Forum; Ice Palace
    bridgestone-arena | Bridgestone Arena | Nashville | Chicago | Sommet Center; Gaylord Entertainment Center
    busch-stadium | Busch Stadium | St. Louis | Chicago |
    caesars-superdome | Caesars Superdome | New Orleans | Chicago | Louisiana Superdome; Mercedes-Benz Superdome
    canada-life-centre | Canada Life Centre | Winnipeg | Winnipeg | Bell MTS Place; MTS Centre
    canadian-tire-centre | Canadian Tire Centre | Ottawa | Toronto | Scotiabank Place; Corel Centre; Palladium
    capital-one-arena | Capital One Arena | Washington | New_York | Verizon Center; MCI Center
    chase-center | Chase Center | San Francisco | Los_Angeles |
    chase-field | Chase Field | Phoenix | Phoenix | Bank One Ballpark
    citi-field | Citi Field | Queens | New_York |
    citizens-bank-park | Citizens Bank Park | Philadelphia | New_York |
    climate-pledge-arena | Climate Pledge Arena | Seattle | Los_Angeles | KeyArena; Seattle Center Coliseum
    comerica-park | Comerica Park | Detroit | Detroit |
    coors-field | Coors Field | Denver | Denver |
    cryptocom-arena | Crypto.com Arena | Los Angeles | Los_Angeles | Staples Center
    daikin-park | Daikin Park | Houston | Chicago | Minute Maid Park; Enron Field; Astros Field
    delta-center | Delta Center | Salt Lake City | Denver | Vivint Arena; EnergySolutions Arena
    dodger-stadium | Dodger Stadium | Los Angeles | Los_Angeles | Chavez Ravine
    empower-field-at-mile-high | Empower Field at Mile High | Denver | Denver | Invesco Field at Mile High; Sports Authority Field at Mile High
    enterprise-center | Enterprise Center | St. Louis | Chicago | Scottrade Center; Savvis Center; Kiel Center
    everbank-stadium | EverBank Stadium | Jacksonville | New_York | TIAA Bank Field; Alltel Stadium; Jacksonville Municipal Stadium
    fedexforum | FedExForum | Memphis | Chicago |
    fenway-park | Fenway Park | Boston | New_York |
    fiserv-forum | Fiserv Forum | Milwaukee | Chicago |
    ford-field | Ford Field | Detroit | Detroit |
    frost-bank-center | Frost Bank Center | San Antonio | Chicago | AT&T Center; SBC Center
    gainbridge-fieldhouse | Gainbridge Fieldhouse | Indianapolis | Indiana/Indianapolis | Bankers Life Fieldhouse; Conseco Fieldhouse
    gillette-stadium | Gillette Stadium | Foxborough | New_York |
    globe-life-field | Globe Life Field | Arlington | Chicago |
    golden-1-center | Golden 1 Center | Sacramento | Los_Angeles |
    grand-casino-arena | Grand Casino Arena | Saint Paul | Chicago | Xcel Energy Center
    great-american-ball-park | Great American Ball Park | Cincinnati | New_York |
    hard-rock-stadium | Hard Rock Stadium | Miami Gardens | New_York | Joe Robbie Stadium; Pro Player Stadium; Sun Life Stadium
    highmark-stadium | Highmark Stadium | Orchard Park | New_York |
    honda-center | Honda Center | Anaheim | Los_Angeles | Arrowhead Pond of Anaheim
    huntington-bank-field | Huntington Bank Field | Cleveland | New_York | Cleveland Browns Stadium; FirstEnergy Stadium
    intuit-dome | Intuit Dome | Inglewood | Los_Angeles |
    kaseya-center | Kaseya Center | Miami | New_York | American Airlines Arena; FTX Arena
    kauffman-stadium | Kauffman Stadium | Kansas City | Chicago | Royals Stadium
    keybank-center | KeyBank Center | Buffalo | New_York | First Niagara Center; HSBC Arena; Marine Midland Arena
    kia-center | Kia Center | Orlando | New_York | Amway Center
    lambeau-field | Lambeau Field | Green Bay | Chicago | City Stadium
    lenovo-center | Lenovo Center | Raleigh | New_York | PNC Arena; RBC Center
    levis-stadium | Levi's Stadium | Santa Clara | Los_Angeles |
    lincoln-financial-field | Lincoln Financial Field | Philadelphia | New_York |
    little-caesars-arena | Little Caesars Arena | Detroit | Detroit |
    loandepot-park | loanDepot park | Miami | New_York | Marlins Park
    lucas-oil-stadium | Lucas Oil Stadium | Indianapolis | Indiana/Indianapolis |
    lumen-field | Lumen Field | Seattle | Los_Angeles | CenturyLink Field; Qwest Field; Seahawks Stadium
    m-t-bank-stadium | M&T Bank Stadium | Baltimore | New_York | PSINet Stadium
    madison-square-garden | Madison Square Garden | New York | New_York |
    mercedes-benz-stadium | Mercedes-Benz Stadium | Atlanta | New_York |
    metlife-stadium | MetLife Stadium | East Rutherford | New_York | New Meadowlands Stadium
    moda-center | Moda Center | Portland | Los_Angeles | Rose Garden
    mortgage-matchup-center | Mortgage Matchup Center | Phoenix | Phoenix | PHX Arena; Footprint Center; Talking Stick Resort Arena; US Airways Center; America West Arena
    nationals-park | Nationals Park | Washington | New_York |
    nationwide-arena | Nationwide Arena | Columbus | New_York |
    nissan-stadium | Nissan Stadium | Nashville | Chicago | LP Field; Adelphia Coliseum
    northwest-stadium | Northwest Stadium | Landover | New_York | FedExField; Jack Kent Cooke Stadium
    nrg-stadium | NRG Stadium | Houston | Chicago | Reliant Stadium
    oracle-park | Oracle Park | San Francisco | Los_Angeles | AT&T Park; SBC Park; Pacific Bell Park
    oriole-park-at-camden-yards | Oriole Park at Camden Yards | Baltimore | New_York | Camden Yards
    paycom-center | Paycom Center | Oklahoma City | Chicago | Chesapeake Energy Arena; Ford Center
    paycor-stadium | Paycor Stadium | Cincinnati | New_York | Paul Brown Stadium
    petco-park | Petco Park | San Diego | Los_Angeles |
    pnc-park | PNC Park | Pittsburgh | New_York |
    ppg-paints-arena | PPG Paints Arena | Pittsburgh | New_York | Consol Energy Center
    progressive-field | Progressive Field | Cleveland | New_York | Jacobs Field
    prudential-center | Prudential Center | Newark | New_York |
    rate-field | Rate Field | Chicago | Chicago | Guaranteed Rate Field; U.S. Cellular Field; Comiskey Park
    raymond-james-stadium | Raymond James Stadium | Tampa | New_York |
    rocket-arena | Rocket Arena | Cleveland | New_York | Rocket Mortgage FieldHouse; Quicken Loans Arena; Gund Arena
    rogers-arena | Rogers Arena | Vancouver | Vancouver | General Motors Place
    rogers-centre | Rogers Centre | Toronto | Toronto | SkyDome
    rogers-place | Rogers Place | Edmonton | Edmonton |
    sap-center-at-san-jose | SAP Center at San Jose | San Jose | Los_Angeles | HP Pavilion; San Jose Arena
    scotiabank-arena | Scotiabank Arena | Toronto | Toronto | Air Canada Centre
    scotiabank-saddledome | Scotiabank Saddledome | Calgary | Edmonton | Pengrowth Saddledome; Canadian Airlines Saddledome; Olympic Saddledome
    smoothie-king-center | Smoothie King Center | New Orleans | Chicago | New Orleans Arena
    sofi-stadium | SoFi Stadium | Inglewood | Los_Angeles |
    soldier-field | Soldier Field | Chicago | Chicago | Municipal Grant Park Stadium
    spectrum-center | Spectrum Center | Charlotte | New_York | Time Warner Cable Arena; Charlotte Bobcats Arena
    state-farm-arena | State Farm Arena | Atlanta | New_York | Philips Arena
    state-farm-stadium | State Farm Stadium | Glendale | Phoenix | University of Phoenix Stadium
    sutter-health-park | Sutter Health Park | West Sacramento | Los_Angeles | Raley Field
    t-mobile-arena | T-Mobile Arena | Paradise | Los_Angeles |
    t-mobile-park | T-Mobile Park | Seattle | Los_Angeles | Safeco Field
    target-center | Target Center | Minneapolis | Chicago |
    target-field | Target Field | Minneapolis | Chicago |
    td-garden | TD Garden | Boston | New_York | TD Banknorth Garden; FleetCenter
    toyota-center | Toyota Center | Houston | Chicago |
    tropicana-field | Tropicana Field | St. Petersburg | New_York | ThunderDome; Florida Suncoast Dome
    truist-park | Truist Park | Cumberland | New_York | SunTrust Park
    ubs-arena | UBS Arena | Elmont | New_York |
    united-center | United Center | Chicago | Chicago |
    us-bank-stadium | U.S. Bank Stadium | Minneapolis | Chicago |
    wrigley-field | Wrigley Field | Chicago | Chicago | Cubs Park; Weeghman Park
    xfinity-mobile-arena | Xfinity Mobile Arena | Philadelphia | New_York | Wells Fargo Center; Wachovia Center; First Union Center; CoreStates Center
    yankee-stadium | Yankee Stadium | Bronx | New_York |
    """
}
