"""More problems outside the judge's domain for training alone, so that those held out stay as they were; the notation is that of ``outside_more.py``."""

SORTS = {
    "college": r"""
A [cyclist|runner|truck] [speeds up|accelerates] from rest at {a} m/s^2 for {b} s. [How far does it go|What distance is covered]? ## s = (1/2)at^2\n{b} * {b} = {v}\n{a} * {v} = {w}\n{w}/2 = {c} m ## {c} m
A force of {a} N [acts|is applied] at {b} m from the [pivot|hinge|axis]. [What torque|Find the torque] does it produce. ## τ = rF\n{a} * {b} = {v} N·m ## {v}
How much work is done in lifting a {a} kg [crate|box|stone] by {b} m? (g = 10) ## W = mgh\n{a} * 10 = {v}\n{v} * {b} = {w} J ## {w} J
The kinetic energy of a {a} kg [body|cart|ball] is {L} J. What is its [speed|momentum]? ## v = sqrt(2E/m)\n2 * {L} = {v}\n{v}/{a} = {w} ## {b} m/s
A pressure of {a} Pa acts on {b} m^2. [What force results|Find the force]. ## F = pA\n{a} * {b} = {v} N ## {v} N
[An ideal|A sample of] gas at {a} °C is heated to {b} °C at constant [pressure|volume]. By what factor does its [volume|pressure] grow? ## T1 = {a} + 273 = {v}\nT2 = {b} + 273 = {w}\n{w}/{v} ## 1.{c}
How much heat [raises|is needed to raise] the temperature of {a} g of [water|copper|iron] by {b} K? ## Q = mcΔT\n{a} * {b} = {v}\n{v} * 4 = {w} J ## {w} J
Three resistors of {a} Ω, {b} Ω and {c} Ω are in series with a {L} V source. [What current flows|Find the current]. ## R = {a} + {b} + {c} = {v}\nI = {L}/{v} ## {d} A
A wave has a frequency of {a} Hz and a wavelength of {b} m. What is its [speed|velocity of propagation]? ## v = fλ\n{a} * {b} = {v} m/s ## {v}
An inductor of {a} mH carries {b} A. What energy is stored? ## E = 1/2 L I^2\n{b} * {b} = {v}\n{a} * {v} = {w} ## {w}/2 mJ
What volume of {a} M HCl [neutralizes|is needed to neutralize] {b} mL of {c} M NaOH? ## M1V1 = M2V2\n{b} * {c} = {v}\n{v}/{a} = {d} mL ## {d} mL
How many [molecules|atoms] are in {a} mol of [water|helium|ammonia]? ## N = n * 6.022 x 10^23 ## {b} x 10^23
A compound is {a}% carbon and {b}% hydrogen [by mass|]. [Find its empirical formula.|What is the simplest formula?] ## C: {a}/12 = {v}\nH: {b}/1 = {b} ## CH{c}
[Find|Calculate] the pH of a 0.0{a} M solution of [HNO3|a strong acid|KOH]. ## pH = -log[H+] = -log 0.0{a} ## {b}
A [dilution|stock solution] of {a} mg/mL is diluted 1:{b}. [What is the final concentration|Find the concentration]? ## {a}/{b} = {c} mg/mL ## {c} mg/mL
What is the [density|specific gravity] of a [metal|liquid] of which {a} mL weigh {L} g? ## ρ = m/V = {L}/{a} = {b} g/mL ## {b}
A [child|dog|infant] of {a} kg is given {b} mcg/kg/min of [dopamine|propofol|dobutamine]. The bag holds {L} mg in 250 mL. [Set the pump rate|How many mL per hour]? ## {a} * {b} = {v} mcg/min\n{v} * 60 = {w} mcg/h ## {c} mL/h
[Compute|Find] the BMI of a person of {a} kg and 1.{b} m. ## BMI = m/h^2 = {a}/(1.{b} * 1.{b}) ## {c}
A test has a sensitivity of {a}% and a specificity of {b}%; the prevalence is {c}%. [What is the positive predictive value|Find the PPV]? ## PPV = TP/(TP + FP)\n{a} * {c} = {v} ## {d}%
[What|Which] nerve [is injured in|causes] [wrist drop|foot drop|facial palsy]? ## the radial nerve ## radial
In a cross of two heterozygotes (Aa x Aa) [with {L} offspring|], how many [are expected to show the recessive trait|are aa]? ## 1/4 are aa\n{L}/4 = {a} ## {a}
A DNA strand has {a}% adenine. What percentage is [guanine|cytosine]? ## A = T, so 2 * {a} = {v}\n100 - {v} = {w}\n{w}/2 = {b} ## {b}%
A population of {L} [bacteria|flies|deer] grows at a rate r = 0.{a} with carrying capacity K = {L}00. Find dN/dt. ## dN/dt = rN(1 - N/K)\n{L} * {a} = {v} ## {v}
[How many|What number of] ATP [are formed|result] from {a} molecules of [glucose|pyruvate|acetyl-CoA]? ## {a} * 38 = {v} ## {v}
In equilibrium p^2 + 2pq + q^2 = 1 and q = 0.{a}. What share are carriers? ## p = 1 - 0.{a}\n2pq ## 0.{b}
Demand is Q = {L} - {a}P and supply is Q = {b}P. [Find|What is] the equilibrium price? ## {L} - {a}P = {b}P\n{a} + {b} = {v}\n{L}/{v} = {c} ## {c}
The [price elasticity|marginal propensity to consume] is 0.{a}. [What is the multiplier|By how much does demand fall when the price rises by {b}%]? ## 1/(1 - 0.{a}) ## {c}
A firm has fixed costs of ${L}, a price of ${a} and variable costs of ${b} a unit. [Find the break-even quantity.|What is the contribution margin?] ## {a} - {b} = {v}\n{L}/{v} = {c} units ## {c}
GDP consists of C = {a}, I = {b}, G = {c} and net exports of {d}. [Compute GDP.|What is GDP?] ## Y = C + I + G + NX\n{a} + {b} + {c} + {d} = {v} ## {v}
[Find|Calculate] the standard [error|deviation] of a sample of {a} with variance {b}. ## s = sqrt({b}), SE = s/sqrt({a}) ## {c}
The z-score of {L} in a distribution with mean {a} and standard deviation {b} is [what|asked]? ## z = (x - μ)/σ\n{L} - {a} = {v}\n{v}/{b} = {c} ## {c}
How many [degrees of freedom|cells] has a {a} x {b} contingency table? ## ({a} - 1)({b} - 1)\n{a} - 1 = {v}\n{b} - 1 = {w} ## {c}
[Find|Compute] the [determinant|trace|eigenvalues] of the matrix [[{a}, {b}], [{c}, {d}]]. ## {a}*{d} - {b}*{c}\n{a} * {d} = {v}\n{b} * {c} = {w} ## {e}
What is the remainder of {a}^{b} [divided by|modulo] {c}? ## By Fermat's little theorem the powers repeat. ## {d}
A [truss|bridge|column] has a safety factor of {a} and an ultimate load of {L} kN. [What load is allowed|Find the permitted load]? ## {L}/{a} = {b} kN ## {b} kN
A [motor|pump] takes {L} W and gives {a} W. What is its efficiency? ## η = Pout/Pin = {a}/{L} ## {b}%
A [processor|CPU] runs at {a} GHz with {b} cycles per instruction. [How long do {L} instructions take|Find the MIPS rate]? ## {a} * 1000 = {v}\n{v}/{b} = {c} ## {c}
How many bits does a [file of {L} KB|picture of {a} x {b} pixels at {c} bits] have? ## {a} * {b} = {v}\n{v} * {c} = {w} bits ## {w}
[Under|By] which [amendment|article|doctrine] is [a search without a warrant|double jeopardy|freedom of assembly] [decided|protected]? ## the Fourth Amendment ## Fourth
A contract [is made|was signed] by a minor aged {a}. Is it [void|voidable|binding]? ## It is voidable. ## voidable
""",
    "logic": r"""
{N} has {a} [socks|gloves] of {b} colors in a drawer. How many must be drawn in the dark to be sure of a pair? ## {b} + 1 = {c} ## {c}
A [spider|beetle] climbs {a} [inches|cm] up a drain every hour and slides back {b} while it rests. When does it get out of the {c} [inches|cm]? ## {a} - {b} = {d} an hour ## {e} hours
Five [houses|cars|hats] stand in a row. The red one is left of the blue one and {N}'s is in the middle. [Whose is the last|Which is first]? ## {N}'s ## blue
If all [zorks|blips] are [mips|tans] and some [mips|tans] are red, are some [zorks|blips] red? ## not necessarily ## no
{N} says that [Ben|Cy] lies, and [Ben|Cy] says that both tell the truth. Who [lies|tells the truth]? ## [Ben|Cy] lies ## Ben
There are {a} [doors|lockers] and {a} [pupils|guards]; the n-th toggles every n-th. How many are open in the end? ## the squares up to {a} ## {b}
{N} faces north, turns right, turns right again and then left. Which way does {N} face? ## east ## east
If today is [Monday|Sunday], what day was it {a} days ago? ## {a} mod 7 = {b} ## Thursday
What comes next: {a}, {b}, {c}, ...? ## {b} - {a} = {d}, {c} - {b} = {e} ## {f}
[You have|There are] a {a} liter and a {b} liter jug. How do you measure {c} liters? ## fill and pour: {a} - {b} = {d} ## {e} steps
A man has to take a [wolf|fox], a [goat|goose] and a [cabbage|bag of grain] across a river. How many crossings are needed? ## 7 crossings ## 7
{a} people in a room each shake hands with all others. How many handshakes are there? ## {a} - 1 = {b}\n{a} * {b} = {v}\n{v}/2 = {c} ## {c}
""",
    "finance": r"""
[What is|Find] the [present value|future value] of ${L} [due in|after] {a} years at {b}% [compounded annually|compound interest]? ## PV = {L}/(1.0{b})^{a} ## ${c}
A bond with a face value of ${L} pays a coupon of {a}% and trades at {b}. [What is its current yield|Find the yield]? ## {L} * {a} = {v}\n{v}/{b} ## {c}%
A stock with a beta of 1.{a} [has what|: find its] expected return when the risk-free rate is {b}% and the market returns {c}%[?|.] ## CAPM: {c} - {b} = {d}\n1.{a} * {d} ## {e}%
[Compute|Find] the [NPV|internal rate of return] of a project that costs ${L} and pays ${a} a year for {b} years. ## {a} * {b} = {v}\n{v} - {L} ## {c}
A loan of ${L} is [amortized|paid off] in {a} monthly payments at {b}% APR. [What is each payment|Find the installment]? ## r = {b}/12 ## ${c}
A firm has current assets of ${L} and current liabilities of ${a}. What is its [current ratio|working capital]? ## {L}/{a} = {b} ## {b}
Straight-line depreciation of a machine for ${L} with a salvage value of ${a} over {b} years [is|gives] what? ## {L} - {a} = {v}\n{v}/{b} = {c} ## {c}
[How long|How many years] until money doubles at {a}% by the rule of 72? ## 72/{a} = {b} ## {b}
An option with a strike of ${a} is bought for ${b}. At what price does it break even? ## {a} + {b} = {v} ## {v}
""",
}
