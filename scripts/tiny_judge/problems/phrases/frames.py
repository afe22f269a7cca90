"""Whole-problem frames: ``body ## question ## plan with labels ## unit of the answer``.

``{a}`` … are quantities, ``{$a}`` a sum of money, ``{ax}`` "twice" / "three times"; ``[x|y]`` alternatives. In the plan ``_`` is
the previous result, ``s1`` the first; a number is a constant of the story. The unit ``money`` stands for the currency.
"""

from .everyday import EVERYDAY

GROUPS = """
{N} [buys|gets|picks up|orders] {a} {boxes} of {o} with {b} {o} in each {box}. {He} [gives away|loses|uses] {c} of them. ## How many {o} does {N} have left? ## a*b:{o} in the {boxes}; _-c:{o} left ## {o}
There are {a} {boxes} with {b} {o} in each and {c} [loose|extra|single] {o}. ## How many {o} are there [in total|altogether|in all]? ## a*b:{o} in the {boxes}; _+c:{o} in total ## {o}
{N} has {a} {boxes}. Each {box} [holds|contains] {b} {o}. {He} also has {c} {o} [in a bag|on the table|in {his} pocket]. ## [How many {o} does {he} have altogether?|Find the total number of {o}.] ## a*b:{o} in the {boxes}; _+c:all {o} ## {o}
A [shop|store|stall] has {a} {boxes} of {b} {o} each. On {day} it sells {c} {o}. ## How many {o} [are left|remain|are not sold]? ## a*b:{o} at first; _-c:{o} left ## {o}
{N} [packs|fills] {a} {boxes} with {b} {o} each, and {M} [packs|fills] {c} {bags} with {d} {o} each. ## How many {o} did they pack [together|in all]? ## a*b:{o} packed by {N}; c*d:{o} packed by {M}; s1+s2:{o} together ## {o}
{N} [bought|got] {a} {boxes} of {b} {o} and {c} {bags} of {d} {p}. ## How many [things|items|pieces] is that in all? ## a*b:{o}; c*d:{p}; s1+s2:items in all ## items
A [teacher|coach|baker|librarian] has {a} {boxes} of {b} {o}. {c} {o} are [broken|missing|damaged], and then {d} new {o} [arrive|are delivered]. ## How many [good |usable |]{o} are there now? ## a*b:{o} at first; _-c:{o} after the bad ones are taken away; _+d:{o} now ## {o}
There are {a} rows of [#1seats|chairs] with {b} [#1seats|chairs] in each row. {c} [#1seats|chairs] are [taken|occupied]. ## How many [#1seats|chairs] are [free|empty|still free]? ## a*b:seats in all; _-c:free seats ## seats
A [hall|theater|cinema|classroom] has {a} rows with {b} seats each, plus {c} seats on the balcony. {d} people [come in and sit down|take a seat]. ## How many seats stay empty? ## a*b:seats in the rows; _+c:seats in all; _-d:empty seats ## seats
A [farmer|gardener] plants {a} rows of {b} {o} and {c} rows of {d} {p}. ## How many more {o} than {p} are there? ## a*b:{o}; c*d:{p}; s1-s2:more {o} than {p} ## {o}
{N} puts {b} {o} on each of {a} shelves and still has {c} {o} [left over|in {his} hand]. ## How many {o} does {N} have? ## a*b:{o} on the shelves; _+c:all {o} ## {o}
Every {box} [holds|has room for] {b} {o}. {N} fills {a} {boxes}, and {M} fills {c} {boxes} of the same kind. ## How many {o} are in all the {boxes}? ## a+c:{boxes}; _*b:{o} ## {o}
{N} has {a} {boxes} and gives {b} {boxes} to {M}. There are {c} {o} in each {box}. ## How many {o} does {N} still have? ## a-b:{boxes} left; _*c:{o} left ## {o}
{a} {boxes} with {b} {o} each are on the [truck|shelf|floor]. {N} takes {c} {o} and {M} takes {d} {o}. ## How many {o} are left? ## a*b:{o} at first; _-c:{o} after {N}; _-d:{o} left ## {o}
{N} bakes {a} trays of cookies with {b} cookies on each tray. The children eat {c} of them and {d} are given to a neighbor. ## How many cookies are left? ## a*b:cookies baked; _-c:cookies not eaten; _-d:cookies left ## cookies
In a [parking lot|car park] there are {a} cars and {b} [#1bikes|bicycles]. Each car has 4 wheels and each [#1bike|bicycle] has 2 wheels. ## How many wheels are there [in total|altogether]? ## a*4:car wheels; b*2:bike wheels; s1+s2:wheels ## wheels
A [farm|field] has {a} [cows|goats|sheep|pigs|horses] and {b} [hens|chickens|ducks|geese]. ## How many legs do the animals have [in all|altogether]? ## a*4:legs of the four-legged animals; b*2:legs of the birds; s1+s2:legs ## legs
There are {a} [#1spiders|octopuses] and {b} [#2dogs|cats] in a [picture|cartoon|story]. A [#1spider|octopus] has 8 [legs or arms|legs] and a [#2dog|cat] has 4. ## How many legs are there altogether? ## a*8:legs of the first kind; b*4:legs of the second kind; s1+s2:legs ## legs
{N} makes {a} [bracelets|necklaces]. Each one needs {b} beads. {He} had {c} beads [at the start|to begin with]. ## How many beads are left? ## a*b:beads used; c-_:beads left ## beads
A {box} of {o} [holds|has] {a} {o}. {N} opens {b} {boxes} and shares {c} {o} with {his} friends. ## How many {o} are left? ## b*a:{o} in the {boxes}; _-c:{o} left ## {o}
"""

