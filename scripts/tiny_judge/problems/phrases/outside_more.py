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
[What|How much] power does a [heater|motor|lamp|kettle] [use|draw|consume] at {a} V and {b} A? ## P = U·I = {a}·{b} = {c} W ## {c} W
How much electrical energy does a {a} W [heater|bulb] use in {b} hours? ## * ## {c} kWh
A [kettle|toaster] takes {a} amps from a {b} volt outlet. What is its power in watts? ## {a} * {b} = {c} ## {c}
[An|The] echo of a [shout|clap] comes back after {a} seconds. How far is the cliff, if sound travels at 340 m/s? ## * ## {b} m
Thunder is heard {a} seconds after the lightning. How far away was it? ## {a} * 340 = {b} ## {b} m
Sound travels at {L} m/s. How long does it need for {a} km? ## {a}/{L} = {b} ## {b} s
What is the weight in newtons of a [man|rock|bag] with a mass of {a} kg? ## {a} * 10 = {b} ## {b} N
A force of {a} N acts on a {b} kg [block|cart]. What is the acceleration? ## {a}/{b} = {c} ## {c} m/s²
A [cyclist|runner|skater] speeds up from {a} m/s to {b} m/s in {c} s. What is the average acceleration? ## ({b} - {a})/{c} = {d} ## {d}
A lever has arms of {a} cm and {b} cm. A weight of {c} N hangs on the short arm. Which force balances it? ## {a} * {c} = {b} * F ## {d} N
A gear with {a} teeth drives one with {b} teeth. The first turns {c} times a minute. How fast does the second turn? ## {a}*{c}/{b} = {d} ## {d}
The density of [iron|gold|oil|ice] is {a}.{b} g/cm³. What is the mass of {c} cm³? ## * ## {d} g
A stone of {a} g has a volume of {b} mL. Does it float in water? ## {a}/{b} = {c} ## no
How deep must a diver go for a pressure of {a} bar? ## {a} - 1 = {b}, times 10 = {c} ## {c} m
What [current|voltage|resistance] results from {a} volts and {b} ohms? ## {a}/{b} = {c} ## {c}
A fuse blows at {a} A. How many {b} W lamps can run on {c} V? ## {a} * {c} = {d} ## {e}
[A pulley|A crane] lifts {a} kg by {b} m in {c} s. What is its power? ## * ## {d} W
What is the efficiency of a machine that takes in {a} J and gives out {b} J of useful work? ## {b}/{a} ## {c}%
A ball of {a} kg at {b} m/s hits a resting ball of {c} kg and they stick together. How fast do they move? ## {a}*{b} = {d}, /{e} ## {f} m/s
A wheel of radius {a} cm turns {b} times per second. What is the speed of a point on the rim? ## 2π·{a}·{b} ## {c}
A light year is how many kilometers, if light moves at 300,000 km/s? ## * ## 9.46 trillion
How many [volts|batteries of 1.5 V] are needed in series for {a} V? ## {a}/1.5 = {b} ## {b}
Water of {a} °C is mixed with the same amount at {b} °C. What is the final temperature? ## ({a} + {b})/2 = {c} ## {c} °C
[A gas|Air] is compressed from {a} L to {b} L at constant temperature. The pressure was {c} kPa. What is it then? ## p1 V1 = p2 V2 ## {d} kPa
Which colour of light has the [longest|shortest] wavelength? ## red ## red
Does a heavy ball fall faster than a light one in a vacuum? ## No, both fall alike. ## no
A rocket burns {a} kg of fuel a second with an exhaust speed of {b} m/s. Find the thrust. ## * ## {c} N
[At what|What] angle does the light leave, when it hits a mirror at {a} degrees? ## {a} degrees, by reflection ## {a}
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
How many atoms are in one molecule of [glucose|water|ammonia|methane]? ## 6 + 12 + 6 = 24 ## 24
A [solution|drink] of {a} mL contains {b}% alcohol. How much pure alcohol is that by mass? ## * ## {c} g
An atom has {a} protons and {b} neutrons. What is its mass number? ## {a} + {b} = {c} ## {c}
An ion has {a} protons and {b} electrons. What is its charge? ## {a} - {b} = {c} ## +{c}
How many electrons fit into the [first|second|third] shell? ## 2 * 2^2 = 8 ## 8
How much does {a} mol of [water|carbon|helium] weigh? ## {a} * 18 = {b} ## {b} g
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
The [volume|surface] of a cube with edges of {a} is? ## * ## {b}
Two angles on a straight line are {a}° and x. What is x? ## 180 - {a} = {b} ## {b}
How many degrees are the angles of a [pentagon|quadrilateral|triangle] together? ## 540 ## 540
How far apart are ({a}, 0) and (0, {b})? ## sqrt({a}^2 + {b}^2) ## {c}
Reflect the point ({a}, {b}) in the x-axis. ## ({a}, -{b}) ## ({a}, -{b})
A map has a scale of 1:{L}00. Two towns are {a} cm apart on it. How far is that really? ## {a} * {L} = {b} ## {b} m
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
[N|n] + {a} = {b}. What is [N|n]? ## {b} - {a} = {c} ## {c}
{a} + ? = {b} ## {b} - {a} = {c} ## {c}
Fill in the blank: {a} x ___ = {b} ## {b} / {a} = {c} ## {c}
Which number must be added to {a} to get {b}? ## {b} - {a} = {c} ## {c}
If I multiply my age by {a} and add {b}, I get {c}. How old am I? ## ({c} - {b})/{a} = {d} ## {d}
{N} has some [coins|cards|eggs]. After losing {a} and doubling the rest, there are {b}. How many were there at first? ## {b}/2 + {a} = {c} ## {c}
[Half|A third|A quarter] of a number is {a}. What is the number? ## {a} * 4 = {b} ## {b}
{a}% of a number is {b}. What is the number? ## {b} / 0.{a} = {c} ## {c}
{a} is what percent of {b}? ## {a}/{b} = 0.{c} ## {c}%
By what percent did the price change from ${a} to ${b}? ## ({b} - {a})/{a} ## {c}%
{N} and {N}'s twin are together {a} years old. In how many years will they be {b}? ## {b} - {a} = {c}, /2 ## {d}
[Two|Three] pens and a book cost ${a}; a pen and a book cost ${b}. What does a pen cost? ## {a} - {b} = {c} ## ${c}
The average of {a}, {b} and an unknown number is {c}. What is that number? ## 3*{c} = {d}, - {a} - {b} ## {e}
After how many [weeks|months] does {N}, who has ${a} and saves ${b}, have as much as a friend with ${c} who saves ${d}? ## {c} - {a} = {e} ## {f}
Twice a number [plus|minus] {a} is {b}. [Find it.|Which number is it?] ## ({b} - {a})/2 = {c} ## {c}
A rectangle has a perimeter of {a} and one side of {b}. How long is the other? ## ({a} - 2*{b})/2 = {c} ## {c}
Write an expression for the cost of {x} tickets at ${a} each plus a fee of ${b}. ## {a}{x} + {b} ## {a}{x}+{b}
Is ({a}, {b}) a solution of {y} = {c}{x} - {d}? ## {c}*{a} - {d} = {e} ## no
Collect like terms: {a}{x} + {b}{y} - {c}{x} ## ({a}-{c}){x} + {b}{y} ## {d}{x}+{b}{y}
Rearrange {y} = {a}{x} + {b} for {x}. ## {x} = ({y} - {b})/{a} ## ({y}-{b})/{a}
What is the {y}-intercept of {y} = {a}{x} - {b}? ## -{b} ## -{b}
If {a} * {x} = {b} * {y} and {x} + {y} = {c}, find {x}. ## substitute ## {d}
A cyclist and a walker start together. The cyclist does {a} km/h, the walker {b}. When are they {c} km apart? ## {c}/({a} - {b}) = {d} ## {d} h
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
[Compute|What is|Evaluate] -{a} * {b}[.|?] ## -{c} ## -{c}
What is (-{a}) [*|times] (-{b})? ## {c} ## {c}
[Round|Truncate] {a}.{L} to [one decimal place|the nearest tenth|the nearest whole number|two significant figures]. ## {a}.{b} ## {a}.{b}
[Write|Convert|Express] {L} [in|to] [binary|hexadecimal|base {b}|Roman numerals|words|octal]. ## 1011010 ## 1011010
Convert 1011{a} from binary to decimal. ## 8 + 2 + 1 = 11 ## 11
[Multiply|What is] {L}{a} [by|times] {L}? ## {L}{b}{L} ## {L}{b}{L}
{L}{L} × {a} = ## {L}{L}{b} ## {L}{L}{b}
[What is|Find] the [last digit|units digit|digit sum] of {a}^{L}? ## the pattern repeats every 4 ## {b}
[What comes next|Find the next term|Continue the sequence]: {a}, {b}, {c}, {d}, ... ## the difference grows ## {e}
[Order|Sort|Arrange] from smallest to largest: {a}, -{b}, {c}/{d}, 0.{L} ## -{b}, {c}/{d}, ... ## -{b}
[What is|Find] the [median|mode|variance|standard deviation|range] of {a}, {b}, {c}, {d}, {e}, {f}, {a}? ## sorted: ... ## {c}
Which is [bigger|larger|smaller], {a}/{b} or {c}/{d}? ## cross-multiply ## {a}/{b}
How many [zeros|digits] are [at the end of|in] {a}^{b}? ## {c} ## {c}
What is the [next|following|missing] number in the [pattern|series|sequence]: {a}, {b}, {c}, ...? ## the rule is +{d} ## {e}
Complete the pattern: {a}, {b}, __, {c} ## halfway between ## {d}
[Which|What] comes next: 1, 4, 9, 16, ...? ## 5 squared is 25 ## 25
Is {a} [odd or even|even|a multiple of {b}|a square number]? ## {a} = 2·{b} ## even
[Name|What is] the [smallest|largest] prime [above|below|greater than|less than] {a}. ## {b} ## {b}
What [is|are] the common factors of {a} and {b}? ## 1, 2 ## 1, 2
Write {a} as a product of primes. ## 2 · {b} ## 2·{b}
What is the place value of {b} in {L}{b}? ## ones ## ones
What is the [sum|product] of the digits of {L}? ## {a} + {b} = {c} ## {c}
[Put|Write] {L}, {a}, {b} and {c} in order[, smallest first|]. ## {a}, {b}, {c}, {L} ## {a}, {b}, {c}, {L}
[Estimate|About how much is] {a} x {b}[ by rounding|]. ## {c} x 10 = {d} ## {d}
Which is [greater|smaller]: 0.{a} or 0.{L}? ## compare digits ## 0.{L}
What is 1/{a} as a decimal? ## 0.{L} ## 0.{L}
[Write|Turn] {a}.{b} [as|into] a fraction. ## {a}{b}/100 ## {a}{b}/100
[What is|Work out] {a} 1/2 [+|-] {b} 3/4? ## {c} 1/4 ## {c} 1/4
How many [thirds|quarters|eighths] are there in {a} 1/2? ## {b} ## {b}
[What is|Find] {a} cubed[?|.] ## {a} * {a} * {a} = {b} ## {b}
2 to the power of {a}[?| =] ## * ## {b}
Which whole number is closest to sqrt({a})? ## {b} ## {b}
How many times does the digit {a} appear from 1 to {L}? ## {b} ## {b}
How many [even|odd] numbers are there between {a} and {L}? ## ({L} - {a})/2 = {b} ## {b}
Write the [Roman|binary] number [XIV|MCMX|1101|10010] in ordinary digits. ## {a} ## {a}
Write [three thousand and {a}|two million five|a quarter of a million] in digits. ## 3{L} ## 3{L}
What is the [mode|middle value|spread] of {a}, {b}, {a}, {c}, {d}? ## {a} occurs twice ## {a}
What is {a} divided by {b}, with remainder? ## {c} remainder 1 ## {c} R 1
{L} cookies are packed in boxes of {a}. How many are left over? ## {L} = {a}*{b} + {c} ## {c}
{a} / 0 = ? ## undefined ## undefined
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
[A spinner|A wheel] has {a} equal parts, {b} of them red. What is the chance of [red|not red]? ## {b}/{a} ## {b}/{a}
How likely is it to draw [a king|a heart|a red card] from a deck of cards? ## 4/52 = 1/13 ## 1/13
A class has {a} girls and {b} boys. One child is picked at random. What is the probability that it is a girl? ## {a}/({a} + {b}) = {c} ## {c}
In a raffle of {L} tickets {N} has {a}. What is {N}'s chance to win? ## {a}/{L} ## {a}/{L}
It rains on {a}% of the days. What is the chance of two dry days in a row? ## (1 - 0.{a})^2 ## 0.{b}
How many ways are there to [pick|choose] a captain and a goalkeeper from {a} players? ## {a} * {b} = {c} ## {c}
How many codes of {a} digits have no digit twice? ## 10*9*8 = {b} ## {b}
[Eight|Ten|{a}] runners race. In how many ways can gold, silver and bronze go? ## {a}·{b}·{c} = {d} ## {d}
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
A [snail|worm|beetle|climber] goes up {a} [m|feet|cm] by day and down {b} by night. The [wall|pole|tree] is {c} high. After how many days is it at the top? ## ({c} - {a})/({a} - {b}) + 1 = {d} ## {d}
[A frog|A toad] in a {a} foot well jumps {b} feet and slides {c} feet. How many jumps until it is out? ## {b} - {c} = {d} a jump ## {e}
{N} has {a} brothers and each brother has one sister. How many children are there? ## {a} + 1 = {b} ## {b}
If {a} cats catch {a} mice in {a} minutes, how many cats catch {b} mice in {b} minutes? ## {a} cats ## {a}
A doctor gives you {a} pills and says to take one every half hour. How long do they last? ## {a} - 1 = {b} halves ## {c} hours
How many months have 28 days? ## All of them. ## 12
You overtake the second runner in a race. Which place are you in? ## second ## second
A farmer has {a} sheep, and all but {b} die. How many are left? ## {b} ## {b}
It takes {a} minutes to cut a log into {b} pieces. How long for {c} pieces? ## {b} - 1 = {d} cuts ## {e}
A lily pad doubles every day and covers the pond on day {a}. When is half covered? ## day {b} ## {b}
{N} sits between Ana and Ben. Ben is not at the end. Who sits where? ## Ana, {N}, Ben ## Ana
Every [blip|dax] is a [wug|fep]. No [wug|fep] is red. Can a [blip|dax] be red? ## no ## no
Which statement is false: (1) one of these is false (2) two of these are false? ## the second ## 2
In {N}'s family the grandfather, two fathers and two sons are only {a} people. How? ## one is both ## three generations
{a} hours ago it was [Monday|Friday] {b} o'clock. What time is it now? ## count forward ## {c} o'clock
Yesterday's tomorrow is [Sunday|Tuesday]. What day is today? ## Sunday ## Sunday
What is the angle of the hands at {b}:{a}? ## {a} * 6 = {c} ## {c}°
A bat and a ball cost $1.{a} together, and the bat costs $1 more than the ball. What does the ball cost? ## (1.{a} - 1)/2 ## 0.{b}
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
How many [legs|wings|eyes] has a [spider|bee|crab|centipede]? ## It has {a}. ## {a}
How many [players|strings|keys|squares] has a [volleyball team|guitar|piano|chess board]? ## {a} ## {a}
How many [letters|vowels] does the word "[banana|rhythm|{N}]" have? ## {a} letters ## {a}
How many [days|weeks] are in [a leap year|February]? ## There are {a}. ## {a}
How many [moons|rings] has [Mars|Saturn|Jupiter]? ## {a} ## {a}
[What|Which] [holiday|festival] is on [25 December|31 October|4 July]? ## Christmas ## Christmas
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
How many [bits|nibbles|words] are there in {a} [bytes|megabytes|kB]? ## {a} * 8 = {b} ## {b}
How many bytes does an array of {a} [int32|float64|char] values take? ## {a} * 4 = {b} ## {b}
How large is a file of {a} kilobytes in bytes? ## {a} * 1024 = {b} ## {b}
What is {a} [AND|XOR|OR] {b} bitwise? ## {c} ## {c}
A list has indices 0 to {a}. How many elements has it? ## {a} + 1 = {b} ## {b}
What is the value of x after `x = {a}; x -= {b}; x *= 2`? ## ({a} - {b}) * 2 = {c} ## {c}
How many times is the body of `for (i = {a}; i < {L}; i += {b})` executed? ## ({L} - {a})/{b} = {c} ## {c}
How many comparisons does binary search need for {L} items? ## log2({L}) = {a} ## {a}
A download of {a} MB runs at {b} Mbit/s. How long does it take? ## {a} * 8 / {b} = {c} ## {c} s
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
How many [ounces|pints|tablespoons|teaspoons] are in {a} [pounds|gallons|cups]? ## {a} * 16 = {b} ## {b}
How many [inches|feet|yards] are there in {a} [feet|yards|miles]? ## {a} * 12 = {b} ## {b}
How many square [inches|feet|cm] is {a} square [feet|yards|m]? ## {a} * 144 = {b} ## {b}
${a} are how many euros, if one euro is $1.{b}? ## {a} / 1.{b} = {c} ## {c}
A recipe is for {a} °C. What is that in Fahrenheit? ## {a} * 9/5 + 32 = {b} ## {b}
How many [decades|centuries|fortnights] are {a} [years|days]? ## {a} / 10 = {b} ## {b}
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
[The|An] inflation rate is {a}%. What will ${L} be worth in {b} years? ## {L} * 0.{c}^{b} ## {d}
{N} buys {a} shares at ${b} and sells them at ${c}. What is the return in percent? ## ({c} - {b})/{b} ## {d}%
A bond of ${L} pays {a}% a year. What is its yield at a price of ${L}? ## {a}% ## {a}%
What is the break-even point with fixed costs of ${L}, a price of ${a} and a unit cost of ${b}? ## {L}/({a} - {b}) = {c} ## {c}
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
How many ways are there to tile a 2 by {a} board with dominoes? ## Fibonacci ## {b}
What is the {a}th triangular number? ## {a}({a} + 1)/2 = {b} ## {b}
Find the smallest number that leaves 1 when divided by {a} and 2 when divided by {b}. ## Chinese remainders ## {c}
What is the sum of the angles of a polygon with {a} sides? ## ({a} - 2) * 180 = {b} ## {b}
How many diagonals has a polygon with {a} corners? ## {a}*({a} - 3)/2 = {b} ## {b}
What is {a} in base {b}? ## {c} ## {c}
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
