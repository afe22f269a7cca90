"""More frames in the notation of ``frames.py``: everyday scenes with their own nouns and verbs."""

EVERYDAY = """
{N} picked {a} apples in the orchard and {M} picked {b}. They ate {c} on the way home. ## How many apples did they bring home? ## a+b:apples picked; _-c:apples brought home ## apples
{N} baked {a} cookies. {He} ate {b} and {his} friends ate {c}. ## How many cookies were left? ## a-b:cookies after {N}; _-c:cookies left ## cookies
{N} had {a} candies. {He} ate {b} on Monday and twice as many on Tuesday. ## How many candies are left? ## b*2:candies eaten on Tuesday; a-b:candies after Monday; s2-s1:candies left ## candies
A pizza place sold {a} small pizzas and {b} large pizzas at lunch, and {c} pizzas at dinner. ## How many pizzas were sold that day? ## a+b:pizzas at lunch; _+c:pizzas sold ## pizzas
There were {a} slices of bread. {N} made {b} sandwiches with 2 slices each. ## How many slices were left? ## b*2:slices used; a-_:slices left ## slices
Grandma knits {a} scarves a month. After {b} months she gives {c} scarves to her grandchildren. ## How many scarves does she have left? ## a*b:scarves knitted; _-c:scarves left ## scarves
{N} drinks {a} cups of tea in the morning and {b} in the afternoon every day. ## How many cups is that in {c} days? ## a+b:cups a day; _*c:cups in all ## cups
A dog eats {a} biscuits a day. {N} opens a bag of {b} biscuits. ## How many biscuits are left after {c} days? ## a*c:biscuits eaten; b-_:biscuits left ## biscuits
In a soccer tournament, {a} teams have {b} players each. {c} players are injured. ## How many players can play? ## a*b:players; _-c:players who can play ## players
A choir has {a} girls and {b} boys. {c} new singers join and {d} leave. ## How many singers does the choir have now? ## a+b:singers at first; _+c:singers with the new ones; _-d:singers now ## singers
{N} watched {a} episodes on Friday, {b} on Saturday and {c} on Sunday. The season has {d} episodes. ## How many episodes are left to watch? ## a+b:episodes on two days; _+c:episodes watched; d-_:episodes left ## episodes
{N} blew up {a} balloons and {M} blew up {b}. {c} of the balloons popped. ## How many balloons do they have for the party? ## a+b:balloons; _-c:balloons for the party ## balloons
{N} planted {a} seeds in each of {b} pots. {c} seeds did not come up. ## How many plants grew? ## a*b:seeds; _-c:plants ## plants
A fisherman caught {a} fish on Monday, {b} fewer on Tuesday and threw {c} back. ## How many fish did he keep? ## a-b:fish on Tuesday; a+_:fish caught; _-c:fish kept ## fish
A postman has {a} letters. He delivers {b} in the first street and {c} in the second street. Then he picks up {d} more. ## How many letters does he carry now? ## a-b:letters after the first street; _-c:letters after the second street; _+d:letters now ## letters
{N} took {a} photos at the zoo and {b} photos at the lake, then deleted {c} blurry ones. ## How many photos does {N} still have? ## a+b:photos taken; _-c:photos left ## photos
A box of crayons holds {a} crayons. The art room has {b} full boxes and {c} loose crayons. ## How many crayons are in the art room? ## a*b:crayons in boxes; _+c:crayons in all ## crayons
Each table in a café seats {a} guests. There are {b} tables inside and {c} outside. ## How many guests can sit down? ## b+c:tables; _*a:guests ## guests
A truck carries {a} crates with {b} bottles each. On the way, {c} bottles break. The driver sells {d}. ## How many bottles are left? ## a*b:bottles; _-c:whole bottles; _-d:bottles left ## bottles
A puzzle has {a} pieces. {N} puts in {b} pieces, {M} puts in {c} pieces. ## How many pieces are still missing? ## b+c:pieces put in; a-_:pieces missing ## pieces
{N}'s phone shows {a} messages. {He} deletes {b} and then gets {c} new ones. ## How many messages are on the phone? ## a-b:messages after deleting; _+c:messages now ## messages
A theater sold {a} tickets on Friday and {bx} as many on Saturday. {c} people did not show up. ## How many people came in those two days? ## a*b:tickets on Saturday; a+_:tickets sold; _-c:people who came ## people
{N} has to learn {a} words. {He} learns {b} words a day for {c} days. ## How many words does {he} still have to learn? ## b*c:words learned; a-_:words to learn ## words
A hiker climbs {a} steps, rests, climbs {b} more and then goes down {c}. ## How many steps above the start is the hiker? ## a+b:steps up; _-c:steps above the start ## steps
There are {a} red cars, {b} blue cars and {c} white cars in a lot. {d} of the cars leave. ## How many cars are still there? ## a+b:red and blue cars; _+c:all cars; _-d:cars still there ## cars
{N} earns {$a} for each car {he} washes. {He} washes {b} cars on Saturday and {c} on Sunday. ## How much does {he} earn on the weekend? ## b+c:@cars cars washed; _*a:money earned ## money
{N} buys a sandwich for {$a}, a juice for {$b} and a cake for {$c}. {He} pays with a {$d} bill. ## How much change does {he} get? ## a+b:sandwich and juice; _+c:price of everything; d-_:change ## money
A haircut costs {$a}. {N} takes {his} {b} children and gives a tip of {$c}. Only the children get a haircut. ## How much does {N} pay? ## a*b:price of the haircuts; _+c:price with the tip ## money
{N} has {$a}. {He} wants {b} books that cost {$c} each, but a discount takes {$d} off the whole price. ## How much money is left after buying them? ## b*c:price of the books; _-d:price with the discount; a-_:money left ## money
A club collects {$a} from each of its {b} members and then pays {$c} for a new net. ## How much money is left in the club? ## a*b:money collected; _-c:money left ## money
A kilo of apples costs {$a} and a kilo of plums costs {$b}. {N} buys {c} kilos of apples and {d} kilos of plums. ## What does {he} have to pay? ## c*a:price of the apples; d*b:price of the plums; s1+s2:total price ## money
{N} rents a bike for {a} days at {$b} a day and a helmet for {$c}. ## How much is it altogether? ## a*b:price of the bike; _+c:price altogether ## money
{N} puts {$a} into a jar each week. After {b} weeks {he} takes out {$c} for a present. ## How much is in the jar? ## a*b:money saved; _-c:money in the jar ## money
{N} sold {a} glasses of lemonade at {$b} each. The lemons had cost {$c} and the sugar {$d}. ## How much did {he} make after these costs? ## a*b:money taken in; _-c:money after the lemons; _-d:money after all costs ## money
{N}'s bag weighs {a} kg. {He} puts in {b} books of {c} kg each. ## How heavy is the bag now? ## b*c:kg of books; a+_:kg of the bag ## kg
A jug holds {a} cups of juice. {N} fills {b} jugs and serves {c} cups. ## How many cups of juice are left? ## a*b:cups of juice; _-c:cups left ## cups
It takes {N} {a} minutes to walk to the bus stop. The bus ride takes {b} minutes, and then {he} walks {c} minutes to the office. ## How long is the trip in minutes? ## a+b:minutes until the bus ride ends; _+c:minutes in all ## minutes
A concert lasts {a} minutes. There are {b} songs of {c} minutes each and the rest is talking. ## For how many minutes do they talk? ## b*c:minutes of songs; a-_:minutes of talking ## minutes
{N} practiced {a} minutes a day for {b} days. {M} practiced {c} minutes in all. ## How many minutes more did {N} practice than {M}? ## a*b:minutes of {N}; _-c:minutes more ## minutes
{N} walked {a} km on the first day of a hike. Each of the next {b} days {he} walked {c} km. ## How far did {he} walk altogether, in km? ## b*c:km on the next days; a+_:km altogether ## km
A bamboo is {a} cm high. It grows {b} cm in the first week and {cx} as much in the second week. ## How high is it then? ## b*c:cm in the second week; a+b:cm after the first week; s2+s1:cm in the end ## cm
A lake is {a} m deep. After the rain it is {b} m deeper, and in summer it loses {c} m. ## How deep is it in summer? ## a+b:depth after the rain; _-c:depth in summer ## m
{N} is {a} cm taller than {M}. {M} is {b} cm tall. {K} is {c} cm shorter than {N}. ## How tall is {K}, in cm? ## b+a:height of {N}; _-c:height of {K} ## cm
A team had {a} points. It won {b} games and got {c} points for each, but lost {d} points for being late. ## How many points does it have now? ## b*c:points won; a+_:points with the wins; _-d:points now ## points
In a video game {N} has {a} coins. {He} buys a sword for {b} coins and then opens {c} chests with {d} coins each. ## How many coins does {he} have then? ## a-b:coins after buying; c*d:coins in the chests; s1+s2:coins then ## coins
{N} answers {a} questions right for {b} points each. {M} answers {c} questions right for {b} points each. ## How many points do they have together? ## a+c:@answers right answers; _*b:points together ## points
{N} throws three darts and hits {a}, {b} and {c}. Then {d} points are subtracted for stepping over the line. ## How many points remain? ## a+b:first two darts; _+c:all darts; _-d:points left ## points
A deck has {a} cards. {N}, {M} and {K} each get {b} cards. ## How many cards are left in the deck? ## 3*b:cards dealt; a-_:cards left ## cards
{a} guests are at a party. {b} couples leave together. ## How many guests are still there? ## b*2:guests who leave; a-_:guests still there ## guests
{N} has {a} pairs of socks and loses {b} single socks. ## How many socks does {he} still have? ## a*2:socks; _-b:socks left ## socks
A carpenter makes {a} tables with 4 legs and {b} stools with 3 legs. ## How many legs does he need? ## a*4:table legs; b*3:stool legs; s1+s2:legs in all ## legs
There are {a} tricycles and {b} cars in the yard. ## How many wheels do they have in all? ## a*3:wheels of the tricycles; b*4:wheels of the cars; s1+s2:wheels in all ## wheels
There are {a} ants and {b} birds on a tree. An ant has 6 legs and a bird has 2. ## How many legs is that in total? ## a*6:legs of the ants; b*2:legs of the birds; s1+s2:legs in total ## legs
{N} has {a} goldfish in one tank and {b} in another. {He} gives away {c} from the first tank. ## How many goldfish does {he} have left in both tanks? ## a-c:goldfish in the first tank; _+b:goldfish in both ## goldfish
A beekeeper has {a} hives. Each hive gives {b} jars of honey. He keeps {c} jars for his family and sells the rest. ## How many jars does he sell? ## a*b:jars of honey; _-c:jars sold ## jars
Mother buys {a} packs of juice with {b} bottles in each pack. The family drinks {c} bottles in the first week and {d} in the second. ## How many bottles are left? ## a*b:bottles bought; _-c:bottles after the first week; _-d:bottles left ## bottles
A train had {a} passengers. {b} got off in the first town, then {c} got on in the second, and {d} got off in the third. ## How many passengers were on the train after that? ## a-b:passengers after the first town; _+c:passengers after the second town; _-d:passengers after the third town ## passengers
{N} collected {a} bottle caps. {M} had {b} fewer, so {N} gave {M} {c} of {his} own. ## How many does {M} have now? ## a-b:caps of {M} at first; _+c:caps of {M} now ## caps
In the school garden, {a} classes planted {b} bulbs each. {c} bulbs were eaten by mice, but the teachers planted another {d}. ## How many bulbs are in the garden? ## a*b:bulbs planted; _-c:bulbs left; _+d:bulbs in the garden ## bulbs
Mr. Young's class has {a} pupils and Ms. Hill's class has {b}. {c} of them all go on a trip. ## How many pupils stay at school? ## a+b:pupils; _-c:pupils who stay ## pupils
{N} cooks {a} dumplings for each of {b} guests and {c} extra. ## How many dumplings does {he} cook? ## a*b:dumplings for the guests; _+c:dumplings in all ## dumplings
A wall needs {a} rows of {b} bricks. The builder has {c} bricks. ## How many bricks are left when the wall is done? ## a*b:bricks in the wall; c-_:bricks left ## bricks
A painter uses {a} cans of white paint and {b} cans of blue paint per house. ## How many cans does she use for {c} houses? ## a+b:cans for one house; _*c:cans in all ## cans
A kindergarten has {a} groups of {b} children. Today {c} children are at home and {d} children are visiting from another kindergarten. ## How many children are there today? ## a*b:children in the groups; _-c:children without those at home; _+d:children today ## children
{N} had {a} euros less than {M}. {M} had {b} euros. Then {N} earned {c} euros. ## How many euros does {N} have now? ## b-a:euros of {N} at first; _+c:euros of {N} now ## euros
Two boxes hold {a} pears together. {b} pears are taken from the first box and {c} from the second. ## How many pears are left in both boxes? ## b+c:pears taken; a-_:pears left ## pears
{N} has four times as many marbles as {M}. {M} has {a} marbles, and {K} has {b} more than {N}. ## How many marbles does {K} have? ## 4*a:marbles of {N}; _+b:marbles of {K} ## marbles
{N} has twice as many stickers as {M}, who has {a}. {N} gives {b} away. ## How many stickers does {N} have left? ## 2*a:stickers of {N}; _-b:stickers left ## stickers
{N} bought {a} kg of rice, {b} kg of flour and {c} kg of sugar, and used {d} kg of all that. ## How many kg are left? ## a+b:kg of rice and flour; _+c:kg bought; _-d:kg left ## kg
During a sale, a coat that cost {$a} is {$b} cheaper. {N} also takes a hat for {$c}. ## How much does {N} pay for both? ## a-b:price of the coat; _+c:price of both ## money
A clown gives {a} balloons to each of {b} children. {c} balloons fly away. ## How many balloons do the children still have? ## a*b:balloons given; _-c:balloons left ## balloons
The sum of {a} and {b} is decreased by {c}. ## What is the result? ## a+b:sum; _-c:result ##
[Take|Consider] the product of {a} and {b} and add {c} to it. ## What do you get? ## a*b:product; _+c:result ##
A number is {b} more than {a} times {c}. ## What is the number? ## a*c:product; _+b:the number ##
From the product of {a} and {b} subtract the product of {c} and {d}. ## What is left? ## a*b:first product; c*d:second product; s1-s2:difference ##
If you double {a} and then take away {b}, ## what number do you get? ## 2*a:double; _-b:result ##
{N} thinks of the number {a}. {He} multiplies it by {b} and subtracts {c}. ## Which number does {he} get? ## a*b:product; _-c:result ##
"""