MONEY = """
{N} buys {a} {o} at {$b} each and a {p1} for {$c}. ## How much does {he} [pay|spend] [in total|altogether]? ## a*b:cost of the {o}; _+c:total cost ## money
{N} has {$c}. {He} buys {a} {o} [for|at] {$b} each. ## How much money [is left|does {he} have left|does {N} have left]? ## a*b:cost of the {o}; c-_:money left ## money
{N} [pays with|hands over] {$c} for {a} {o} that cost {$b} each. ## How much change does {he} get? ## a*b:price of the {o}; c-_:change ## money
A {o1} costs {$a} and a {p1} costs {$b}. {N} buys {c} {o} and {d} {p}. ## [How much does {he} pay?|What is the total cost?|How much does it cost in all?] ## c*a:cost of the {o}; d*b:cost of the {p}; s1+s2:total cost ## money
{N} earns {$a} [an hour|per hour] and works {b} hours. Then {he} spends {$c} on a {o1}. ## How much money does {he} have left? ## a*b:money earned; _-c:money left ## money
{N} saves {$a} [every week|each week|a week] for {b} weeks. {His} [grandmother|aunt|uncle] gives {him} another {$c}. ## How much money does {he} have [now|in the end]? ## a*b:money saved; _+c:money in the end ## money
{N} had {$a}. {He} got {$b} for [{his} birthday|washing the car|helping a neighbor] and spent {$c} on {o}. ## How much money does {he} have now? ## a+b:money after the gift; _-c:money now ## money
{N} sells {a} {o} for {$b} each and {c} {p} for {$d} each. ## How much money does {he} [make|take in|earn]? ## a*b:money from the {o}; c*d:money from the {p}; s1+s2:all the money ## money
A ticket costs {$a} for an adult and {$b} for a child. ## How much do {c} adults and {d} children pay [together|in total]? ## c*a:adults; d*b:children; s1+s2:total ## money
A {o1} costs {$a}. A {p1} costs {$b} more than that. ## How much do [both|the two] cost together? ## a+b:price of the {p1}; a+s1:both together ## money
A {o1} costs {$a}. A {p1} costs {$b} less. {N} buys one of each. ## How much does {he} pay? ## a-b:price of the {p1}; a+s1:price of both ## money
{N} has {$a} and {M} has {bx} as much. ## How much money do they have together? ## a*b:money of {M}; a+s1:money together ## money
The [rent|fee] is {$a} [to start|at the beginning] plus {$b} for each [hour|day]. {N} uses the [bike|boat|scooter] for {c} [hours|days]. ## How much must {he} pay? ## c*b:price for the time; _+a:price in total ## money
{N} wants to buy a {o1} for {$a}. {He} has saved {$b} and [{his} father|{his} mother|a friend] gives {him} {$c}. ## How much more does {he} need? ## b+c:money {N} has; a-_:money still needed ## money
"""

COMPARE = """
{N} has {a} {o}. {M} has {b} more {o} than {N}. ## How many {o} do they have [together|altogether|in total]? ## a+b:{o} of {M}; a+s1:{o} together ## {o}
{N} has {a} {o}. {M} has {b} fewer. ## How many {o} do the two have together? ## a-b:{o} of {M}; a+s1:{o} together ## {o}
{N} has {a} {o}, and {M} has {bx} as many {o} as {N}. ## How many {o} do they have altogether? ## a*b:{o} of {M}; a+s1:{o} together ## {o}
{N} [collected|found|picked] {a} {o}. {M} [collected|found|picked] {bx} as many, but [lost|dropped|gave away] {c} of them. ## How many {o} does {M} have now? ## a*b:{o} of {M} at first; _-c:{o} of {M} now ## {o}
{N} has {a} {o}, {M} has {b} {o} more than {N}, and {K} has {c} {o} fewer than {M}. ## How many {o} does {K} have? ## a+b:{o} of {M}; _-c:{o} of {K} ## {o}
{N} has {a} {o}, {M} has {b} and {K} has {c}. ## How many {o} do the three have together? ## a+b:{o} of the first two; _+c:all {o} ## {o}
{N} is {a} years old. {His} [#1sister|brother|cousin] is {b} years younger, and {his} [#2mother|father|aunt] is {cx} as old as {his} [#1sister|brother|cousin]. ## How old is {his} [#2mother|father|aunt]? ## a-b:age of the younger one; _*c:age asked for ## years
{N} is {a} years old. {M} is {b} years older than {N}. ## What is the sum of their ages? ## a+b:age of {M}; a+s1:sum of the ages ## years
{N} is {a} years old and {M} is {bx} as old. ## How old will {M} be in {c} years? ## a*b:age of {M} today; _+c:age of {M} then ## years
{N} [read|wrote] {a} pages on Monday, {b} more than that on Tuesday and {c} on Wednesday. ## How many pages is that in these three days? ## a+b:Tuesday; a+s1:Monday and Tuesday; s2+c:all three days ## pages
{N} runs {a} km. {M} runs {bx} as far as {N}, and {K} runs {c} km less than {M}. ## How many km does {K} run? ## a*b:km of {M}; _-c:km of {K} ## km
A [red|blue|long] rope is {a} m long. A [green|yellow|short] rope is {b} m shorter. ## How long are the two ropes together? ## a-b:length of the second rope; a+s1:both ropes ## m
Team [A|One|Red] scores {a} points. Team [B|Two|Blue] scores {b} points more, and then loses {c} points [because of a foul|as a penalty]. ## How many points does the second team have? ## a+b:points before the penalty; _-c:points in the end ## points
"""

