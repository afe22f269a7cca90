"""Frames with division, percentages, fractions, cents, large numbers, times of day and units of time, by topic.

The notation is that of ``frames.py``; besides, ``{a%}`` is the number before a percent sign, ``{f/}`` a fraction ("a third"),
``{a.}`` a number that may have decimals, ``{a:}`` a time of day. In the plan ``b%`` is b percent and ``x~f`` the fraction f of x.
"""

DIVISION = """
{N} shares {a} {o} equally among {b} [friends|children|classmates]. ## How many {o} does each [one |]get? ## a/b:{o} each ## {o}
{a} {o} are packed into {boxes} of {b}. ## How many {boxes} are [needed|filled]? ## a/b:{boxes} ## {boxes}
{N} has {a} {o} and puts them into {b} equal {bags}. {He} then eats {c} from one {bag}. ## How many {o} are left in that {bag}? ## a/b:{o} in a {bag}; _-c:{o} left ## {o}
{N} and {M} collect {o}. {N} finds {a} and {M} finds {b}. They put all of them into {c} {boxes}, the same number in each. ## How many {o} are in each {box}? ## a+b:{o} together; _/c:{o} in each {box} ## {o}
A [teacher|coach] has {a} {o}. {He} keeps {b} and splits the rest evenly between {c} [groups|teams]. ## How many {o} does each [group|team] receive? ## a-b:{o} to split; _/c:{o} for each ## {o}
{a} {boxes} hold {b} {o} each. All the {o} are divided among {c} children. ## How many {o} per child? ## a*b:{o} in all; _/c:{o} per child ## {o}
{N} paid {$a} for {b} {o}. ## [What is the price of one {o1}?|How much does one {o1} cost?] ## a/b:price of one ## money
{b} {o} cost {$a}. ## How much do {c} {o} cost? ## a/b:price of one; _*c:price of {c} ## money
{N} earns {$a} in {b} hours. ## How much does {he} earn in {c} hours [at the same rate|]? ## a/b:money an hour; _*c:money earned ## money
Tickets for {b} [people|children] cost {$a} in total. {N} pays for {c} of them. ## What does {he} pay? ## a/b:price of a ticket; _*c:what {he} pays ## money
{N} [drives|rides|travels] {a} km in {b} hours. ## [What is the average speed in km per hour?|How many km is that per hour?] ## a/b:km per hour ## km
A car drives {c} km [with|on] every liter of [fuel|petrol|gas]. ## How far can it go with {a} liters? ## a*c:km ## km
A [book|novel] has {a} pages. {N} wants to finish it in {b} days. ## How many pages [must|should] {he} read [each|per] day? ## a/b:pages a day ## pages
{N} has read {a} of the {b} pages of a book. {He} wants to read the rest in {c} days, the same number every day. ## How many pages a day is that? ## b-a:pages left; _/c:pages a day ## pages
A rope of {a} m is cut into {b} equal pieces. ## How long is one piece [in m|]? ## a/b:m in a piece ## m
{N} has {$a} and wants to buy {o} that cost {$b} each. ## How many [can {he} buy|{o} can {he} buy]? ## a/b:{o} ## {o}
{N} saves {$a} [a week|every week|each week]. {He} already has {$b} and needs {$c}. ## How many weeks [does it take|must {he} save]? ## c-b:money missing; _/a:weeks ## weeks
A factory makes {a} {o} in {b} hours. ## How many {o} does it make in {c} hours? ## a/b:{o} an hour; _*c:{o} made ## {o}
{N} scored {a}, {b} and {c} points in three [games|tests|rounds]. ## What is [the|{his}] average? ## a+b:first two; _+c:all points; _/3:average ## points
The {a} pupils of a school are put into {b} equal classes. In each class there are {c} girls. ## How many boys are in each class? ## a/b:pupils in a class; _-c:boys in a class ## boys
{a} [#1eggs|muffins|rolls] are put into cartons of a dozen. ## How many cartons are full? ## a/12:cartons ## cartons
{N} and {his} friends split a bill of {$a} and a tip of {$b} equally. There are {d} people in all. ## How much does each person pay? ## a+b:whole bill; _/d:each person ## money
{N} has {bx} as many {o} as {M}. {N} has {a}. ## How many {o} do they have together? ## a/b:{o} of {M}; a+_:{o} together ## {o}
{a} workers each [lay|carry] {b} bricks a day. ## How many days do they need for {c} bricks? ## a*b:bricks a day; c/_:days ## days
Each [bus|van] has {b} seats. {a} pupils and {c} teachers go on a trip, and every seat is taken. ## How many [buses|vans] are there? ## a+c:people; _/b:buses ## buses
{N} plants {a} [#1trees|tulips|bushes] in {b} equal rows. {He} adds {c} more [#1trees|tulips|bushes] to every row. ## How many are in one row then? ## a/b:in a row; _+c:in a row then ## [#1trees|tulips|bushes]
{N} pours {a} liters of juice into bottles of {b} liters and sells them at {$c} a bottle. ## How much money does {he} take in? ## a/b:@bottles bottles; _*c:money taken in ## money
A {box} of {a} {o} weighs {b} kg. ## How many kg do {c} such {boxes} weigh? ## b*c:kg in all ## kg
{N} made {a} [#1cookies|pierogi|muffins] for {b} [guests|friends|cousins], the same number for everyone. One of them gave {c} of {his} share away. ## How many did that one keep? ## a/b:for each; _-c:kept ## [#1cookies|pierogi|muffins]
There are {a} [#1pages|problems|words] to [learn|do] and {b} days left. ## How many per day? ## a/b:per day ## [#1pages|problems|words]
A bag of {a} [sweets|nuts|grapes] is [shared|split] fairly by {N}, {M} and {K}. {N} finds {b} more in {his} pocket. ## How many does {N} have in the end? ## a/3:for each; _+b:in the end ## [sweets|nuts|grapes]
In {b} minutes a pump moves {a} liters of water. ## How many liters does it move in {c} minutes? ## a/b:liters a minute; _*c:liters ## liters
{a} chairs stand in rows of {b}. {c} rows are [taken away|removed]. ## How many rows are there now? ## a/b:rows; _-c:rows now ## rows
{b} [pens|tickets|apples] together cost {$a}. {N} has {$c} and buys one. ## How much money is left? ## a/b:price of one; c-_:money left ## money
{N} cut a {a} cm board into {b} equal pieces and then took {c} cm off one of them. ## How long is that piece, in cm? ## a/b:cm of a piece; _-c:cm left ## cm
Six friends rent a boat for {$a} and buy snacks for {$b}. They split everything evenly. ## What does each of them pay? ## a+b:everything; _/6:for each ## money
{N} has {a} stamps. An album page takes {b} stamps, and {N} has filled {c} pages. ## How many pages will {he} still fill? ## a/b:pages in all; _-c:pages still to fill ## pages
A runner does {a} laps in {b} hours, always at one pace. ## How many laps would {he} do in {c} hours? ## a/b:laps an hour; _*c:laps ## laps
"""

