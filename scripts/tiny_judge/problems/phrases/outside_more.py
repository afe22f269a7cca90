"""More problems outside the judge's domain, ``question ## answer ## reference`` by sort.

The notation is that of ``outside.py``; besides, ``[p|q]`` in a question are alternatives, and an answer ``*`` stands for
steps of plain arithmetic drawn at random, so that the question alone tells that the problem is outside.
"""

SORTS = {
    "physics": r"""
[What|How much|How large a] force [acts on|is needed for|accelerates] a mass of {a} kg [with an acceleration of|accelerating at] {b} m/s^2? ## F = m·a = {a}·{b} = {c} N ## {c} N
A {a} kg [cart|sled|block|crate] [speeds up|accelerates] at {b} [m/s²|m/s^2|meters per second squared]. [Find|Calculate] the net force[ in newtons|]. ## * ## {c} N
[Using|Apply] Newton's second law[,|:] find the acceleration of a {a} kg object under a force of {b} N. ## a = F/m = {b}/{a} = {c} ## {c} m/s^2
How much [work|energy] is done when a force of {a} N moves a [box|body] {b} m? ## * ## {c} J
[What is|Find|Determine] the potential energy of a {a} kg [rock|ball|brick] {b} m above the ground. ## mgh = {a}*9.8*{b} ## {c} J
A [stone|coin|ball] is dropped from a [tower|cliff|bridge] {a} m high. How long [does it take to hit the ground|until it lands]? ## t = sqrt(2h/g) = {b} s ## {b} s
A [battery|source] of {a} V is connected to a resistor of {b} ohm. [What current flows?|Find the current in amperes.] ## I = U/R = {c} A ## {c} A
[{b}|Three|Two] resistors of {a} ohms each are connected in [series|parallel]. What is the [total|equivalent] resistance? ## * ## {c}
Resistors of {a} Ω and {b} Ω are [in series|in parallel]. Find the equivalent resistance. ## {a} + {b} = {c} ## {c} Ω
What power does a device draw at {a} volts and {b} amps? ## * ## {c} W
A [projectile|ball] is launched at {a} m/s at an angle of {b} degrees. What is its range? ## R = v² sin(2θ)/g ## {c} m
What is the [frequency|period] of a pendulum of length {a} cm? ## T = 2π sqrt(l/g) ## {b} s
A [car|train] of mass {a} kg moves at {b} m/s. What is its momentum? ## p = mv = {c} kg m/s ## {c}
The pressure of {a} N on an area of {b} m² is? ## * ## {c} Pa
[How fast|At what speed] does light travel in glass with a refractive index of 1.{a}? ## v = c/n ## {b} x 10^8 m/s
A satellite orbits at a height of {a} km. Find its orbital period. ## Kepler's third law ## {b} min
How long does [light|a radio signal|a laser pulse] need for {a} x 10^{b} m? ## t = d/c = {c} s ## {c} s
A [charge|point charge] of {a} μC sits {b} cm from another of {c} μC. Find the [force|electric force] between them. ## Coulomb's law: F = k q1 q2 / r^2 ## {d} N
How many joules are needed to heat {a} kg of [water|iron|copper] from {b} °C to {c} °C? ## Q = mcΔT ## {d} J
The half-life of an isotope is {a} years. What share is left after {b} years? ## (1/2)^({b}/{a}) ## 1/{c}
A spring with constant {a} N/m is compressed by {b} m. How much energy does it store? ## E = 1/2 k x² = {c} J ## {c} J
State [Newton's third law|Ohm's law|the first law of thermodynamics|Archimedes' principle]. ## Every action has an equal and opposite reaction. ## action equals reaction
What is the SI unit of [force|pressure|electric charge|magnetic flux|capacitance]? ## The newton. ## newton
A sound wave travels at 343 m/s. The echo returns after {a} s. How far away is the wall? ## 343 * {a} / 2 = {b} m ## {b} m
What is the terminal velocity of a skydiver with a mass of {a} kg? ## mg = 1/2 ρ v² C A ## {b} m/s
""",
    "chemistry": r"""
How many [grams|g] of [NaOH|CO2|CaCO3|glucose|H2SO4] are in {a} [moles|mol]? ## n·M = {a}·40 = {b} g ## {b} g
How many [moles|mol] are [in|contained in] {a} g of [NaCl|CO2|oxygen|iron|methane]? ## n = m/M = {a}/58.44 = {b} mol ## {b}
What is the molar mass of [H2O|CO2|NH3|CaCl2|C6H12O6]? ## 2*1 + 16 = 18 g/mol ## 18 g/mol
Balance the equation: [Fe + O2 -> Fe2O3|CH4 + O2 -> CO2 + H2O|Na + Cl2 -> NaCl|N2 + H2 -> NH3] ## Count the atoms on both sides. ## 4 Fe + 3 O2 -> 2 Fe2O3
[Calculate|What is|Find] the pH of a [{a} mM|0.{a} M] [HCl|NaOH|acetic acid] solution. ## pH = -log[H+] = {b} ## {b}
What volume does {a} mol of an ideal gas take at STP? ## V = n·22.4 = {b} L ## {b} L
How many [protons|electrons|neutrons] does [an atom of carbon|a chlorine atom|sodium|a nitrogen atom] have? ## It has {a}. ## {a}
What is the oxidation state of [Mn in KMnO4|S in H2SO4|Cr in Cr2O7^2-]? ## x - 8 + 1 = 0, x = +7 ## +7
{a} mL of 0.{b} M HCl are neutralised by {c} mL of NaOH. What is the concentration of the base? ## c1 V1 = c2 V2 ## 0.{d} M
What is the molarity of {a} g of sugar in {b} mL of water? ## M = n/V = {c} ## {c} M
Which element has atomic number {a}? ## It is the element with {a} protons. ## Ne
Name [CH3CH2OH|NaHCO3|CuSO4|Fe2O3]. ## ethanol ## ethanol
Is [sulfuric acid|ammonia|lemon juice|bleach] an acid or a base? ## an acid ## acid
How many atoms are in {a} g of [gold|carbon|silver]? ## n·N_A = {b} x 10^22 ## {b} x 10^22
What kind of bond holds [NaCl|a water molecule|diamond] together? ## an ionic bond ## ionic
""",
    "geometry": r"""
[Find|What is|Calculate] the area of a circle [with|of] [radius|diameter] {a}[ cm| m|]. ## A = π r² = {b}π ## {b}π
What is the circumference of a circle of radius {a}? ## 2πr = {b}π ## {b}\pi
A [triangle|right triangle] has [sides|legs] of {a} and {b}. [Find the third side.|How long is the hypotenuse?|What is its area?] ## sqrt({a}^2 + {b}^2) = {c} ## {c}
The [base|bottom side] of a triangle is {a} cm and its height is {b} cm. What is its area? ## * ## {c}
[What is|Find] the volume of a [cone|cylinder|pyramid] with radius {a} and height {b}. ## V = π r² h / 3 = {c}π ## {c}π
[What is|Determine] the [surface area|volume] of a [cube|sphere] with [edge|radius] {a} cm? ## 6·{a}² = {b} ## {b}
The angles of a triangle are in the ratio {a}:{b}:{c}. Find the [largest|smallest] one. ## {a}k + {b}k + {c}k = 180 ## {d}°
One angle of a [triangle|parallelogram|rhombus] is {a} degrees[ and another is {b} degrees|]. [Find the remaining angle.|What are the other angles?] ## 180 - {a} - {b} = {c} ## {c}
How many [sides|diagonals|vertices] does a [regular polygon with interior angle {a}°|dodecagon|hexagonal prism] have? ## * ## {b}
A ladder of {a} m leans against a wall, its foot {b} m away from it. How high does it reach? ## by Pythagoras, h² = {a}² - {b}² ## {c} m
The points A({a}, {b}) and B({c}, {d}) are given. Find the midpoint of AB. ## (({a}+{c})/2, ({b}+{d})/2) ## ({e}, {f})
Two [similar|congruent] triangles have sides {a} and {b}. The smaller one has area {c}. Find the area of the larger one. ## ratio squared ## {d}
Let ABC be a triangle with AB = {a}, BC = {b}, CA = {c}. Find the radius of its [incircle|circumcircle]. ## r = A/s ## {d}
In the figure, lines [l and m|AB and CD] are parallel. Angle 1 is {a}°. What is angle 2? ## alternate angles are equal ## {a}°
A [trapezoid|trapezium] has parallel sides {a} and {b} and height {c}. What is its area? ## ({a}+{b})/2*{c} = {d} ## {d}
A chord of length {a} is {b} from the center of a circle. Find the radius. ## r² = ({a}/2)² + {b}² ## {c}
The area of a square is {a}. What is [its diagonal|the length of its side]? ## sqrt({a}) ## {b}
A shadow of a {a} m pole is {b} m long. How tall is a tree with a shadow of {c} m? ## similar triangles: {a}/{b} = h/{c} ## {d} m
What is sin({a}°)[ + cos({b}°)|]? ## 1/2 ## 1/2
Find the equation of the circle with center ({a}, {b}) and radius {c}. ## ({x}-{a})^2 + ({y}-{b})^2 = {c}^2 ## ({x}-{a})^2+({y}-{b})^2={d}
An arc of a circle with radius {a} spans {b} degrees. [How long is it?|Find the area of the sector.] ## {b}/360·2π·{a} ## {c}π
""",
    "algebra": r"""
Solve {a}{x} [+|-] {b} = {c}. ## {a}{x} = {c} - {b}\n{x} = {d} ## {d}
[If|Given|Suppose] {a}{x} [+|-] {b} = {c}, [what is|find|determine] {x}[?|.] ## {a}{x} = {d}, {x} = {e} ## {x} = {e}
[What is|Find] {x} if {a}({x} [+|-] {b}) = {c}? ## {x} + {b} = {d}, {x} = {e} ## {e}
Solve {x}^2 [-|+] {a}{x} [+|-] {b} = 0[ for {x}|]. ## ({x}-{c})({x}-{d}) = 0 ## {x} = {c} or {x} = {d}
Solve the system: {x} + {y} = {a}, {x} - {y} = {b}. ## 2{x} = {c}, so {x} = {d}, {y} = {e} ## ({d}, {e})
{a}{x} + {b}{y} = {c} and {x} = {d}. Find {y}. ## {b}{y} = {e}, {y} = {f} ## {f}
[Expand|Multiply out|Simplify] ({x} [+|-] {a})^2. ## {x}^2 + {b}{x} + {c} ## {x}^2+{b}{x}+{c}
[Factor|Factorise|Factorize] {x}^2 + {a}{x} + {b}. ## ({x}+{c})({x}+{d}) ## ({x}+{c})({x}+{d})
[A number|Some number|A certain number] is [doubled|tripled|multiplied by {a}] and [increased|decreased] by {b}. The result is {c}. [Find|What is] the number[?|.] ## {a}{x} + {b} = {c}, {x} = {d} ## {d}
[Three|Two|Four|Five] consecutive [even |odd |]integers [add up to|have a sum of|sum to] {a}. [Find|What is] the [largest|smallest|middle] one. ## 3n + 3 = {a}, n = {b} ## {b}
The [sum|product] of two numbers is {a} and their [difference|ratio|quotient] is {b}. [Find the numbers.|What are they?] ## {x} + {y} = {a}, {x} - {y} = {b} ## {c}, {d}
{N} is {a} years older than [his|her] brother. Together they are {b}. How old is {N}? ## {x} + {x} - {a} = {b}, {x} = {c} ## {c}
In {a} years {N} will be [twice|three times] as old as [he|she] was {b} years ago. How old is [he|she] now? ## {x} + {a} = 2({x} - {b}) ## {c}
A [farm|yard|barn] has chickens and [cows|rabbits|pigs]. There are {a} heads and {b} legs. How many chickens are there? ## c + r = {a}, 2c + 4r = {b} ## {c}
{N} has {a} coins, all nickels and dimes, worth ${b}.{c}. How many dimes? ## 5n + 10d = ... ## {d}
A rectangle's length is {a} [more|less] than [twice|three times] its width. Its perimeter is {b}. Find the width. ## 2(w + 2w + {a}) = {b} ## {c}
What value of k makes {a}{x} + k = {b} have the solution {x} = {c}? ## k = {b} - {a}*{c} = {d} ## {d}
Let f({x}) = {a}{x} [+|-] {b}. [What is|Compute|Find] f({c})[?|.] ## f({c}) = {a}·{c} + {b} = {d} ## {d}
If f({x}) = {x}^2 + {a} and g({x}) = {b}{x}, find f(g({c})). ## g({c}) = {d}, f({d}) = {e} ## {e}
Evaluate {a}{x} + {b}{y} [for|when|if] {x} = {c} and {y} = {d}. ## {a}*{c} + {b}*{d} = {e} ## {e}
What is the slope of [the line |]{y} = {a}{x} [+|-] {b}? ## {a} ## {a}
Find the [inverse|domain|range|zeros] of f({x}) = ({x} - {a})/({x} + {b}). ## swap x and y ## ...
Solve |{x} - {a}| [<|=|>] {b}. ## {x} - {a} = {b} or {x} - {a} = -{b} ## {c}
Solve 2^{x} = {a}. ## take logarithms: {x} = log2({a}) ## {b}
log_{a}({b}) = ? ## {c} ## {c}
What is the {a}th term of the sequence {b}, {c}, {d}, ...? ## a_n = {b} + (n-1)·{e} ## {f}
[Find|What is|Compute] the sum of [all |]the [integers|even numbers|odd numbers|multiples of {b}] from 1 to {a}[.|?] ## n(n+1)/2 = {c} ## {c}
The ratio of [cats to dogs|red to blue cars|sugar to flour] is {a}:{b}. There are {c} [cats|red ones|cups in all]. How many of the other kind? ## {c}/{a}*{b} = {d} ## {d}
{x} is [directly|inversely] proportional to {y}. When {x} = {a}, {y} = {b}. Find {y} when {x} = {c}. ## {x}{y} = k ## {d}
After a discount of {a}% a [coat|phone|bike] costs ${b}. What was the original price? ## 0.{c}p = {b}, p = {d} ## ${d}
{N} can paint a [wall|fence|room] in {a} hours and {N}'s friend in {b} hours. How long do they need together? ## 1/{a} + 1/{b} = 1/t ## {c}/{d}
A [train|car|bus] leaves at {a} mph and another [one hour|two hours] later at {b} mph. When does the second catch up? ## {a}(t+1) = {b}t ## {c}
""",
    "calculus": r"""
[Evaluate|Compute|Calculate|Find] ∫_0^{a} {x}^{b} d{x}[.|] ## [{x}^{c}/{c}] from 0 to {a} = {d} ## {d}
[Evaluate|Compute|What is] the [definite |]integral of {a}{x}^{b} from {c} to {d}[?|.] ## F({x}) = {x}^{e}, F({d}) - F({c}) = {f} ## {f}
[What is|Find] the antiderivative of {a}{x}^2 + {b}? ## {c}{x}^3 + {b}{x} + C ## {c}{x}^3+{b}{x}+C
\int ({a}{x} + {b}) d{x} = ? ## {c}{x}^2 + {b}{x} + C ## {c}{x}^2+{b}{x}+C
[Differentiate|Find the derivative of|What is the derivative of] [f({x}) = |]{a}{x}^{b} [+|-] {c}{x}[.|?] ## {d}{x}^{e} + {c} ## {d}{x}^{e}+{c}
[Differentiate|Derive] [{x} sin {x}|ln({x})/{x}|e^({a}{x})|{x}^2 cos {x}|tan({a}{x})]. ## use the product rule ## ...
Find d{y}/d{x} [if|for] {y} = {a}{x}^{b} + {c}. ## d{y}/d{x} = {d}{x}^{e} ## {d}{x}^{e}
What is f''({x}) for f({x}) = {x}^{a}? ## {b}{x}^{c} ## {b}{x}^{c}
lim {x}→{a} ({x}^2 - {b})/({x} - {a}) = ? ## factor: ({x}-{a})({x}+{a})/({x}-{a}) → {c} ## {c}
Find the limit of (1 + {a}/n)^n as n goes to infinity. ## e^{a} ## e^{a}
[Find|Determine] the [critical points|local maximum|minimum|inflection point] of {x}^3 - {a}{x}^2 + {b}. ## 3{x}^2 - {c}{x} = 0 ## {x} = {d}
The position of a particle is s(t) = {a}t^3 - {b}t. [Find its acceleration at t = {c}.|What is its velocity at t = {c}?] ## s'(t) = {d}t^2 - {b} ## {e}
Find the area under the curve y = {x}^2 between {a} and {b}. ## integrate: {b}^3/3 - {a}^3/3 ## {c}
Solve y'' + {a}y = 0. ## characteristic equation r² + {a} = 0 ## y = A cos + B sin
What is the [tangent line|tangent] to {y} = {x}^2 at {x} = {a}? ## slope {b} ## {y} = {b}{x} - {c}
Does \sum_{n=1}^\infty \frac{1}{n} converge? ## No, it is the harmonic series. ## diverges
""",
    "numbers": r"""
What is {a}![?|] ## {a}! = {b} ## {b}
[Compute|Evaluate|Find|Calculate] {a} factorial. ## {a}·...·2·1 = {b} ## {b}
What is {a}^{b}[?|] ## {a}^{b} = {c} ## {c}
[Compute|Calculate|Find] {a}^2 + {b}^2. ## {c} + {d} = {e} ## {e}
What is {a} squared? ## * ## {b}
[What is|Find|Compute] the [square|cube] root of {a}? ## {b} ## {b}
sqrt({a}) = ? ## {b} ## {b}
[What is|Find] the remainder [of {L} divided by {b}|when {L} is divided by {b}|of {L} / {b}]? ## {L} = {b}*{c} + {d} ## {d}
[What is|Compute] {L} mod {b}[?|.] ## {L} - {b}*{c} = {d} ## {d}
[What is|Find] the [gcd|lcm|greatest common divisor|least common multiple|GCF|HCF] of {a} and {b}? ## Euclid: {c} ## {c}
[Is|Prove that] {L} [a prime number?|prime?|divisible by {a}?|a perfect square?] ## Check the divisors up to the root. ## no
[List|Find|Give] the [prime factors|prime factorization|divisors] of {L}. ## {L} = 2 · {a} · {b} ## 2·{a}·{b}
How many [divisors|factors] does {L} have? ## (1+1)(2+1) = {a} ## {a}
[What is|Compute|Add] {a}/{b} [+|-|*] {c}/{d}? ## = {e}/{f} ## {e}/{f}
[What is|Simplify|Reduce] {a}/{b}[ in lowest terms|as a mixed number]? ## {c}/{d} ## {c}/{d}
[Convert|Write|Express] {a}/{b} [to|as] a [decimal|percentage]. ## {c}.{L} ## {c}.{L}
What is {a} - {L}? ## -{b} ## -{b}
[Compute|What is|Evaluate] -{a} [+|-|*] {b}[.|?] ## -{c} ## -{c}
What is (-{a}) [*|+|-] (-{b})? ## {c} ## {c}
[Round|Truncate] {a}.{L} to [one decimal place|the nearest tenth|the nearest whole number|two significant figures]. ## {a}.{b} ## {a}.{b}
[Write|Convert|Express] {L} [in|to] [binary|hexadecimal|base {b}|Roman numerals|words|octal]. ## 1011010 ## 1011010
Convert 1011{a} from binary to decimal. ## 8 + 2 + 1 = 11 ## 11
[Multiply|What is] {L}{a} [by|times] {L}? ## {L}{b}{L} ## {L}{b}{L}
[Add|Sum] {L}{L} and {L}{a}. ## {L}{b} ## {L}{b}
What is {L},{L} [+|-] {L},{L}? ## {L},{L} ## {L},{L}
{L}{L} × {a} = ## {L}{L}{b} ## {L}{L}{b}
[What is|Find] the [last digit|units digit|digit sum] of {a}^{L}? ## the pattern repeats every 4 ## {b}
[What comes next|Find the next term|Continue the sequence]: {a}, {b}, {c}, {d}, ... ## the difference grows ## {e}
[Order|Sort|Arrange] from smallest to largest: {a}, -{b}, {c}/{d}, 0.{L} ## -{b}, {c}/{d}, ... ## -{b}
[What is|Find] the [mean|median|mode|variance|standard deviation|range] of {a}, {b}, {c}, {d}, {e}, {f}, {a}? ## sorted: ... ## {c}
Which is [bigger|larger|smaller], {a}/{b} or {c}/{d}? ## cross-multiply ## {a}/{b}
How many [zeros|digits] are [at the end of|in] {a}^{b}? ## {c} ## {c}
""",
    "chance": r"""
A [bag|box|jar|drawer] [contains|has|holds] {a} [red|white|green] and {b} [blue|black|yellow] [marbles|socks|balls|candies]. [One is drawn at random.|You pick one without looking.] What is the probability that it is [red|white|green]? ## {a}/({a}+{b}) ## {a}/{c}
[What is|Find] the probability of [rolling a {a} with two dice|getting {a} heads in {b} tosses|drawing an ace|picking a vowel]? ## favourable/possible = {c}/{d} ## {c}/{d}
[In how many ways|How many ways] can [you arrange|one order|we seat] {a} [books|people|letters|students]? ## {a}! = {b} ## {b}
How many [committees|teams|groups] of {a} can be [formed|chosen|made] from {b} people? ## C({b},{a}) = {c} ## {c}
[How many|Count the] [anagrams|arrangements] [has|of] the word "[BANANA|LEVEL|{N}]"? ## n!/(2!2!) ## {a}
A [password|code|PIN] has {a} [digits|letters]. How many are possible? ## 10^{a} ## {b}
[A fair coin|Two fair coins|A die] is [tossed|rolled] {a} times. What is the [chance|probability] of [no heads|at least one six|exactly {b} heads]? ## 1 - (5/6)^{a} ## {c}/{d}
If P(A) = 0.{a} and P(B) = 0.{b} are independent, find P(A and B). ## multiply: 0.{c} ## 0.{c}
A test is {a}% accurate and {b}% of people are ill. What is the probability that a positive person is ill? ## Bayes ## 0.{c}
How many [handshakes|games|matches] are there if {a} [people|teams] all [meet|play each other] once? ## {a}({a}-1)/2 = {b} ## {b}
What is the expected [value|number] of [heads in {a} tosses|a roll of a die with {a} faces]? ## {b}.5 ## {b}.5
How many routes lead from the corner (0,0) to ({a},{b}) on a grid? ## binomial ## {c}
{a} red, {b} blue and {c} green balls are in an urn. Two are drawn. P(both red)? ## {a}/{d} · ... ## {e}/{f}
""",
    "logic": r"""
All [roses|cats|squares] are [flowers|animals|rectangles]. Some [flowers|animals|rectangles] [fade|sleep|are red]. [Does it follow that some roses fade?|What can we conclude?] ## No, that does not follow. ## no
{N} is taller than [Ben|Ada], and [Ben|Ada] is taller than [Cy|Eve]. Who is the [shortest|tallest]? ## {N} ## {N}
If it rains, the street is wet. The street is [wet|dry]. [Did it rain?|What follows?] ## That cannot be said. ## unknown
Three boxes are labelled wrongly. Which one do you open first? ## the mixed one ## mixed
What is the negation of "all [birds|students|numbers] are [black|late|even]"? ## not all are ## some are not
Is the statement "p or not p" a tautology? ## Yes, by the truth table. ## yes
On an island live knights and knaves. A says: "We are both knaves." What is A? ## a knave ## knave
Simplify the Boolean expression [(A AND B) OR (A AND NOT B)|NOT (A OR NOT B)]. ## A ## A
A [snail|frog] climbs {a} m a day in a well {b} m deep and slips back {c} m a night. On which day does it get out? ## ({b} - {a}) / ({a} - {c}) + 1 ## {d}
A clock shows [3:15|{a}:30|noon]. What is the angle between its hands? ## each hour is 30° ## {b}°
What day [of the week |]is it {a} days after [Monday|Friday]? ## {a} mod 7 = {b} ## Tuesday
[Yesterday|Two days ago] was [Sunday|Tuesday]. What day will it be in {a} days? ## count on ## Friday
Rearrange the letters of "[listen|silent|{N}]" to form another word. ## listen - silent ## silent
Find the odd one out: [apple, pear, carrot, plum|red, green, seven, blue|2, 3, 5, 9]. ## carrot ## carrot
[Cat is to kitten|Hot is to cold|Hand is to glove] as [dog is to|up is to|foot is to] what? ## puppy ## puppy
Two [fathers|mothers] and two [sons|daughters] catch {a} fish each, yet there are only three people. How many fish? ## {a}*3 = {b} ## {b}
""",
    "knowledge": r"""
[What is|Name] the capital of [Spain|Japan|Canada|Egypt|Brazil|Kenya]? ## It is Madrid. ## Madrid
[Who wrote|Who is the author of] [Hamlet|War and Peace|Don Quixote|1984|The Odyssey]? ## Tolstoy ## Tolstoy
[Who|Which scientist] [discovered|invented|developed] [penicillin|the telephone|radium|the law of gravity|the light bulb]? ## It was discovered in 19{a}. ## Fleming
In [what|which] year [did World War I begin|did Columbus reach America|was the moon landing|did the Berlin Wall fall]? ## in 1914 ## 1914
[How many|Count the] [planets are in the solar system|continents are there|strings has a violin|legs does a spider have|players are in a football team|states has the USA]? ## There are {a}. ## {a}
[How high|How tall] is [Mount Everest|the Eiffel Tower|Kilimanjaro]? ## about {L} m ## {L} m
How far is the [Moon|Sun] from the Earth? ## {L},000 km ## {L},000 km
What is the [largest|smallest|deepest|longest] [ocean|country|lake|river|desert] in the world? ## the Pacific ## Pacific
Which [organ|organelle|gland] [produces insulin|makes energy|filters the blood|carries out photosynthesis]? ## the pancreas ## pancreas
What does [DNA|NASA|HTML|GDP|UNESCO] stand for? ## deoxyribonucleic acid ## deoxyribonucleic acid
[What is|Give] the [plural|past tense|comparative] of "[mouse|run|good|child|write]"? ## mice ## mice
[Translate|Put] "[thank you|I am hungry|the red house|where is the station]" into [German|French|Italian|Latin]. ## danke ## danke
What is a synonym [of|for] "[happy|quick|brave|large]"? ## glad ## glad
[Rewrite|Change] in [passive|active] voice: [The dog bit the man.|Mary wrote the letter.] ## The man was bitten by the dog. ## The man was bitten by the dog.
[Correct|Fix] the [grammar|sentence]: [He go to school.|They was late.|She don't like it.] ## He goes to school. ## He goes to school.
[Summarize|Give a summary of] [the plot of Hamlet|the French Revolution|the text above|this article] in [two|three] sentences. ## It began in 1789. ## ...
[Write|Compose] a [poem|limerick|short story|slogan|cover letter] about [a dragon|autumn|coffee|{N}]. ## Once there was a ... ## (open)
[Is|Are] [a tomato|a whale|bats|a spider] [a fruit|a fish|birds|an insect]? ## No. ## no
[Why|How] [do leaves turn red|do airplanes fly|is the sea salty|do cats purr|do vaccines work]? ## Because of a chemical process. ## ...
[What is|Explain] the [difference between weather and climate|theory of relativity|water cycle|greenhouse effect|separation of powers]? ## One is short-term. ## ...
[True or false|Right or wrong]: [the Sun is a star|sharks are mammals|Sydney is the capital of Australia|water boils at {a} °C]. ## false ## false
Who won the [World Cup|Nobel Prize in Literature|Olympic gold medal in the marathon] in 19{a}? ## I think it was Brazil. ## Brazil
What is the boiling point of [water|ethanol|nitrogen] in [kelvin|Fahrenheit|degrees Celsius]? ## 100 ## 373
What sentiment has this review: "[The food was awful.|Great service, will come again!|It broke after {a} days.]" ## negative ## negative
Extract the names from: "{N} met Bob on Friday at {a}." ## {N}, Bob ## {N}, Bob
What is the best way to [learn guitar|cook rice|lose weight|save money]? ## Practice every day. ## ...
Plan a {a}-day trip to [Rome|Tokyo|Iceland] for {b} people. ## Day 1: arrive ... ## (open)
Recommend {a} books about [space|history|cooking]. ## 1. Cosmos ## (open)
""",
    "code": r"""
[Write|Implement|Give me] a [function|method|program|script] in [Python|JavaScript|Rust|Java|C|Go] that [reverses a string|sorts a list|checks whether a number is prime|computes the {a}th Fibonacci number|counts words]. ## def f(s): return s[::-1] ## f
What [does|will] `[len([1, 2, {a}])|max({a}, {b})|"ab" * {a}|sum(range({a}))|{a} // {b}|{a} % {b}]` [return|print|evaluate to]? ## {c} ## {c}
[What is|Give] the [time|space] complexity of [quicksort|merge sort|a hash lookup|bubble sort|depth-first search]? ## O(n log n) ## O(n log n)
[Write|Give] [an SQL query|a regex|a shell command] that [finds all users older than {a}|matches an email address|lists the {a} largest files|deletes duplicates]. ## SELECT * FROM users WHERE age > {a} ## SELECT
x = {a}; y = x + {b}; print(y * 2). What is printed? ## {a} + {b} = {c}, times 2 is {d} ## {d}
for i in range({a}): total += i. What is total at the end? ## 0+1+... = {b} ## {b}
What is a [pointer|closure|race condition|deadlock|stack overflow|monad]? ## A variable that holds an address. ## ...
Why does this [crash|fail|loop forever]? while True: x = x + {a} ## There is no exit condition. ## infinite loop
How do I [install a package with pip|undo the last commit|center a div|exit vim|parse JSON in Python]? ## pip install name ## pip install
How many [bits|bytes] are [needed for|in] {a} [different values|kilobytes|integers of 32 bits]? ## log2({a}) = {b} ## {b}
What is [0x{a}|0b101|0o{a}] in decimal? ## 16*{b} + {c} = {d} ## {d}
""",
    "units": r"""
[Convert|Express] {a} [miles|feet|yards|inches|light years] [to|in] [kilometers|meters|centimeters]. ## {a} * 1.609 = {b} ## {b}
How many [kilometers|meters|cm|feet] [is|are] {a} [miles|feet|inches|yards]? ## {a} × 0.3048 = {b} ## {b}
[Convert|What is] {a} [degrees |°|° ]Fahrenheit [to|in] Celsius[.|?] ## ({a} - 32)·5/9 = {b} ## {b}
[Convert|What is] {a} °C in [°F|kelvin]? ## {a}·1.8 + 32 = {b} ## {b}
How many [pounds|ounces|stones] [is|are] {a} [kg|grams|kilograms]? ## {a} * 2.205 = {b} ## {b}
[Convert|Change] {a} [km/h|mph|knots] to [m/s|km/h]. ## {a}/3.6 = {b} ## {b} m/s
[Convert|Express] {a} [square meters|hectares|acres] [to|in] [square feet|acres|square kilometers]. ## {a}*10.764 = {b} ## {b}
[How many|Convert to] [liters|gallons|cups|milliliters]: {a} [gallons|pints|tablespoons|cubic feet] ## {a}*3.785 = {b} ## {b}
{a} [yen|rupees|euros|pesos] are how many dollars at a rate of 0.{L}? ## {a} × 0.{L} = {b} ## {b}
[Convert|Express] {a} [radians|degrees|gradians] [to|in] [degrees|radians]. ## {a}·180/π ## {b}
How many [calories|joules|watts] are {a} [kilojoules|kWh|horsepower]? ## {a}*0.239 = {b} ## {b}
What is {a}:{b} pm in [24-hour time|UTC|New York if it is in London]? ## 12 + {a} = {c} ## {c}:{b}
""",
    "finance": r"""
[${L}|{L} dollars|€{L}] [is invested|are put into a bank|grows] at {a}% [compound interest|interest compounded yearly|per year compounded monthly] for {b} years. [How much is it then?|Find the final amount.] ## {L}(1 + 0.0{a})^{b} = {c} ## {c}
A loan of ${L}000 [runs|is paid back] over {a} years at {b}%. What is the monthly payment? ## annuity formula ## ${c}
What is the present value of ${L} in {a} years at {b}%? ## {L}/(1.0{b})^{a} ## {c}
A stock [rose|fell] by {a}% and then [fell|rose] by {b}% every year for {c} years. What is the total return? ## (1.{a})^{c} ... ## {d}%
How long does it take for money to double at {a}%? ## ln 2 / ln 1.0{a} ## {b} years
A [machine|car] worth ${L}00 loses {a}% of its value each year. What is it worth after {b} years? ## {L}00·(0.{c})^{b} ## {d}
What is the [IRR|net present value|Sharpe ratio|beta] of the following cash flows: -{L}, {a}, {b}, {c}? ## NPV = sum ... ## {d}
What is the difference between a stock and a bond? ## A stock is a share. ## ...
""",
    "advanced": r"""
[Prove|Show] that [there are infinitely many primes|sqrt({a}) is irrational|n^2 + n is even for every n|every tree has n - 1 edges|the set of reals is uncountable]. ## Suppose not. Then ... a contradiction. ## proof
[Let|Suppose] a_1 = {a} and a_n = {b}a_{n-1} + {c}[.| for n > 1.] Find a_{d}. ## {a}, {e}, {f}, ... ## {e}
[Find|Determine|Compute] the [eigenvalues|determinant|inverse|rank|trace] of the matrix (({a}, {b}), ({c}, {d})). ## det = {a}·{d} - {b}·{c} = {e} ## {e}
How many [positive integers|integers|primes] [less than|below|up to] {L} are [divisible by {a}|coprime to {b}|perfect squares]? ## floor({L}/{a}) = {b} ## {b}
Find all [integers|real numbers|positive integers] {x} [such that|with] {x}^2 - {a}{x} [<|=|>] {b}. ## complete the square ## {c}
[What is|Compute] \frac{{a}!}{{b}!}[?|.] ## {c} ## {c}
Compute \sum_{k=1}^{{a}} k^2. ## n(n+1)(2n+1)/6 = {b} ## {b}
Find the [coefficient|constant term] of {x}^{a} in ({x} + {b})^{c}. ## binomial theorem ## {d}
Let \omega be a [cube|fifth] root of unity. Compute 1 + \omega + \omega^2. ## 0 ## 0
If \sin {x} = \frac{{a}}{{b}}, what is \cos 2{x}? ## 1 - 2 sin² ## {c}/{d}
Simplify \frac{\sqrt{{a}}}{\sqrt{{b}}}. ## \sqrt{{c}} ## \sqrt{{c}}
[Compute|Simplify] ({a} + {b}i)({c} - {d}i). ## {e} + {f}i ## {e}+{f}i
Find the angle between the vectors ({a}, {b}) and ({c}, {d}). ## cos θ = ... ## {e}°
Let p be a prime [greater|larger] than {a}. Show that p^2 - 1 is divisible by 24. ## p = 6k ± 1 ## proof
[Find|What is] the [minimum|maximum] of {x}^2 + {y}^2 subject to {x} + {y} = {a}. ## by symmetry {x} = {y} ## {b}
A function f: R -> R satisfies f({x} + {y}) = f({x}) + f({y}) and f(1) = {a}. Find f({b}). ## f(n) = n f(1) ## {c}
Two players alternately take 1 to {a} stones from a pile of {b}. Who wins? ## multiples of {c} lose ## the first
""",
}

STEPS = """
{a} * {b} = {v}
{a} + {b} = {v}
{a} - {b} = {v}
{a}/{b} = {v}
{a} × {b} = {v}
{v} + {c} = {w}
{v} - {c} = {w}
{v} * {c} = {w}
= {v}
So we get {v}.
The result is {v}.
We have {a} and {b}.
Using the formula, {a} · {b} = {v}.
Multiply {a} by {b} to get {v}.
That makes {w}.
First: {a} x {b} = {v}
Step 1: {a} + {b} = {v}
"""