TIME = """
{N} reads {a} pages [a day|every day|each day] for {b} days. The book has {c} pages. ## How many pages are left to read? ## a*b:pages read; c-_:pages left ## pages
{N} reads {a} pages each day for a week and {b} more pages on the next day. ## How many pages has {he} read? ## a*7:pages in the week; _+b:pages in all ## pages
{N} walks {a} km to [school|work|the station] and the same way back. {He} does this on {b} days. ## How many km does {he} walk [in all|altogether]? ## a*2:km a day; _*b:km in all ## km
A [train|bus|truck] drives {a} km [every|each] hour. It drives for {b} hours and then another {c} km. ## How many km does it drive? ## a*b:km in the hours; _+c:km in all ## km
{N} practices [the piano|the guitar|chess|dancing] for {a} minutes on each of {b} days, and {c} minutes on [the weekend|Sunday]. ## How many minutes does {he} practice? ## a*b:minutes on the days; _+c:minutes in all ## minutes
In the morning it was {a} degrees. By noon it was {b} degrees warmer, and in the evening it [fell|dropped] by {c} degrees. ## What was the temperature in the evening? ## a+b:temperature at noon; _-c:temperature in the evening ## degrees
A movie lasts {a} minutes. {N} has watched {b} minutes and then {c} minutes more. ## How many minutes [are left|remain]? ## b+c:minutes watched; a-_:minutes left ## minutes
A [tank|barrel|pool] holds {a} liters of water. {b} liters flow in [every|each] minute for {c} minutes, and {d} liters leak out. ## How many liters are in it then? ## b*c:liters that flow in; a+_:liters after filling; _-d:liters in the end ## liters
A [ribbon|rope|plank] is {a} cm long. {N} cuts off {b} pieces of {c} cm each. ## How many cm are left? ## b*c:cm cut off; a-_:cm left ## cm
{N} does {a} push-ups a day for {b} days and {c} push-ups a day for another {d} days. ## How many push-ups is that in total? ## a*b:first days; c*d:other days; s1+s2:all push-ups ## push-ups
A machine makes {a} {o} [an hour|per hour]. It runs for {b} hours. {c} of the {o} are faulty. ## How many {o} are good? ## a*b:{o} made; _-c:good {o} ## {o}
{N} feeds {his} [dog|cat|horse] {a} times a day with {b} g of food each time. ## How many g of food does the animal get in {c} days? ## a*b:g a day; _*c:g in all ## g
"""

GAMES = """
{N} scores {a} points in the first round, {b} points in the second, and loses {c} points in the third. ## [How many points does {he} have at the end?|What is {his} final score?] ## a+b:points after two rounds; _-c:final score ## points
In a [quiz|game], every [right|correct] answer is worth {a} points. {N} has {b} [right|correct] answers and gets {c} bonus points. ## How many points does {he} have? ## b*a:points for the answers; _+c:points with the bonus ## points
In a [quiz|game|contest], a correct answer gives {a} points and a wrong one takes away {b} points. {N} has {c} correct and {d} wrong answers. ## What is {his} score? ## c*a:points won; d*b:points lost; s1-s2:score ## points
{N} hits the [red|outer] ring {a} times for {b} points each and the [gold|inner] ring {c} times for {d} points each. ## How many points is that? ## a*b:first ring; c*d:second ring; s1+s2:points ## points
There are {a} {o} in a {box}. {N} takes out {b} and then puts back {c}. ## How many {o} are in the {box} now? ## a-b:{o} after taking; _+c:{o} now ## {o}
There are {a} children at a party. Each child gets {b} {o}. {N} brought {c} {o}. ## How many {o} are left over? ## a*b:{o} handed out; c-_:{o} left over ## {o}
A class has {a} boys and {b} girls. {c} of the children are [ill|sick|absent] today. ## How many children are [there|present|in class] today? ## a+b:children in the class; _-c:children today ## children
{a} [#1boys|men] and {b} [#1girls|women] each [#2bring|carry] {c} {o}. ## How many {o} do they [#2bring|carry] in all? ## a+b:@people people; _*c:{o} ## {o}
A zoo has {a} [monkeys|parrots|penguins]. {b} are born and {c} are moved to another zoo. The zoo also has {d} [lions|tigers|bears]. ## How many animals does the zoo have now? ## a+b:after the births; _-c:after the move; _+d:all animals ## animals
"""