PERCENT = """
A {o1} costs {$a}. It is [reduced by|on sale for|discounted by] {b%}% [off|]. ## [What is the sale price?|How much does it cost now?|What does {N} pay?] ## a*b%:discount; a-_:sale price ## money
A {o1} [normally |]costs {$a}. {N} gets a {b%}% discount. ## How much does {he} pay? ## a*b%:discount; a-_:price to pay ## money
{b%}% of the {a} [#1students|pupils|children] in a school [walk to school|wear glasses|play an instrument]. ## How many [#1students|pupils|children] is that? ## a*b%:that many ## [#1students|pupils|children]
{N} has {a} {o}. {b%}% of them are [red|broken|new|blue]. ## How many are not [red|broken|new|blue]? ## a*b%:{o} of that kind; a-_:the others ## {o}
{N} earns {$a} a month and saves {b%}% of it. ## How much does {he} save in {c} months? ## a*b%:money saved in a month; _*c:money saved ## money
A meal costs {$a}. {N} leaves a {b%}% tip. ## What is the total? ## a*b%:tip; a+_:total ## money
The price of a {o1} was {$a}. It [rises|goes up|increases] by {b%}%. ## What is the new price? ## a*b%:increase; a+_:new price ## money
A town has {a} inhabitants. In a year the number [grows|increases] by {b%}%. ## How many inhabitants are there then? ## a*b%:growth; a+_:inhabitants then ## people
{N} bought {a} {o} at {$b} each and got {c%}% off the total. ## How much did {he} pay? ## a*b:full price; _*c%:discount; s1-s2:price paid ## money
Of {a} [seats|places] in a theater, {b%}% are [sold|taken]. {c} more are sold at the door. ## How many are [sold|taken] then? ## a*b%:sold before; _+c:sold then ## seats
A test has {a} questions. {N} gets {b%}% right. ## How many questions did {he} get [wrong|not get right]? ## a*b%:right answers; a-_:wrong answers ## questions
{N} has {$a}. {He} spends {b%}% on [rent|food] and {$c} on clothes. ## How much is left? ## a*b%:money for rent or food; a-_:money left then; _-c:money left ## money
A shop buys a {o1} for {$a} and sells it at a profit of {b%}%. ## What is the selling price? ## a*b%:profit; a+_:selling price ## money
A tank holds {a} liters and is {b%}% full. ## How many liters [must be added|are missing] to fill it? ## a*b%:liters in it; a-_:liters missing ## liters
In a class of {a} [#1students|pupils], {b%}% are girls. {c} girls are absent. ## How many girls are present? ## a*b%:girls; _-c:girls present ## girls
{N} deposits {$a} in a bank with {b%}% simple interest a year. ## How much interest does {he} get in {c} years? ## a*b%:interest a year; _*c:interest ## money
{b%}% of {N}'s {a} {o} are given to {M}, who already had {c}. ## How many {o} does {M} have now? ## a*b%:{o} given; _+c:{o} of {M} now ## {o}
A jacket costs {$a} and shoes cost {$b}. There is {c%}% off on everything. ## What do both cost now? ## a+b:full price; _*c%:discount; s1-s2:price now ## money
In an office of {a} people, {b%}% cycle to work. ## How many don't? ## a*b%:people who cycle; a-_:people who do not ## people
In our [village|street|club] of {a} people, {b%}% own a [dog|car|boat]. ## How many people own none? ## a*b%:owners; a-_:people without one ## people
[Boots|Headphones|A lamp|A tent] are listed at {$a}. This [week|weekend] everything is {b%}% off. ## What would {N} pay? ## a*b%:discount; a-_:to pay ## money
What is {b%}% of {a}, plus {c}? ## Give the result. ## a*b%:the part; _+c:result ##
[An orchard|A farm] harvested {a} kg of apples. {b%}% were bad and thrown away. ## How many kg were good? ## a*b%:kg of bad apples; a-_:kg of good apples ## kg
{N} has a goal of {a} steps. By noon {he} has done {b%}%. ## How many steps are still to go? ## a*b%:steps done; a-_:steps to go ## steps
The [hotel|flight|course] is {$a} plus {b%}% tax. ## What is the total price? ## a*b%:tax; a+_:total price ## money
A battery of {a} units loses {b%}% in a day. ## How much is in it after one day? ## a*b%:units lost; a-_:units left ## units
{b%}% of {a} emails are spam. {N} answers {c} of the others. ## How many real emails are not answered yet? ## a*b%:spam; a-_:real emails; _-c:not answered ## emails
A [team|player] won {b%}% of its {a} games and drew {c} of them. ## How many games did it lose? ## a*b%:games won; a-_:games not won; _-c:games lost ## games
Rent is {$a} a month. Next year it [goes up|increases] by {b%}%. ## By how much does the rent for {c} months grow? ## a*b%:more a month; _*c:more in all ## money
A [mug|scarf|board game] cost {$a} last year and is {b%}% [more expensive|dearer] now. ## What does it cost now? ## a*b%:increase; a+_:price now ## money
{N} scored {b%}% on a test of {a} points. {M} scored {c} points less. ## How many points did {M} get? ## a*b%:points of {N}; _-c:points of {M} ## points
On the {a} km [race|ride|hike], {N} has finished {b%}%. ## How many km lie ahead? ## a*b%:km done; a-_:km ahead ## km
{a} people were asked. {b%}% said yes, {c} said maybe, the others said no. ## How many said no? ## a*b%:people who said yes; a-_:all others; _-c:people who said no ## people
"""

