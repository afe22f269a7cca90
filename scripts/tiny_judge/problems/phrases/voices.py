"""Frames in many voices: talk, notes, letters, school books, job life; the notation is that of ``wide.py``."""

VOICES = """
ok so my [sister|brother|roommate] ordered {a} [tacos|wings|dumplings] and i ordered {b}. we ate {c} together. what's left? ## how many are left ## a+b:ordered; _-c:left ## 
Inventory note: {a} [cartons|crates] received, {b} units in each. {c} units damaged in transit. ## Units available for sale? ## a*b:units received; _-c:units for sale ## units
Dear [teacher|Mrs. Hall], I counted {a} steps on my way to school and {b} steps on the way back, and I walked like that on {c} days. ## How many steps did I walk? ## a+b:steps a day; _*c:steps in all ## steps
Our [choir|band|team] needs {$a} for new [jackets|music stands]. So far {b} people have each given {$c}. ## How much is still missing? ## b*c:given so far; a-_:still missing ## money
The recipe on the back of the box makes {a} pancakes. We made it {b} times and burned {c}. ## How many pancakes could we serve? ## a*b:pancakes; _-c:pancakes to serve ## pancakes
[During|In] the storm {a} trees fell in the park. The city had planted {b} trees there, and volunteers later planted {c}. ## How many trees stand there today? ## b-a:trees after the storm; _+c:trees today ## trees
My grandfather was born when his mother was {a}. She was {b} when he got married, and he had his first child {c} years after that. ## How old was he when he became a father? ## b-a:his age at the wedding; _+c:his age as a father ## years
A nurse works {a} shifts of {b} hours this [week|month] and {c} shifts of {d} hours the next. ## How many hours does she work altogether? ## a*b:first hours; c*d:next hours; s1+s2:hours altogether ## hours
Each [train carriage|coach] has {a} seats. The train has {b} [carriages|coaches] and {c} people have no seat, while every seat is taken. ## How many people are on the train? ## a*b:seats; _+c:people ## people
A podcast has {a} episodes of {b} minutes. {N} listens to {c} minutes a day. ## After how many days has {he} heard everything? ## a*b:minutes in all; _/c:days ## days
Three [siblings|friends] put together {$a}, {$b} and {$c} for a present that costs {$d}. ## How much do they have left over? ## a+b:first two; _+c:together; _-d:left over ## money
Every morning the [ferry|tram] makes {a} trips, every afternoon {b}. ## How many trips does it make in {c} days? ## a+b:trips a day; _*c:trips ## trips
{N}'s garden has {a} beds. In every bed grow {b} lettuces. Rabbits eat {c} lettuces, and {N} gives half of the others to {his} neighbor. ## How many lettuces does the neighbor get? ## a*b:lettuces; _-c:lettuces left; _/2:for the neighbor ## lettuces
Parking costs {$a} for the first hour and {$b} for each further hour. {N} parks for one hour and {c} further hours. ## What does {he} pay? ## b*c:further hours; a+_:to pay ## money
At the start of the [season|year] the club had {a} members. {b} left in spring, {c} joined in summer, and {d} more joined in autumn. ## How many members are there at the end? ## a-b:after spring; _+c:after summer; _+d:at the end ## members
In a [spelling bee|chess club|science fair] there are {a} children from {b} schools, the same number from each. {c} schools go home early. ## How many children are still there? ## a/b:children from a school; _*c:children who left; a-_:children still there ## children
A printer prints {a} pages a minute. ## How many pages does it print in {b} minutes, if {c} pages are spoiled? ## a*b:pages printed; _-c:good pages ## pages
I sleep {a} hours on weekdays and {b} hours on each day of the weekend. ## How many hours do I sleep in a week? ## a*5:hours on weekdays; b*2:hours on the weekend; s1+s2:hours in a week ## hours
The [menu|lunch] for one person costs {$a}. For {b} people the restaurant takes {c%}% off the total. ## What do they pay? ## a*b:full price; _*c%:discount; s1-s2:to pay ## money
A water bottle holds {a.} liters. {N} fills it {b} times a day. ## How many liters does {he} drink in {c} days? ## a*b:liters a day; _*c:liters ## liters
{N} set a goal of {a} push-ups for the month. {He} did {b} a day for {c} days. ## How far is {he} from the goal? ## b*c:push-ups done; a-_:push-ups missing ## push-ups
We drove {a} km before noon. In the afternoon we drove {b} km less. ## How long was the whole drive? ## a-b:km in the afternoon; a+_:km in all ## km
My mom is {a}, my dad is {b} years older, and my [uncle|aunt] is {c} years younger than my dad. ## How old is my [uncle|aunt]? ## a+b:age of dad; _-c:age asked for ## years
A [ship|freighter] carries {a} containers. At the first port {b} are unloaded and {c} loaded, at the second port a third of those on board are unloaded. ## How many are unloaded at the second port? ## a-b:after unloading; _+c:on board; _/3:unloaded at the second port ## containers
Streaming costs {$a} a month, and the [sports|film] package {$b} on top. ## What do you pay for {c} months of both? ## a+b:a month; _*c:in all ## money
A [library|museum] opens at {a:} and closes {b} minutes later. ## When does it close? ## a+b:closing time ##
[Some|A group of] {a} pupils want to play in teams of {b}. ## How many teams can they form? ## a/b:teams ## teams
In the fridge: {a} eggs. Breakfast takes {b}, a cake takes {c}, and then somebody buys another {d}. ## Eggs now? ## a-b:after breakfast; _-c:after the cake; _+d:now ## eggs
"We have {a} chairs," said {N}, "but {b} guests are coming, and each table with {c} chairs that we borrow helps." They borrow {d} such tables. ## How many chairs do they have then? ## c*d:borrowed chairs; a+_:chairs then ## chairs
The score after the first half was {a} to {b}. In the second half the leading team made {c} more points. ## How many points did that team have? ## a+c:points ## points
A mother is {ax} as old as her [son|daughter], who is {b}. ## How old will the mother be in {c} years? ## a*b:age of the mother; _+c:her age then ## years
{a} [kids|scouts] each sold {b} boxes of cookies at {$c} a box. Half of the money goes to the camp. ## How much does the camp get? ## a*b:@boxes boxes sold; _*c:money; _/2:for the camp ## money
Paint comes in cans of {a} liters. {N} buys {b} cans and uses {c} liters for the [fence|shed]. {He} pours what is left into jars of {d} liters. ## How many jars are filled? ## a*b:liters bought; _-c:liters left; _/d:jars ## jars
[Question 3:|Part b)] A [farmer|grower] sells {f/} of his {a} melons on Friday and {b} on Saturday. ## How many has he sold? ## a~f:sold on Friday; _+b:sold ## melons
A [gym|pool] charges {$a} per visit. A card for {b} visits is {$c}. ## How much cheaper is the card than single visits? ## a*b:single visits; _-c:cheaper ## money
{N} types {a} words per minute. ## How long does {he} need for {b} words? ## b/a:minutes ## minutes
On the first of the month there was {$a} in the account. Rent took {$b}, groceries {$c}, and {$d} came in as wages. ## What is the balance? ## a-b:after rent; _-c:after groceries; _+d:balance ## money
[There's|We have] a shelf with {a} cans of soup, {b} cans of beans, and twice as many cans of corn as of beans. ## Total number of cans? ## b*2:cans of corn; a+b:soup and beans; s1+s2:cans ## cans
{N}'s phone battery was at {a} percent. It lost {b} percent an hour for {c} hours. ## What does it show now? ## b*c:percent lost; a-_:percent now ## percent
A [tailor|seamstress] needs {a.} m of cloth for a shirt. From {b} m she makes {c} shirts. ## How much cloth is left? ## a*c:m used; b-_:m left ## m
For the [wedding|party], {a} tables were set for {b} people each. {c%}% of the guests who were invited did not come, and every place had been for one guest. ## How many guests came? ## a*b:@guests guests invited; _*c%:guests missing; s1-s2:guests who came ## guests
Once upon a time a dragon had {a} gold coins. A knight took {b}, a thief took {c}, and the dragon found {d} in a cave. ## How many coins did the dragon have then? ## a-b:after the knight; _-c:after the thief; _+d:then ## coins
"""