MORE_GROUPS = """
{N} has {a} {boxes} of {o}. There are {b} {o} in every {box}. [After|Once] {he} gives {c} {o} to {M} and {d} to {K}, ## how many {o} does {N} have left? ## a*b:{o} at first; _-c:{o} after {M}; _-d:{o} left ## {o}
If there are {a} {boxes} with {b} {o} in each, and {N} takes {c} {o} out, ## how many {o} are left? ## a*b:{o} at first; _-c:{o} left ## {o}
Each of the {a} children in a group [gets|receives|is given] {b} {o} and {c} {p}. ## How many [things|items] are given out [in all|in total|altogether]? ## b+c:items for one child; a*_:items in all ## items
{N} arranges {o} in {a} rows of {b}. {He} then adds {c} [extra|more] {o}. ## How many {o} has {N} used? ## a*b:{o} in rows; _+c:{o} used ## {o}
A {box} contains {a} {o} and {b} {p}. {N} has {c} such {boxes}. ## How many [things|items|objects] does {he} have? ## a+b:items in one {box}; c*_:items in all ## items
{N} has {a} {boxes} with {b} {o} [apiece|each]. {M} has {c} {boxes} with {d} {o} [apiece|each]. ## How many more {o} does {N} have than {M}? ## a*b:{o} of {N}; c*d:{o} of {M}; s1-s2:more {o} ## {o}
{a} {boxes} of {o} were delivered, {b} {o} in each. {c} {o} had to be thrown away. {d} [more|further] {o} came [later|the next day]. ## How many {o} are there now? ## a*b:{o} delivered; _-c:{o} kept; _+d:{o} now ## {o}
A box of pencils has {a} pencils. A [school|teacher|class] [orders|buys] {b} boxes. {c} pencils are [handed out|used up]. ## How many pencils are left over? ## a*b:pencils ordered; _-c:pencils left over ## pencils
{N} plants {a} rows with {b} [tulips|roses|daisies] in each row. {c} of the plants [die|do not grow|dry out] and {he} plants {d} new ones. ## How many plants are there now? ## a*b:plants at first; _-c:plants that live; _+d:plants now ## plants
There are {a} tables with {b} chairs each in a [restaurant|café|dining room] and {c} chairs [along the wall|in the corner]. ## How many chairs are there? ## a*b:chairs at tables; _+c:all chairs ## chairs
A [hotel|building] has {a} floors with {b} rooms on each floor. {c} rooms are [taken|booked|rented]. ## How many rooms are free? ## a*b:rooms; _-c:free rooms ## rooms
An egg carton holds 12 eggs. {N} has {a} full cartons and {b} loose eggs. ## How many eggs does {N} have? ## a*12:eggs in cartons; _+b:eggs in all ## eggs
{N} buys {a} dozen eggs and [breaks|drops|uses] {b} of them. ## How many eggs are left? ## a*12:eggs bought; _-b:eggs left ## eggs
The [library|bookshop] has {a} shelves. Each shelf holds {b} books. There are {c} books on the floor, and {d} books are borrowed. ## How many books remain? ## a*b:books on shelves; _+c:all books; _-d:books that remain ## books
{N} sets up {a} long tables with {b} plates each and {c} short tables with {d} plates each. ## How many plates does {he} need? ## a*b:plates on long tables; c*d:plates on short tables; s1+s2:plates in all ## plates
A [#1van|bus] can carry {a} people. {b} [#1vans|buses] are full and {c} people go by car. ## How many people go on the trip? ## b*a:people in the vehicles; _+c:people in all ## people
{a} [vans|buses] with {b} seats each take {c} pupils to the museum. ## How many seats stay empty? ## a*b:seats; _-c:empty seats ## seats
{N} strings {a} necklaces with {b} beads and one long chain with {c} beads. ## How many beads does {he} use? ## a*b:beads for the necklaces; _+c:all beads ## beads
In the {box} are {a} {bags}, and in each of the {bags} are {b} {o}. {N} eats none but hides {c} {o}. ## How many {o} can still be seen? ## a*b:{o} in all; _-c:{o} still seen ## {o}
{N} wants {a} {o}. {He} already has {b} {boxes} of {c} {o}. ## How many {o} does {he} still need? ## b*c:{o} {N} has; a-_:{o} still needed ## {o}
{a} friends [share|split] nothing; each of them simply brings {b} {o}. {N} then brings {c} more. ## How many {o} are there? ## a*b:{o} of the friends; _+c:all {o} ## {o}
A [gardener|farmer] picks {a} {bags} of {o}, each with {b} {o}, and {c} {o} [fall to the ground|are rotten]. {d} {o} are sold. ## How many {o} are left, not counting the [fallen|bad] ones? ## a*b:{o} picked; _-c:good {o}; _-d:{o} left ## {o}
A {box} is packed with {a} layers of {o}. There are {b} {o} in every layer. {c} {o} do not fit in. ## How many {o} are there in all, with those that do not fit? ## a*b:{o} inside; _+c:{o} in all ## {o}
{N} has {a} {bags}. In each there are {b} {o} and {c} {p}. {d} things get lost. ## How many things are left? ## b+c:things in one of the {bags}; a*_:things at first; _-d:things left ## things
{N}, {M} and {K} each [have|own|bring] {a} {o}. They give {b} {o} to a [museum|neighbor|teacher]. ## How many {o} do the three have left? ## 3*a:{o} of the three; _-b:{o} left ## {o}
Both {N} and {M} have {a} {o}. {K} has {b}. ## How many {o} do all three have together? ## 2*a:{o} of {N} and {M}; _+b:all {o} ## {o}
"""