FRACTIONS = """
{N} has {a} {o}. {He} gives {f/} of them to {M}. ## How many {o} does {he} have left? ## a~f:{o} given away; a-_:{o} left ## {o}
{f/} of the {a} [#1animals|sheep|birds] on a farm are white. ## How many [#1animals|sheep|birds] are white? ## a~f:white ones ## [#1animals|sheep|birds]
{N} had {$a}. {He} spent {f/} of it on a {o1} and {$b} on a {p1}. ## How much does {he} have left? ## a~f:price of the {o1}; a-_:money left then; _-b:money left ## money
A class has {a} pupils. {f/} of them are [boys|girls]. ## How many are [not|the others]? ## a~f:of that kind; a-_:the others ## pupils
{N} bakes {a} cookies and sells {f/} of them for {$b} each. ## How much money does {he} get? ## a~f:@cookies cookies sold; _*b:money ## money
{N} read {f/} of a book with {a} pages on Monday and {b} pages on Tuesday. ## How many pages has {he} read? ## a~f:pages on Monday; _+b:pages read ## pages
A [tank|barrel] holds {a} liters. It is {f/} full, and {b} liters are added. ## How many liters are in it now? ## a~f:liters at first; _+b:liters now ## liters
A trip is {a} km long. After {f/} of the way {N} [takes a break|stops for lunch]. ## How many km are left? ## a~f:km done; a-_:km left ## km
{N} has {a} {o}, {M} has {f/} as many. ## How many {o} do they have together? ## a~f:{o} of {M}; a+_:{o} together ## {o}
{a} {boxes} hold {b} {o} each. {f/} of all the {o} are [sold|used|broken]. ## How many {o} is that? ## a*b:{o} in all; _~f:that many ## {o}
{N} sold {a} {o} in April and half as many in May. ## How many {o} did {he} sell [altogether|in April and May]? ## a/2:{o} in May; a+_:{o} altogether ## {o}
{N} weighs {a} kg. {His} [dog|little brother] weighs {f/} of that. ## How much do they weigh together in kg? ## a~f:kg of the other; a+_:kg together ## kg
{N} has {a} {o}. {M} has {b} more than half of that. ## How many {o} does {M} have? ## a/2:half of them; _+b:{o} of {M} ## {o}
{N} picked {a} apples. {He} used {f/} for a pie and ate {b}. ## How many apples remain? ## a~f:apples for the pie; a-_:apples after the pie; _-b:apples left ## apples
Out of {a} [guests|visitors], {f/} are children, and {b} of the children are under five. ## How many children are older? ## a~f:children; _-b:older children ## children
{N} spends {f/} of {his} {a} minutes of [homework|training] on [maths|running]. ## How many minutes are left for the rest? ## a~f:minutes for the first; a-_:minutes for the rest ## minutes
There were {a} [ducks|geese|swans] on the lake. {f/} of them flew [off|away] and later {b} came back. ## How many are on the lake [now|]? ## a~f:that flew away; a-_:still there; _+b:on the lake ## [ducks|geese|swans]
{f/} of the {a} kids on a trip bring [lunch|a packed lunch]. The others each buy one for {$b}. ## How much do they pay in total? ## a~f:@kids kids with lunch; a-_:@kids kids without lunch; _*b:money paid ## money
A recipe needs {a} g of flour. {N} makes {f/} of the recipe and adds {b} g extra. ## How many g of flour does {he} use? ## a~f:g for the recipe; _+b:g of flour ## g
{N} drove {f/} of the {a} km before lunch and {b} km after it. ## How many km are still ahead? ## a~f:km before lunch; a-_:km after lunch; _-b:km ahead ## km
Half of the {a} seats on a [plane|ferry] are empty. Then {b} more people come on board. ## How many people are on board? ## a/2:people at first; _+b:people on board ## people
{N} spent {f/} of {his} {$a} on a ticket. {He} then earned {$b}. ## How much money does {he} have? ## a~f:price of the ticket; a-_:money left; _+b:money then ## money
A pizza [party|evening] has {a} slices. {N} and {his} friends eat {f/} of them. {M} takes {b} slices home. ## How many slices remain? ## a~f:slices eaten; a-_:slices left then; _-b:slices left ## slices
{f/} of a wall of {a} bricks is done. ## How many bricks are still to be laid? ## a~f:bricks laid; a-_:bricks to lay ## bricks
"""

