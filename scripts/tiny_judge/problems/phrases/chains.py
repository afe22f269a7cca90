"""Building blocks of chain stories: a start, events that add, subtract or multiply, and a question.

In a clause ``{S}`` is the actor; a clause without it has another subject. ``{n}`` is the quantity, ``{nx}`` "twice" etc.
"""

THEMES = {
    "things": dict(
        unit="{o}",
        start="""{S} has {n} {o}
{S} starts with {n} {o}
{S} had {n} {o}
{S} owns {n} {o}
{S} keeps {n} {o} in a {box}
{S} collected {n} {o}
{S} begins the day with {n} {o}""",
        plus="""{S} gets {n} more
{S} buys {n} more {o}
{S} finds {n} {o}
{S} receives {n} from {M}
{S} gets {n} {o} from {who}
{S} picks up another {n}
{S} wins {n} {o} in a game
{S} adds {n} more
{M} gives {him} {n} {o}
{S} makes {n} new {o}
{S} borrows {n} from {K}""",
        minus="""{S} gives {n} to {M}
{S} gives {n} {o} to {who}
{S} loses {n}
{S} sells {n} of them
{S} uses {n} {o}
{S} throws away {n} broken ones
{S} trades away {n}
{S} leaves {n} {o} at {place}
{M} takes {n} of them
{S} hands {n} over to {K}
{S} drops {n} of the {o}""",
        times="""{S} ends up with {nx} as many {o}
the number of {o} grows to {nx} what it was
{S} trades and now has {nx} as many
{who} swaps with {him} so that {S} has {nx} as many""",
        ask="""How many {o} does {N} have now?
How many {o} does {N} have in the end?
How many {o} does {N} have left?
How many {o} are there now?
What is the number of {o} that {N} has now?
Find the number of {o} {N} has at the end.
How many {o} does {he} have?""",
        label="{o}"),
    "bus": dict(
        unit="people",
        start="""there are {n} people on a bus
a bus leaves the station with {n} passengers
{n} people are on the train
{n} passengers are sitting in a tram""",
        plus="""{n} people get on
{n} more passengers board
at the next stop {n} get on
another {n} people climb aboard""",
        minus="""{n} people get off
{n} passengers leave
at the next stop {n} get off
{n} of them step out""",
        times="""the number of passengers grows to {nx} as many
at the big station there are suddenly {nx} as many people on board""",
        ask="""How many people are on board now?
How many passengers are there in the end?
How many people are left?
How many people are still on it?""",
        label="people on board"),
    "money": dict(
        unit="money",
        start="""{S} has {$n} in {his} wallet
{S} starts the week with {$n}
{S} has {$n}
{S} saved {$n}
there is {$n} in {his} piggy bank""",
        plus="""{S} earns {$n}
{S} gets {$n} as a gift
{who} gives {him} {$n}
{S} finds {$n} in an old coat
{S} is paid {$n} for a small job
{S} makes {$n} selling {o}""",
        minus="""{S} spends {$n} on {o}
{S} pays {$n} for a {p1}
{S} gives {$n} to {who}
{S} loses {$n}
{S} lends {$n} to {M}
{S} buys a {o1} for {$n}""",
        times="""{S} then has {nx} as much
the amount grows to {nx} as much""",
        ask="""How much money does {N} have now?
How much does {he} have left?
How much money is left?
What amount does {N} have at the end?""",
        label="money"),
    "points": dict(
        unit="points",
        start="""{S} begins a game with {n} points
{S} has {n} points
{S} scores {n} points in the first round
{N}'s score is {n} points""",
        plus="""{S} wins {n} points
{S} gains {n} more points
{S} gets a bonus of {n} points
{S} scores another {n}""",
        minus="""{S} loses {n} points
{S} gets a penalty of {n} points
{n} points are taken away
{S} drops {n} points""",
        times="""a bonus card makes it {nx} as many points
{S} lands on a field that multiplies the points by {n}""",
        ask="""How many points does {N} have now?
What is the final score?
How many points does {he} end up with?
What is {N}'s score at the end?""",
        label="points"),
    "measure": dict(
        unit="liters",
        start="""a tank holds {n} liters of water
there are {n} liters of juice in a barrel
a pool has {n} liters in it
{S} fills a bucket with {n} liters""",
        plus="""{n} liters are poured in
{n} more liters flow in
{S} adds {n} liters
rain adds another {n} liters""",
        minus="""{n} liters leak out
{S} takes out {n} liters
{n} liters are used
{n} liters are drained""",
        times="""the amount becomes {nx} as much""",
        ask="""How many liters are there now?
How many liters are left?
How much is in it in the end?
How many liters remain?""",
        label="liters"),
    "stock": dict(
        unit="{o}",
        start="""a shop has {n} {o}
there are {n} {o} in a {box}
a {box} contains {n} {o}
a warehouse stores {n} {o}
the class has {n} {o}""",
        plus="""{n} more are delivered
{n} new {o} arrive
{N} puts in {n} more
{n} {o} are added
the owner orders another {n}""",
        minus="""{n} are sold
{n} {o} are taken out
{n} of them break
{n} {o} go missing
a customer buys {n}
{n} are given away""",
        times="""the stock grows to {nx} as many""",
        ask="""How many {o} are there now?
How many {o} are left?
How many {o} remain?
Find how many {o} are there at the end.
How many {o} are there in the end?""",
        label="{o}"),
    "pond": dict(
        unit="animals",
        start="""there are {n} [ducks|frogs|swans] in a pond
{n} [pigeons|sparrows|crows] sit on a roof
a farmer has {n} [sheep|goats|cows]
{n} monkeys play in a tree""",
        plus="""{n} more come
{n} others join them
another {n} arrive
{n} new ones appear
{n} young ones are born""",
        minus="""{n} leave
{n} of them go away
{n} run off
{n} disappear
{n} are scared away""",
        times="""there are suddenly {nx} as many
the group becomes {nx} as large""",
        ask="""How many are there now?
How many animals are there in the end?
How many are left?
How many animals are there now?
How many does that make in the end?""",
        label="animals"),
    "parking": dict(
        unit="cars",
        start="""there are {n} cars in a parking lot
{n} cars stand in a garage
a car park has {n} cars in it
at noon {n} cars are parked in the street""",
        plus="""{n} cars drive in
{n} more cars arrive
{n} cars come and park
another {n} pull in""",
        minus="""{n} cars drive away
{n} leave
{n} of the cars pull out
{n} cars are driven off""",
        times="""by evening there are {nx} as many cars""",
        ask="""How many cars are there now?
How many cars are in it at the end?
How many cars are left?
How many cars remain?
How many cars are parked there in the end?""",
        label="cars"),
    "reading": dict(
        unit="pages",
        start="""{S} reads {n} pages on the first day
{S} has read {n} pages of a long book
{S} writes {n} pages
{S} begins with {n} pages""",
        plus="""{S} reads {n} more pages
{S} adds {n} pages
{S} reads another {n}
{S} manages {n} further pages""",
        minus="""{S} throws {n} pages away
{S} deletes {n} pages
{n} pages turn out to be blank and do not count
{S} skips back {n} pages""",
        times="""by the weekend it is {nx} as many pages""",
        ask="""How many pages is that now?
How many pages does {N} have in the end?
How many pages is that in the end?
What is the number of pages now?""",
        label="pages"),
    "degrees": dict(
        unit="degrees",
        start="""it is {n} degrees outside
the temperature is {n} degrees
the thermometer shows {n} degrees
in the morning it is {n} degrees""",
        plus="""it gets {n} degrees warmer
the temperature rises by {n} degrees
it climbs {n} degrees
it goes up {n} degrees""",
        minus="""it gets {n} degrees colder
the temperature falls by {n} degrees
it drops {n} degrees
it cools down by {n} degrees""",
        times="""the value becomes {nx} as high""",
        ask="""How many degrees is it now?
What is the temperature now?
What does the thermometer show at the end?
What temperature is it in the end?""",
        label="degrees"),
    "children": dict(
        unit="children",
        start="""{n} children play in the park
there are {n} children in the schoolyard
a club has {n} children
{n} pupils are in the gym
{n} kids are at a birthday party""",
        plus="""{n} more children come
{n} children join in
another {n} arrive
{n} new ones come along""",
        minus="""{n} go home
{n} children leave
{n} have to go
{n} of them are picked up""",
        times="""the number of children grows to {nx} as many""",
        ask="""How many children are there now?
How many children are left?
How many children are there at the end?
How many are still there?
How many children remain?""",
        label="children"),
    "baking": dict(
        unit="{o}",
        start="""{S} makes {n} {o} for a party
{S} brings {n} {o} to {place}
{S} packs {n} {o} into a {box}
{S} puts {n} {o} on a table
{S} counts {n} {o}""",
        plus="""{S} makes {n} more
{S} puts {n} more on the pile
{M} brings {n} {o}
{who} adds {n} {o}
{S} fetches another {n}""",
        minus="""{n} are eaten or lost
the guests take {n}
{M} takes away {n}
{S} hands out {n} of them
{n} {o} fall on the floor and are thrown away
{S} packs away {n}""",
        times="""{S} works all night until there are {nx} as many""",
        ask="""How many {o} are left?
How many {o} are there in the end?
How many {o} are there now?
So how many {o} remain?
Tell me how many {o} there are at the end.""",
        label="{o}"),
    "length": dict(
        unit="cm",
        start="""a rope is {n} cm long
a plant is {n} cm tall
{S} draws a line of {n} cm
{S} has a ribbon of {n} cm
a tower is {n} cm high""",
        plus="""it gets {n} cm longer
{n} cm are added
{S} adds {n} cm
another {n} cm are put on""",
        minus="""{n} cm are cut off
{S} cuts off {n} cm
{n} cm break off
it gets {n} cm shorter""",
        times="""it becomes {nx} as long""",
        ask="""How many cm is it now?
How long is it in the end?
How many cm are left?
What is its length now?
How long is it now, in cm?""",
        label="cm"),
    "weight": dict(
        unit="kg",
        start="""a sack weighs {n} kg
a cart is loaded with {n} kg of sand
{S} carries {n} kg
a boat is loaded with {n} kg""",
        plus="""{n} kg are put in
{S} loads {n} kg more
another {n} kg are added
{M} puts {n} kg on top""",
        minus="""{n} kg are taken out
{S} unloads {n} kg
{n} kg fall off
{M} removes {n} kg""",
        times="""the load becomes {nx} as heavy""",
        ask="""How many kg is that now?
How heavy is the load now?
How many kg are left?
What is the weight in the end?""",
        label="kg"),
}

CONNECTORS = """
Then
After that,
Later,
Next,
Now
The next day,
In the afternoon,
On {day},
A little later,
Afterwards,
Soon after,
In the evening,
Meanwhile,
The following morning,
An hour later,
The day after,
That night,
At lunch,
Before dinner,
"""