MORE_MONEY = """
{N} [bought|picked] {a} {o} for {$b} each. {He} paid with {$c}. ## How much [change|money] did {he} get back? ## a*b:price; c-_:change ## money
A [ticket|meal|book] costs {$a}. {N} buys {b} and has a coupon for {$c} off the total. ## How much does {he} pay? ## a*b:full price; _-c:price with the coupon ## money
{N} earns {$a} on Monday, {$b} on Tuesday and {$c} on Wednesday. {He} spends {$d}. ## How much money is left? ## a+b:money after two days; _+c:money after three days; _-d:money left ## money
A [taxi|cab] costs {$a} plus {$b} for every km. {N} rides {c} km. ## What does the ride cost? ## c*b:price for the distance; _+a:price of the ride ## money
{N} [#1mows|washes] {a} [#1lawns|cars] at {$b} each. {He} already had {$c}. ## How much money does {he} have now? ## a*b:money earned; _+c:money now ## money
A gift costs {$a}. {N} gives {$b} and {M} gives {$c}. ## How much is still missing? ## b+c:money given; a-_:money missing ## money
A {o1} is {$a}. A {p1} is {bx} that price. ## How much [are|do] both [together|cost together]? ## a*b:price of the {p1}; a+s1:both together ## money
A pair of shoes costs {$a} and a pair of socks costs {$b}. {N} buys one pair of shoes and {c} pairs of socks. ## What is the total? ## c*b:price of the socks; a+_:total price ## money
{N} has {a} coins of 5 cents and {b} coins of 2 cents. ## How many cents is that? ## a*5:cents in the first coins; b*2:cents in the other coins; s1+s2:cents in all ## cents
{N} has {a} ten-dollar bills and {b} five-dollar bills. ## How many dollars does {he} have? ## a*10:dollars in tens; b*5:dollars in fives; s1+s2:dollars in all ## dollars
At the fair a ride costs {$a}. {N} goes on {b} rides and buys a drink for {$c}. {He} came with {$d}. ## How much money does {he} have left? ## b*a:price of the rides; _+c:money spent; d-_:money left ## money
{N} sold {a} {o} for {$b} each, but paid {$c} for the [stand|table|materials]. ## How much did {he} earn? ## a*b:money taken in; _-c:money earned ## money
A [phone|bike|game] costs {$a}. {N} saves {$b} a [#1week|month] for {c} [#1weeks|months]. ## How much is {he} still short? ## b*c:money saved; a-_:money still missing ## money
{N} pays {$a} rent for a stand and {$b} for {o}. {He} takes in {$c}. ## How much is {his} profit? ## a+b:costs; c-_:profit ## money
{N} had {$a} and spent {$b} on [lunch|a ticket]. {M} had {$c} and spent {$d}. ## How much do they have together now? ## a-b:money of {N}; c-d:money of {M}; s1+s2:money together ## money
A {o1} costs {$a}. The price [goes up|rises|is raised] by {$b} and later [goes down|falls|is cut] by {$c}. ## What is the price now? ## a+b:price after the rise; _-c:price now ## money
{N} spends {$a} on food, {$b} on clothes and {$c} on books. ## How much does {he} spend altogether? ## a+b:food and clothes; _+c:all spending ## money
For a party {N} buys {a} pizzas at {$b} each and {c} bottles of juice at {$d} each. {He} uses a gift card of {$e}. ## How much must {he} still pay? ## a*b:price of the pizzas; c*d:price of the juice; s1+s2:whole price; _-e:still to pay ## money
"""