CENTS = """
{N} buys a [coffee|tea] for {$a} and a [cake|roll|bagel] for {$b}. {He} pays with {$c}. ## How much change does {he} get? ## a+b:price of both; c-_:change ## money
{a} [notebooks|pens|apples] at {$b} each and one [bag|ruler|folder] at {$c}. ## What is the total? ## a*b:price of the first; _+c:total ## money
A kilo of [potatoes|rice|sugar] costs {$b}. {N} buys {a} kilos and [pays with|hands over] {$c}. ## How much does {he} get back? ## a*b:price; c-_:change ## money
{N} has {$a} in {his} wallet. {He} spends {$b} on lunch and {$c} on a [magazine|bus ticket]. ## How much is left? ## a-b:after lunch; _-c:money left ## money
The [bill|receipt] lists {$a}, {$b} and {$c}. A coupon takes off {$d}. ## What has to be paid? ## a+b:first two; _+c:all three; _-d:to pay ## money
{N} buys {a} {o} at {$b} and {c} {p} at {$d}. ## How much is that [altogether|in total|together]? ## a*b:{o}; c*d:{p}; s1+s2:altogether ## money
Lunch costs {$a} a day. {N} buys lunch on {b} days and a drink for {$c} once. ## How much does {he} spend? ## a*b:lunches; _+c:money spent ## money
{N} had {$a}. After buying a {o1} {he} has {$b} left. {M} bought the same {o1} and a {p1} for {$c}. ## How much did {M} spend? ## a-b:price of the {o1}; _+c:money {M} spent ## money
A monthly plan is {$a}. {N} pays it for {b} months and gets {$c} back. ## What did it cost [in the end|altogether]? ## a*b:for the months; _-c:in the end ## money
One {o1} is {$a}, {b} of them are sold in a pack for {$c}. ## How much is saved by buying the pack? ## a*b:price of single ones; _-c:money saved ## money
{N} works {b} hours at {$a} an hour and pays {$c} for the bus. ## How much does {he} keep? ## a*b:money earned; _-c:money kept ## money
{N} buys {a} bottles of water for {$b} each and pays with a {$c} note. ## What is {his} change? ## a*b:price of the water; c-_:change ## money
A [sandwich|burger] costs {$a}, a drink {$b} less. ## What do both cost together? ## a-b:price of the drink; a+_:both together ## money
{N} puts {$a} into a jar every [Sunday|month] and takes out {$b} once. ## How much is in the jar after {c} [times|payments]? ## a*c:money put in; _-b:money in the jar ## money
Two adults pay {$a} each and {b} children pay {$c} each for the [zoo|museum|bus]. ## How much is it for all of them? ## 2*a:adults; b*c:children; s1+s2:for all of them ## money
"""

MEASURE = """
A [plank|ribbon|pipe] is {a.} m long. {N} cuts off {b.} m and then {c.} m. ## How many m are left? ## a-b:m after the first cut; _-c:m left ## m
{N} runs {a.} km on each of {b} days. ## How many km is that? ## a*b:km in all ## km
One {box} weighs {a.} kg. ## How many kg do {b} {boxes} weigh together with a [crate|pallet] of {c.} kg? ## a*b:kg of the {boxes}; _+c:kg together ## kg
{N} mixes {a.} liters of juice with {b.} liters of water and drinks {c.} liters. ## How many liters are left? ## a+b:liters mixed; _-c:liters left ## liters
A [dog|cat] eats {a.} kg of food a week. ## How many kg are left of a {b} kg bag after {c} weeks? ## a*c:kg eaten; b-_:kg left ## kg
{N} walked {a.} km in the morning, {b.} km after lunch, and {c.} km in the evening. ## How far [did {he} walk|is that] in km? ## a+b:until the afternoon; _+c:km in all ## km
"""

LARGE = """
A [library|bookshop] has {a} books. It [buys|gets] {b} new ones and [sells|gives away] {c} old ones. ## How many books does it have [now|then]? ## a+b:books with the new ones; _-c:books now ## books
A stadium has {a} seats. {b} are taken by home fans and {c} by guests. ## How many seats are empty? ## b+c:seats taken; a-_:empty seats ## seats
A factory makes {a} {o} a day. ## How many {o} does it make in {b} days, if {c} of all of them are [thrown away|faulty]? ## a*b:{o} made; _-c:good {o} ## {o}
A plane flew {a} km on Monday, {b} km on Tuesday and {c} km on Wednesday. ## How many km did it fly in total? ## a+b:first two days; _+c:km in total ## km
A car costs {$a}. {N} pays {$b} now and the rest in {c} equal [monthly payments|installments]. ## How much is each [payment|installment]? ## a-b:the rest; _/c:each payment ## money
A [school|charity|club] raised {$a} in the first year and {bx} as much in the second. It spent {$c}. ## How much is left? ## a*b:second year; a+_:both years; _-c:money left ## money
{N} walks {a} steps every day. ## How many steps is that in a week? ## a*7:steps in a week ## steps
A phone has {a} photos. {N} deletes {b}, takes {c} new ones and copies {d} to it. ## How many photos are on it? ## a-b:after deleting; _+c:with new ones; _+d:photos in the end ## photos
A mountain is {a} m high. {N} starts at {b} m and climbs {c} m. ## How many m below the top is {he}? ## b+c:height reached; a-_:m below the top ## m
A company has {a} employees in {b} offices of equal size. {c} people leave one office. ## How many employees are left in that office? ## a/b:employees in an office; _-c:employees left ## employees
The [concert|show] sold {a} tickets at {$b} and {c} tickets at {$d}. ## How much money came in? ## a*b:cheaper or first tickets; c*d:other tickets; s1+s2:all the money ## money
A concert hall sells {a} tickets at {$b} and gives {c} free tickets to schools. ## How many seats are used? ## a+c:seats used ## seats
A warehouse had {a} boxes. A truck takes {b}, and {c} trucks like that leave. ## How many boxes are left? ## b*c:boxes taken; a-_:boxes left ## boxes
{N}'s game shows {a} points, {M}'s shows {b} more, and {K}'s shows as many as both. ## How many points does {K} have? ## a+b:points of {M}; a+_:points of {K} ## points
From a roll of {a} m of cable, {b} pieces of {c} m are cut for one house and {d} m for another. ## How many m remain? ## b*c:m for one house; a-_:m left then; _-d:m left ## m
A website had {a} visitors on Saturday and {b} fewer on Sunday. ## How many visitors did it have that weekend? ## a-b:visitors on Sunday; a+_:visitors in all ## visitors
"""