MORE_COMPARE = """
{N} has {a} {o}. {M} has {b} more than {N}, and {K} has {cx} as many as {M}. ## How many {o} does {K} have? ## a+b:{o} of {M}; _*c:{o} of {K} ## {o}
{M} has {b} fewer {o} than {N}. {N} has {a} {o}. ## How many {o} do they have together? ## a-b:{o} of {M}; a+s1:{o} together ## {o}
{N} has {a} {o}. {M} has {b} more than {N} and {K} has {c} fewer than {N}. ## How many do {M} and {K} have together? ## a+b:{o} of {M}; a-c:{o} of {K}; s1+s2:{o} of both ## {o}
There are {a} [red|big] {o} and {bx} as many [blue|small] ones in a {box}. ## How many {o} are in the {box}? ## a*b:{o} of the second sort; a+s1:{o} in all ## {o}
There are {a} red {o}, {b} more blue {o} than red ones, and {c} green {o}. ## How many {o} are there altogether? ## a+b:blue ones; a+s1:red and blue ones; s2+c:all {o} ## {o}
{N} is {a} years old. {M} is {b} years younger. {K} is {cx} as old as {M}. ## How old is {K}? ## a-b:age of {M}; _*c:age of {K} ## years
{N} is {a}. {M} is {bx} as old as {N}. ## How much older is {M} than {N}? ## a*b:age of {M}; _-a:difference ## years
In {a} years {N} will be {b}. {M} is {c} years older than {N}. ## How old is {M} now? ## b-a:age of {N} now; _+c:age of {M} now ## years
{N} [jumps|throws] {a} m. {M} [manages|reaches] {b} m less. ## How many m is that for both? ## a-b:m of {M}; a+s1:m of both ## m
Tree A is {a} m tall. Tree B is {bx} as tall, and tree C is {c} m shorter than tree B. ## How tall is tree C? ## a*b:height of tree B; _-c:height of tree C ## m
A [cat|puppy] weighs {a} kg. A [dog|pig] weighs {bx} as much. ## How many kg do they weigh together? ## a*b:weight of the second animal; a+s1:weight together ## kg
{N} [caught|saw|counted] {a} [#1fish|birds|butterflies|frogs] [in the morning|on Saturday] and {bx} as many [in the evening|on Sunday]. ## How many [#1fish|birds|butterflies|frogs] is that altogether? ## a*b:the second time; a+s1:altogether ## [#1fish|birds|butterflies|frogs]
{N} wrote {a} letters, {M} wrote {b} fewer, and {K} wrote as many as both together. ## How many letters did {K} write? ## a-b:letters of {M}; a+s1:letters of {K} ## letters
In class A there are {a} pupils, in class B there are {b} fewer, and in class C {c} more than in class B. ## How many pupils are in class C? ## a-b:pupils in class B; _+c:pupils in class C ## pupils
The first [box|bag] weighs {a} kg, the second {b} kg more, and the third as much as {c} of the second. ## How heavy is the third? ## a+b:weight of the second; c*_:weight of the third ## kg
{N} has {a} {o} and {M} has {b}. {K} has {cx} as many as the two together. ## How many {o} does {K} have? ## a+b:{o} of the first two; _*c:{o} of {K} ## {o}
{N} has {a} {o}. That is {b} more than {M} has. ## How many {o} do they have together? ## a-b:{o} of {M}; a+s1:{o} together ## {o}
{N} has {a} {o}, which is {b} fewer than {M} has. {M} gives away {c}. ## How many {o} does {M} have left? ## a+b:{o} of {M}; _-c:{o} left ## {o}
A [rectangle|garden|field] is {a} m long and {b} m [wide|broad]. ## What is its perimeter in m? ## a+b:half the perimeter; 2*_:perimeter ## m
A [rectangle|floor|wall] is {a} m long and {b} m wide. {c} square meters of it are [painted|covered|tiled]. ## How many square meters are not? ## a*b:area; _-c:rest of the area ## square meters
"""

MORE_TIME = """
{N} sleeps {a} hours a night for {b} nights and {c} hours on the last night. ## How many hours is that? ## a*b:hours in the first nights; _+c:hours in all ## hours
{N} works {a} hours a day from Monday to Friday and {b} hours on Saturday. ## How many hours does {he} work in the week? ## a*5:hours from Monday to Friday; _+b:hours in the week ## hours
A [trip|journey] is {a} km long. {N} [drives|rides|walks] {b} km before lunch and {c} km after lunch. ## How many km are still to go? ## b+c:km done; a-_:km to go ## km
{N} swims {a} lanes every day for {b} days. {His} goal is {c} lanes. ## How many lanes are missing? ## a*b:lanes done; c-_:lanes missing ## lanes
{N} [writes|types] {a} pages in the morning and {b} in the afternoon, each day. ## How many pages is that in {c} days? ## a+b:pages a day; c*_:pages in all ## pages
A book has {a} pages. {N} reads {b} pages on Monday, {c} on Tuesday and {d} on Wednesday. ## How many pages are left? ## b+c:pages after two days; _+d:pages read; a-_:pages left ## pages
A candle is {a} cm long. It burns down {b} cm every hour. ## How long is it after {c} hours? ## b*c:cm burnt; a-_:cm left ## cm
A plant is {a} cm tall and grows {b} cm [every|each] week. ## How tall is it after {c} weeks? ## b*c:growth; a+_:height ## cm
The temperature is {a} degrees. It rises {b} degrees an hour for {c} hours. ## How warm is it then? ## b*c:rise; a+_:temperature ## degrees
{N} needs {a} minutes to [get dressed|shower], {b} minutes for breakfast and {c} minutes for the way to school. ## How many minutes is that in all? ## a+b:first two; _+c:minutes in all ## minutes
A [lesson|show|film] takes {a} minutes. There are {b} of them with a break of {c} minutes. ## How many minutes does it take altogether? ## a*b:minutes without the break; _+c:minutes altogether ## minutes
A [snail|turtle|robot] crawls {a} cm forward and then {b} cm back. It does this {c} times. ## How many cm has it come forward in the end? ## a-b:cm each time; _*c:cm in the end ## cm
An elevator starts on floor {a}. It goes up {b} floors, down {c} floors and up {d} floors. ## On which floor is it now? ## a+b:floor after the first ride; _-c:floor after the second ride; _+d:floor now ## 
A machine makes {a} rolls every hour. It works {b} hours in the morning and {c} hours in the afternoon. ## How many rolls are made? ## b+c:@hours hours of work; a*_:rolls ## rolls
{N} fills a {a}-liter tank. {He} pours in {b} buckets of {c} liters each. ## How many liters are still missing? ## b*c:liters poured in; a-_:liters missing ## liters
{N} drinks {a} glasses of water a day. ## How many glasses does {he} drink in a week, if {he} drinks {b} extra glasses on Sunday? ## a*7:glasses in the week; _+b:glasses in all ## glasses
A team trains {a} times a week for {b} weeks. {c} trainings are cancelled. ## How many trainings take place? ## a*b:trainings planned; _-c:trainings held ## trainings
{N} cycles {a} km on each of {b} days, {M} cycles {c} km on each of {d} days. ## How many km more does {N} cycle? ## a*b:km of {N}; c*d:km of {M}; s1-s2:km more ## km
"""