TIME = """
A [film|train ride|lesson] starts at {a:} and lasts {b} minutes. ## [When|At what time] does it end? ## a+b:end ##
{N} leaves home at {a:} and arrives at {b:}. ## How many minutes does the trip take? ## b-a:minutes ## minutes
It is {a:}. {N} does homework for {b} minutes and then plays for {c} minutes. ## What time is it then? ## a+b:time after homework; _+c:time then ##
The bus leaves at {a:}. {N} needs {b} minutes to get to the stop and wants to be {c} minutes early. ## When must {he} leave? ## b+c:minutes before; a-_:time to leave ##
{N} practices from {a:} to {b:} every day. ## How many minutes is that in {c} days? ## b-a:minutes a day; _*c:minutes in all ## minutes
A cake goes into the oven at {a:} and takes {b} minutes. It must cool for {c} minutes. ## When can it be eaten? ## a+b:out of the oven; _+c:ready ##
{N} studies {a} hours and {b} minutes. ## How many minutes is that? ## a*60:minutes in the hours; _+b:minutes in all ## minutes
A film lasts {a} hours and {b} minutes. {N} has watched {c} minutes. ## How many minutes are left? ## a*60:minutes in the hours; _+b:minutes of the film; _-c:minutes left ## minutes
{N} sleeps {a} hours a day. ## How many hours does {he} sleep in {b} weeks? ## a*7:hours a week; _*b:hours in all ## hours
{N} saves {$a} a day for {b} weeks. ## How much does {he} have then? ## b*7:@days days; _*a:money saved ## money
{N} has {a} weeks and {b} days of holiday. {c} days have passed. ## How many days are left? ## a*7:days in the weeks; _+b:days of holiday; _-c:days left ## days
A [song|video] is {a} minutes long and is played {b} times. ## How many hours is that? ## a*b:minutes; _/60:hours ## hours
{N} pays {$a} a month for [the gym|a phone plan]. ## How much is that in a year, with a fee of {$b} at the start? ## a*12:money in a year; _+b:with the fee ## money
A rope is {a} m long. {N} cuts off {b} cm. ## How many cm are left? ## a*100:cm of the rope; _-b:cm left ## cm
{N} buys {a} kg of flour and uses {b} g. ## How many g are left? ## a*1000:g of flour; _-b:g left ## g
A machine fills {a} bottles a minute. ## How many bottles does it fill in {b} hours? ## b*60:@minutes minutes; _*a:bottles ## bottles
{N} buys {a} dozen eggs and uses {b}. ## How many eggs are left? ## a*12:eggs; _-b:eggs left ## eggs
{N}'s [shift|class|meeting] [runs|goes] from {a:} to {b:}. ## How [many minutes is that|long is it in minutes]? ## b-a:minutes ## minutes
A [game|concert|movie] begins at {a:}. There are {b} minutes of [ads|warm-up] before it and it lasts {c} minutes. ## At what time is it over? ## b+c:minutes in all; a+_:end ##
The [train|ferry|bus] [departs|leaves] at {a:} and is {b} minutes late. The ride takes {c} minutes. ## When does it arrive? ## a+b:departure; _+c:arrival ##
What time is it {b} minutes after {a:}, ## [and what time would the clock show then?|on the clock?] ## a+b:time ##
School [starts|begins] at {a:}. {N} needs {b} minutes to [walk|ride|get] there. ## What is the latest time {he} can leave? ## a-b:time to leave ##
{N} [sleeps|reads|trains] {a} hours and {M} {b} hours. ## How many minutes is that together? ## a+b:@hours hours together; _*60:minutes together ## minutes
A [trip|hike|drive] takes {a} hours. After {b} minutes {N} stops for a break. ## How many minutes [are still to go|of the way remain]? ## a*60:minutes of the trip; _-b:minutes to go ## minutes
{N} [works|practices] {a} minutes a day. ## How many hours is that in {b} days? ## a*b:@minutes minutes; _/60:hours ## hours
{N} works from Monday to Friday, {a} hours a day, for {$b} an hour. ## How much does {he} earn in the week? ## a*5:@hours hours; _*b:money earned ## money
The [school play|show|match] begins at {a:} and runs for {b} minutes, with a {c} minute [intermission|break] in the middle. ## At what time [is it over|does everybody go home]? ## b+c:minutes in all; a+_:end ##
{N} watches two episodes of {a} minutes each and then a film that is {b} hours long. ## How many minutes does {he} watch in total? ## 2*a:minutes of the episodes; b*60:minutes of the film; s1+s2:minutes in total ## minutes
{N} arrived at {a:}, {b} minutes late. ## When was {he} expected? ## a-b:time expected ##
The swimming lesson takes {a} minutes and ends at {b:}. ## When does it start? ## b-a:start ##
{N} [naps|reads|paints] for {a} minutes on {b} days. {M} does the same for {c} hours in all. ## How many minutes more does {M} do than {N}? ## a*b:minutes of {N}; c*60:minutes of {M}; s2-s1:minutes more ## minutes
A flight leaves at {a:}. Boarding is {b} minutes before that, and {N} wants to be there {c} minutes before boarding. ## When should {he} be there? ## a-b:boarding; _-c:time to be there ##
One load of washing takes {a} minutes. {N} washes {b} loads, one after the other, from {c:} on. ## When is the last one done? ## a*b:minutes in all; c+_:time when done ##
{N} has {a} hours for a test with {b} tasks. {He} needs {c} minutes for each. ## How many minutes are left over? ## a*60:minutes for the test; b*c:minutes needed; s1-s2:minutes left over ## minutes
A baby sleeps {a} hours at night and {b} hours during the day. ## How many hours is that in a week? ## a+b:hours a day; _*7:hours in a week ## hours
From {a:} to {b:} {N} is at [school|work]. {c} minutes of that are breaks. ## How many minutes does {he} work? ## b-a:minutes there; _-c:minutes of work ## minutes
"""

LONGER = """
{N} buys {a} {boxes} of {b} {o}. {He} eats {c}, gives {f/} of the rest to {M} and then finds {d} more. ## How many {o} does {he} have? ## a*b:{o} at first; _-c:{o} then; _~f:{o} for {M}; s2-s3:{o} kept; _+d:{o} in the end ## {o}
A [baker|shop] makes {a} [rolls|cakes] a day for {b} days. {c%}% are not sold. The others are sold at {$d} each. ## How much money comes in? ## a*b:@pieces pieces made; _*c%:@pieces pieces not sold; s1-s2:@pieces pieces sold; _*d:money ## money
{N} earns {$a} an hour and works {b} hours a day for {c} days. {He} pays {d%}% tax and {$e} for travel. ## How much does {he} keep? ## a*b:money a day; _*c:money earned; _*d%:tax; s2-s3:after tax; _-e:money kept ## money
{N} has {a} {o} in each of {b} {boxes} and {c} {o} in each of {d} {bags}. {He} shares all of them equally among {e} people. ## How many {o} does each get? ## a*b:{o} in the {boxes}; c*d:{o} in the {bags}; s1+s2:all {o}; _/e:{o} each ## {o}
Adults pay {$a} and children {$b}. {c} adults and {d} children go, and the group gets {e%}% off. ## What does the group pay? ## a*c:adults; b*d:children; s1+s2:full price; _*e%:discount; s3-s4:what the group pays ## money
{N} read {a} pages on Monday, twice as many on Tuesday and {b} fewer than on Tuesday on Wednesday. The book has {c} pages. ## How many pages are left? ## a*2:pages on Tuesday; _-b:pages on Wednesday; a+s1:two days; _+s2:pages read; c-_:pages left ## pages
{N}, {M} and {K} pick {a}, {b} and {c} {o}. They sell all of them for {$d} each and share the money equally. ## How much does each get? ## a+b:first two; _+c:@{o} all {o}; _*d:money; _/3:money each ## money
A farmer has {a} hens. Each lays {b} eggs a week. He sells the eggs of {c} weeks by the dozen, at {$d} a dozen. ## How much does he earn? ## a*b:@eggs eggs a week; _*c:@eggs eggs; _/12:@dozens dozens; _*d:money earned ## money
A tank has {a} liters. {b} liters are used each day for {c} days, then {d} buckets of {e} liters are poured in. ## How many liters are in it? ## b*c:liters used; a-_:liters left; d*e:liters poured in; s2+s3:liters in it ## liters
{N} buys {a} {o} at {$b}, {c} {p} at {$d}, and pays with {$e}. The cashier also gives {him} {$f} for [old bottles|a coupon]. ## How much money does {he} get back? ## a*b:{o}; c*d:{p}; s1+s2:total; e-_:change; _+f:money back ## money
A class of {a} collects money for a trip. Each student brings {$b}. The bus costs {$c} and the tickets cost {$d} per student. ## How much money is left? ## a*b:money collected; a*d:money for tickets; s1-c:money after the bus; s3-s2:money left ## money
{N} has {a} rows of {b} [bulbs|seeds|plants]. {He} buys {c} bags of {d} more, gives {e} to a neighbor and loses {f} in the frost. ## How many are left? ## a*b:in the rows; c*d:in the bags; s1+s2:all of them; _-e:after the gift; _-f:left ## [bulbs|seeds|plants]
{N} works {a} hours on Monday, {b} hours more on Tuesday, and twice as long on Wednesday as on Monday, for {$c} an hour. ## How much does {he} earn on these days? ## a+b:@hours hours on Tuesday; a*2:@hours hours on Wednesday; a+s1:@hours first two days; _+s2:@hours hours in all; _*c:money earned ## money
A shop has {a} {boxes} of {b} {o}. {c} {boxes} are sold in the morning, {d} single {o} in the afternoon, and {f/} of what is left in the evening. ## How many {o} are left at night? ## a-c:{boxes} left; _*b:{o} left then; _-d:{o} in the evening; _~f:{o} sold in the evening; s3-s4:{o} at night ## {o}
{N} starts with {$a}, spends {$b} on food and {$c} on a book, earns {$d} for each of {e} lessons and gives half of what {he} has then to {M}. ## How much does {N} have in the end? ## a-b:after the food; _-c:after the book; d*e:money earned; s2+s3:money then; _/2:in the end ## money
A theater has {a} rows with {b} seats and {c} rows with {d} seats. {e} seats are broken and {f} are kept free. ## How many tickets can be sold? ## a*b:first seats; c*d:other seats; s1+s2:seats in all; _-e:seats that work; _-f:tickets ## tickets
{N} fills {a} bags with {b} kg of potatoes each and {c} bags with {d} kg each. {e} kg are bad, and the rest is sold at {$f} a kg. ## How much money is that? ## a*b:@kg kg in the first bags; c*d:@kg kg in the others; s1+s2:@kg kg in all; _-e:@kg good kg; _*f:money ## money
A train starts with {a} people. At the first stop {b} get off and {c} get on, at the second {d} get off and {e} get on. ## How many people travel on? ## a-b:people left at the first stop; _+c:people after the first stop; _-d:people left at the second stop; _+e:people who travel on ## people
"""

TOPICS = {"division": DIVISION, "percent": PERCENT, "fraction": FRACTIONS, "cents": CENTS, "measure": MEASURE, "large": LARGE,
          "time": TIME, "longer": LONGER}

HEADERS = """
(Version {k}.)
(Version {k})
Problem {k}.
Problem {k}:
Question {k}:
Exercise {k}
Q{k}.
{k}.
{k})
Task #{k}
[{k}]
**Problem {k}**
Ex. {k}:
Word problem:
Math problem:
## Question
Please solve:
Grade 4 homework:
(easy)
hi, can someone help me with this?
Homework help pls:
Solve the following problem.
Read carefully:
Q:
"""

ENDERS = """
(Version {k}.)
Show your work.
Explain your reasoning.
Please reason step by step, and put your final answer within \\boxed{}.
Give the final answer after ####.
Think step by step.
Thanks!
Write only the number.
Show all steps.
pls help
Give your answer as a number.
Let's think step by step.
🙏
[{k} points]
Write your answer in the box.
"""