MORE_GAMES = """
{N} has {a} points. {He} wins {b} rounds and gets {c} points for each. ## How many points does {he} have then? ## b*c:points won; a+_:points then ## points
In a [basketball|handball] game {N} scores {a} baskets of 2 points and {b} baskets of 3 points. ## How many points does {he} score? ## a*2:points with twos; b*3:points with threes; s1+s2:points ## points
A team wins {a} games, with 3 points for each win, and draws {b} games, with 1 point each. {c} points are taken off. ## How many points does the team have? ## a*3:points for wins; _+b:points before the penalty; _-c:points ## points
On level one {N} collects {a} [#1stars|gems], on level two {b}, and on level three {cx} as many as on level two. ## How many does {he} collect in all? ## b*c:level three; a+b:levels one and two; s1+s2:in all ## [#1stars|gems]
{N} draws {a} [circles|squares] and {b} [stars|hearts] on each of {c} pages. ## How many shapes does {he} draw? ## a+b:shapes on a page; c*_:shapes ## shapes
{a} [#1birds|pigeons|sparrows] sit on a [roof|wire|fence]. {b} fly away, {c} come back, and {d} more arrive. ## How many are there now? ## a-b:after some fly away; _+c:after some come back; _+d:now ## [#1birds|pigeons|sparrows]
There are {a} [#1frogs|ducks|fish] in a pond. {b} [leave|swim away] and then {c} times as many as are left come from another pond. ## How many come from the other pond? ## a-b:left in the pond; _*c:that come ## [#1frogs|ducks|fish]
A hen lays {a} eggs a week. {N} has {b} hens. {He} sells {c} eggs. ## How many eggs does {he} keep in one week? ## a*b:eggs; _-c:eggs kept ## eggs
{N} builds a tower with {a} red, {b} blue and {c} yellow blocks. {d} blocks fall down. ## How many blocks are left in the tower? ## a+b:red and blue blocks; _+c:all blocks; _-d:blocks left ## blocks
{N} invites {a} friends. {b} cannot come, but {c} of the others bring one more guest each. ## How many guests come? ## a-b:friends who come; _+c:guests ## guests
On a shelf are {a} [#1cups|glasses|vases]. {N} breaks {b} and buys {c} sets of {d}. ## How many are there now? ## a-b:whole ones; c*d:new ones; s1+s2:now ## [#1cups|glasses|vases]
{N} had {a} {o}. {He} lost {b}. {His} [uncle|aunt|friend] then gave {him} {c} {boxes} with {d} {o} in each. ## How many {o} does {he} have now? ## a-b:{o} after the loss; c*d:{o} from the {boxes}; s1+s2:{o} now ## {o}
From {a} {o}, {N} puts {b} into each of {c} {boxes}. ## How many {o} are not in [a|any] {box}? ## b*c:{o} in the {boxes}; a-_:{o} not in a {box} ## {o}
{N} takes {a} photos on each of {b} days and deletes {c} photos every day. ## How many photos does {he} keep? ## a-c:photos kept a day; b*_:photos kept ## photos
A recipe needs {a} eggs and {b} apples for one cake. {N} bakes {c} cakes and has {d} eggs. ## How many eggs must {he} still buy? ## c*a:eggs needed; _-d:eggs to buy ## eggs
A baker makes {a} loaves. {b} are sold in the morning and {c} at noon; in the evening {d} fresh loaves are baked. ## How many loaves are there then? ## a-b:loaves after the morning; _-c:loaves after noon; _+d:loaves then ## loaves
A train has {a} [cars|wagons] with {b} seats each. {c} seats are taken. At the station {d} more people sit down. ## How many seats are free now? ## a*b:seats; _-c:free seats at first; _-d:free seats now ## seats
{N} has {a} {o}. {He} gives {b} {o} to each of {c} friends and then gets {d} {o} back. ## How many {o} does {N} have now? ## b*c:{o} given away; a-_:{o} kept; _+d:{o} now ## {o}
{N} collects {o}. On {day} {he} has {a}. Each of {b} friends gives {him} {c}, and {he} gives {d} to {K}. ## How many {o} does {he} have in the end? ## b*c:{o} from the friends; a+_:{o} with the gifts; _-d:{o} in the end ## {o}
"""

LONG = """
{N} has {a} {boxes} of {b} {o} and {c} {bags} of {d} {o}. {He} gives {e} {o} to {M}. ## How many {o} does {N} have left? ## a*b:{o} in the {boxes}; c*d:{o} in the {bags}; s1+s2:{o} at first; _-e:{o} left ## {o}
A shop sells {a} {o} at {$b} each and {c} {p} at {$d} each. The owner pays {$e} for electricity. ## How much money is left? ## a*b:money from the {o}; c*d:money from the {p}; s1+s2:money taken in; _-e:money left ## money
{N} buys {a} {o} for {$b} each and {c} {p} for {$d} each. {He} pays with {$e}. ## How much change does {he} get? ## a*b:cost of the {o}; c*d:cost of the {p}; s1+s2:total cost; e-_:change ## money
A farmer has {a} cows, {b} hens and {c} goats. {d} animals are sold and {e} lambs are born. ## How many animals are there then? ## a+b:cows and hens; _+c:all animals; _-d:animals after the sale; _+e:animals then ## animals
In the morning {a} people visit the museum, at noon {b}, and in the afternoon {cx} as many as at noon. {d} of all the visitors are children. ## How many visitors are adults? ## b*c:visitors in the afternoon; a+b:visitors before; s1+s2:all visitors; _-d:adults ## people
{N} has {a} {o}. {M} has {b} more than {N}. {K} has {cx} as many as {M}. ## How many {o} do {N} and {K} have together, if {K} loses {d}? ## a+b:{o} of {M}; _*c:{o} of {K}; _-d:{o} of {K} after the loss; a+_:{o} of {N} and {K} ## {o}
{N} works {a} hours on Monday and {b} hours on Tuesday. {He} earns {$c} an hour. Then {he} buys a {o1} for {$d} and a {p1} for {$e}. ## How much money is left? ## a+b:@hours hours of work; c*_:money earned; _-d:money after the {o1}; _-e:money left ## money
A bus starts with {a} people. At the first stop {b} get off and {c} get on. At the second stop {d} get off and {e} get on. ## How many people are on the bus now? ## a-b:people after some get off; _+c:people after the first stop; _-d:people after more get off; _+e:people now ## people
There are {a} {boxes} with {b} {o} each. {c} {boxes} are sold. Then {d} single {o} are added and {e} are taken away. ## How many {o} are there? ## a-c:{boxes} left; _*b:{o} in them; _+d:{o} with the single ones; _-e:{o} in the end ## {o}
{N} walks {a} km on Monday, {bx} as far on Tuesday, and {c} km on Wednesday. {His} goal is {d} km. ## How many km are missing? ## a*b:km on Tuesday; a+_:km on both days; _+c:km walked; d-_:km missing ## km
A school buys {a} {boxes} of {b} pens and {c} {boxes} of {d} pencils. {e} of them are broken. ## How many good pens and pencils are there? ## a*b:pens; c*d:pencils; s1+s2:pens and pencils; _-e:good ones ## pieces
{N} saves {$a} in January, {$b} more than that in February, and {$c} in March. {He} spends {$d}. ## How much does {he} have? ## a+b:money saved in February; a+_:money of two months; _+c:money of three months; _-d:money left ## money
Three {boxes} hold {a}, {b} and {c} {o}. {N} takes out {d} and puts all the others into one {bag}. ## How many {o} are in the {bag}? ## a+b:{o} in two {boxes}; _+c:{o} in all; _-d:{o} in the {bag} ## {o}
{N} has {a} sheets of paper. {He} uses {b} sheets for each of {c} paper hats and {d} sheets for a poster. ## How many sheets are left? ## b*c:sheets for the hats; a-_:sheets after the hats; _-d:sheets left ## sheets
{N} is paid {$a} for each of {b} [lessons|deliveries], and gets a tip of {$c}. The bus home costs {$d}. ## How much money does {he} bring home? ## a*b:money for the work; _+c:money with the tip; _-d:money brought home ## money
A [pool|tank] has {a} liters in it. For {b} minutes {c} liters a minute run in; then {d} liters are let out. ## How many liters are in it? ## b*c:liters that run in; a+_:liters when full; _-d:liters in the end ## liters
{N} [reads|learns] {a} [#1pages|words] a day for {b} days, then {c} [#1pages|words] a day for {d} days. {M} manages {e} [#1pages|words] in the same time. ## How many [#1pages|words] more does {N} manage? ## a*b:first days; c*d:later days; s1+s2:all of {N}; _-e:difference ## [#1pages|words]
On a farm {a} hens lay {b} eggs each. {c} eggs break, {d} are eaten, and the rest is sold. ## How many eggs are sold? ## a*b:eggs laid; _-c:whole eggs; _-d:eggs sold ## eggs
A theater has {a} rows of {b} seats. In the first show {c} seats are empty. In the second show {d} people come. ## How many people saw the two shows together? ## a*b:all seats; _-c:people in the first show; _+d:people in both shows ## people
{N} makes {a} [cards|masks] and {M} makes {bx} as many. They give {c} to {K}, who already has {d}. ## How many do {N} and {M} keep? ## a*b:made by {M}; a+_:made by both; _-c:kept ## pieces
{N} has {$a}, {M} has {$b} less, and {K} has {$c} more than {M}. ## How much do the three have together? ## a-b:money of {M}; _+c:money of {K}; a+s1:money of {N} and {M}; s3+s2:money of all ## money
"""

FRAMES = "".join((GROUPS, MONEY, COMPARE, TIME, GAMES, MORE_GROUPS, MORE_MONEY, MORE_COMPARE, MORE_TIME, MORE_GAMES, LONG, EVERYDAY))
