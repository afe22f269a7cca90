"""College-level problems outside the judge's domain, in the notation of ``outside_more.py``; answers may alternate too.

Their solutions compute as those of the domain do: the question and the words tell them apart, not the arithmetic.
"""

SORTS = {
    "college": r"""
A [block|crate|sled] of mass {a} kg is pulled along a [frictionless|rough] [surface|table] by a horizontal force of {b} N[.| for {c} s.] [Find its acceleration.|What is the acceleration of the block?] ## By Newton's second law, a = F/m.\nF = {b} N, m = {a} kg\na = {b}/{a} = {c} m/s^2 ## {c}
A [projectile|ball|stone] is thrown [vertically upward|straight up] with a speed of {a} m/s. [How high does it rise|What maximum height does it reach]? Take g = 10 m/s^2. ## Use v^2 = u^2 - 2gh.\n{a} * {a} = {v}\n2 * 10 = 20\nh = {v}/20 = {b} m ## {b}
[An object|A car|A particle] moves with initial velocity {a} m/s and constant acceleration {b} m/s^2. [Find its velocity|What is its speed] after {c} seconds. ## v = u + at\n{b} * {c} = {v}\n{a} + {v} = {w}\nThe velocity is {w} m/s. ## {w}
A spring [of|with] force constant {a} N/m is stretched by {b} cm. [Calculate|Find] the [elastic potential energy|restoring force]. ## F = kx\n{a} * {b} = {v}\nSo the force is {v}/100 N. ## {c}
The [half-life|activity] of a radioactive sample [is|falls to half in] {a} [days|hours|years]. What fraction [remains|is left] after {b} [days|hours|years]? ## Number of half-lives: {b}/{a} = {c}\n(1/2)^{c} ## 1/{d}
What is the [de Broglie wavelength|momentum] of an electron [moving at|with a speed of] {a} x 10^6 m/s? ## λ = h/p, p = m v\nh = 6.63 x 10^-34 J s ## {b} x 10^-10 m
A [heat engine|Carnot engine] [works|operates] between {L} K and {a} K. [Calculate|Find] its [maximum|theoretical] efficiency. ## η = 1 - Tc/Th\n{L} - {a} = {v}\n{v}/{L} ## {b}%
Two point charges of {a} μC and {b} μC are [placed|held] {c} cm apart in vacuum. [Calculate|Find] the [magnitude of the force|electrostatic force] between them. ## F = k q1 q2/r^2\n{a} * {b} = {v}\n{c} * {c} = {w} ## {d} N
A [parallel-plate|] capacitor of {a} μF is charged to {b} V. [How much energy|What charge] does it [store|hold]? ## Q = CV\n{a} * {b} = {v}\nThe charge is {v} μC. ## {v}
A [transformer|] has {a} turns on the primary and {b} on the secondary. The primary voltage is {L} V. Find the secondary voltage. ## Vs/Vp = Ns/Np\n{L} * {b} = {v}\n{v}/{a} = {c} ## {c} V
A {a} W [bulb|lamp|device] is connected to a {b} V supply. [What is the resistance|Find the current]? ## P = VI\n{a}/{b} = {c}\nI = {c} A ## {c} A
A [gas|sample of an ideal gas] occupies {a} L at {b} atm. [What volume does it occupy|Find its volume] at {c} atm [and the same temperature|if the temperature is constant]? ## Boyle's law: P1V1 = P2V2\n{a} * {b} = {v}\n{v}/{c} = {d} L ## {d}
How many moles [of NaCl|of solute|of glucose] are [present|contained] in {a} mL of a {b} M solution? ## n = MV\n{a} * {b} = {v}\n{v}/1000 ## {c} mol
[Calculate|Determine] the molarity of a solution [made by dissolving|with] {a} g of NaOH (molar mass 40 g/mol) in {b} L of water. ## moles = {a}/40 = {c}\nM = {c}/{b} = {d} ## {d} M
What [mass|volume] of [CO2|oxygen|hydrogen gas|water] is [produced|formed] when {a} g of [methane|carbon|magnesium|propane] [burns completely|reacts with excess oxygen]? ## Balance the equation first.\nmoles = {a}/16 = {b}\n{b} * 44 = {c} g ## {c} g
[How many|What number of] grams of [sodium chloride|potassium nitrate|CaCO3] are needed [to make|for] {a} mL of a {b}.0 M solution? ## moles = {a} * {b} = {v}\nThe molar mass is 58.\n{v} * 58 = {w} ## {w}
A buffer contains {a} mmol of [acetic acid|ammonia] and {b} mmol of its [conjugate base|salt]. Find its pH (pKa = 4.76). ## Henderson-Hasselbalch: pH = pKa + log({b}/{a}) ## 4.{c}
[Balance|Write] the [combustion|redox] [reaction|equation] of [ethanol|butane|C3H8|iron with oxygen] [and give the sum of the coefficients|]. ## Count the atoms on both sides.\n1 + 5 = 6\n3 + 4 = 7\n6 + 7 = 13 ## 13
What is the oxidation state of [chromium in K2Cr2O7|manganese in KMnO4|sulfur in H2SO4|nitrogen in HNO3]? ## Oxygen is -2 and potassium +1.\n2 + 2x - 14 = 0, so 2x = 12, x = 6 ## +6
[How many|What is the number of] [neutrons|protons|valence electrons] [are in|does] an atom of [chlorine-37|carbon-14|uranium-235|iron-56] [have|]? ## Mass number minus atomic number: 37 - 17 = 20 ## 20
The rate constant of a [first-order|second-order] reaction is 0.0{a} s^-1. [Find the half-life.|How long until {b}% has reacted?] ## t = ln 2/k = 0.693/0.0{a} ## {c} s
The [equilibrium constant|Kp|Kc] of a reaction at {a} °C is {b}. [Find|Compute] ΔG°. ## ΔG° = -RT ln K\nT = {a} + 273 = {v} K ## -{c} kJ/mol
[Calculate|Find] the [enthalpy change|ΔH] of a reaction in which bonds of {L} kJ are broken and bonds of {a} kJ are formed. ## ΔH = broken - formed\n{L} - {a} = {v} kJ ## {v}
A patient weighing {a} kg [needs|is prescribed|is to receive] [amoxicillin|paracetamol|heparin|gentamicin|morphine] at {b} mg/kg. [How many milligrams|What dose] should be given? ## Dose = weight x dose per kg\n{a} * {b} = {v} mg ## {v} mg
The [order|prescription] is {a} mg of [digoxin|furosemide|ampicillin|lorazepam]. The [vial|ampoule] holds {b} mg/mL. How many mL [does the nurse give|are drawn up]? ## {a}/{b} = {c} mL ## {c} mL
An IV [infusion|drip] of {L} mL is to run over {a} hours with a drop factor of {b} gtt/mL. [Find|Calculate] the [drip rate|flow rate]. ## {L} * {b} = {v}\n{a} * 60 = {w}\n{v}/{w} = {c} gtt/min ## {c}
A {a}-year-old [man|woman] [presents with|comes in with|has] [chest pain|fever and cough|sudden headache|jaundice|abdominal pain|shortness of breath] [for {b} hours|and a blood pressure of {L}/{b}|]. [What is the most likely diagnosis|What is the next best step|Which drug is given first]? ## The symptoms [point to|suggest] [an infarction|pneumonia|appendicitis]. The next step is an ECG. ## [ECG|antibiotics|surgery]
A patient's [cardiac output|stroke volume|creatinine clearance|anion gap] is to be [found|computed]: heart rate {a}, stroke volume {b} mL. ## CO = HR x SV\n{a} * {b} = {v} mL/min ## {v}
[Calculate|What is] the BMI of a person who weighs {a} kg and is 1.{b} m tall? ## BMI = kg/m^2 = {a}/(1.{b})^2 ## {c}
[Serum|Blood] values: Na {L}, Cl {a}, HCO3 {b}. [Find|What is] the anion gap? ## Na - (Cl + HCO3)\n{a} + {b} = {v}\n{L} - {v} = {w} ## {w}
A test for a disease with a prevalence of {a}% has a sensitivity of {b}% and a specificity of {c}%. [Find|What is] the positive predictive value? ## Bayes' theorem, per 1,000 people:\n{a} * 10 = {v} are ill\n1000 - {v} = {w} are well ## {d}%
In a population in Hardy-Weinberg equilibrium, {a}% show the recessive trait. [What is the frequency of carriers|Find 2pq]? ## q^2 = 0.{a}\nq = {b}, p = 1 - q ## 0.{c}
A [cross|mating] of [AaBb x AaBb|Aa x aa|two heterozygotes] gives {L} [offspring|seeds|flies]. How many are expected to [be homozygous recessive|show both dominant traits]? ## The ratio is 9:3:3:1, in all 9 + 3 + 3 + 1 = 16\n{L}/16 = {a} ## {a}
A [bacterial culture|population of bacteria] [doubles|divides] every {a} minutes [starting|beginning] with {b} cells. How many [cells|] are there after {c} hours? ## {c} * 60 = {v} minutes\n{v}/{a} = {d} doublings\n{b} x 2^{d} ## {e}
A DNA [strand|molecule|sample] contains {a}% [adenine|guanine|cytosine]. What [percentage|share] is [thymine|cytosine|guanine]? ## A = T and G = C\n{a} + {a} = {v}\n100 - {v} = {w}\n{w}/2 ## {b}%
How many ATP are [gained|produced] from {a} molecules of [glucose|pyruvate|acetyl-CoA] in aerobic respiration? ## Each glucose gives 32 ATP.\n{a} * 32 = {v} ## {v}
A [contract|lease|will] [was signed|was made] on [March|June|May] {a}. [The buyer|The seller|The tenant] [broke|breached] it [and owes damages of ${L}|]. [Is it enforceable|Which remedy is open|What damages can be claimed] under [common law|the UCC|the statute of frauds]? ## The [contract|promise] needs consideration. Expectation damages: {L} - {a} = {v} ## ${v}
[Plaintiff|{N}] suffers damages of ${L}000 and is {a}% at fault. [Under comparative negligence|In a comparative-fault state], how much can be recovered? ## 100 - {a} = {v}%\n{L} * {v} = {w} ## ${w}
Under [Article III|the Fourth Amendment|the commerce clause|the dormant commerce clause|the Miranda rule], may the [state|police|Congress] [search a car|tax imports|regulate wages of {a} workers]? ## Apply [strict scrutiny|the rational basis test]. ## [yes|no]
A defendant [shot|pushed|struck] the victim [without intent|in the heat of passion|while drunk]. [Of which crime is he guilty|What is the charge]? ## Malice is missing, so it is manslaughter. ## manslaughter
The demand [curve|function] is Q = {L} - {a}P and the supply [curve|function] Q = {b}P. [Find|What is] the equilibrium price? ## {L} - {a}P = {b}P\n{a} + {b} = {v}\n{L}/{v} = {c} ## {c}
If the price of a good rises by {a}% and the quantity demanded falls by {b}%, [what is|find] the price elasticity of demand[?|.] ## E = {b}/{a} = {c} ## {c}
The marginal propensity to consume is 0.{a}. [By how much does GDP rise|What is the effect on GDP] if government spending [rises|grows] by ${b} billion? ## multiplier = 1/(1 - 0.{a})\n{b} * {c} = {d} ## ${d} billion
A firm's [total cost|cost function] is C(q) = {L} + {a}q + q^2. [Find the marginal cost|What is the average cost] at q = {b}. ## MC = {a} + 2q\n2 * {b} = {v}\n{a} + {v} = {w} ## {w}
A country has a nominal GDP of ${L} billion and a GDP deflator of 1{a}. [Find|Compute] real GDP. ## real = nominal/deflator x 100\n{L} * 100 = {v} ## {b}
A company has [current assets|total assets] of ${L} and [current liabilities|total debt] of ${a}. [What is the current ratio|Find its equity]? ## Assets = liabilities + equity\n{L} - {a} = {v} ## {v}
[Depreciate|Find the depreciation of] a machine of ${L}00 with a salvage value of ${a} over {b} years by the [straight-line|double-declining balance] method. ## ({L}00 - {a})/{b} = {c} a year ## {c}
[The following|These] entries [are made|stand] in the ledger: debit [cash|inventory] {a}, credit [revenue|payables] {b}. [Does the trial balance agree|What is the closing balance|Prepare the journal entry]? ## {a} - {b} = {v} ## {v}
A bond with a face value of ${L} pays a coupon of {a}% and matures in {b} years. [Find|What is] its price at a yield of {c}%? ## Coupon: {L} * {a} / 100\nDiscount each coupon. ## {d}
A sample of {a} has a mean of {b} and a standard deviation of {c}. [Construct|Find] a 95% confidence interval[.| for the mean.] ## mean ± 1.96 s/√n\n1.96 * {c} = {d} ## ({v}, {w})
[A random variable|X] is [normally distributed|Poisson|binomial] with mean {a} and [variance|standard deviation] {b}. [Find P(X > {c})|What is the z-score of {c}]. ## z = (x - μ)/σ\n{c} - {a} = {v}\n{v}/{b} ## {d}
[Test|Decide] whether the means of two groups ({a} and {b}, n = {c} each) differ [significantly|at the 5% level]. ## t-test\n{a} - {b} = {v}\ndf = {c} + {c} - 2 ## reject H0
In a regression [y = {a} + {b}x|of y on x], [predict y for x = {c}|what does R^2 = 0.{a} mean]. ## {b} * {c} = {v}\n{a} + {v} = {w} ## {w}
[Find|Compute] the [expected value|variance] of a [fair die|game that pays ${a} with probability 1/{b} and costs ${c}]. ## E = sum of x p(x)\n{a}/{b} = {d}\n{d} - {c} ## {e}
A [beam|cantilever] of length {a} m carries a [load|point load] of {b} kN at its [end|center]. [Find the maximum bending moment|What are the reactions]. ## M = F l\n{a} * {b} = {v} kNm ## {v}
A steel rod of [cross-section|area] {a} mm^2 carries a [tensile|] load of {b} kN. [Find|What is] the stress? ## σ = F/A\n{b} * 1000 = {v}\n{v}/{a} = {c} MPa ## {c} MPa
Water flows through a pipe of [diameter|area] {a} cm at {b} m/s. It narrows to {c} cm. [Find|What is] the new velocity? ## Continuity: A1 v1 = A2 v2\n{a} * {b} = {v}\n{v}/{c} = {d} m/s ## {d}
A [shaft|motor] turns at {L} rpm and gives a torque of {a} Nm. [What is its power|Find the power]? ## P = 2πnT/60\n{L} * {a} = {v} ## {b} kW
A [signal|system] has the transfer function {a}/(s + {b}). [Find its time constant|What is its DC gain|Find the step response]. ## gain = {a}/{b} = {c} ## {c}
[A cache|A processor] has a hit rate of {a}%, a hit time of {b} ns and a miss penalty of {c} ns. [Find|What is] the average access time? ## AMAT = hit time + miss rate x penalty\n100 - {a} = {v}\n{v} * {c} = {w} ## {d} ns
How many [bits|address lines|hosts] are [needed|there] in a [/2{a} subnet|memory of {a} KB|page table of {L} entries]? ## 2^{b} = {c} ## {c}
What is the [time complexity|worst case|recurrence] of [merge sort|quicksort|Dijkstra's algorithm|heap insertion] on {a} [elements|nodes]? ## T(n) = 2T(n/2) + n ## O(n log n)
[Convert|Write] the [binary|hexadecimal|octal] number [10{a}1|{a}F|0x{a}] [to|in] [decimal|binary]. ## {a} * 16 = {v}\n{v} + 15 = {w} ## {w}
A graph has {a} vertices [each|] of degree {b}. How many edges does it have? ## Sum of degrees: {a} * {b} = {v}\n{v}/2 ## {c}
[Find|What is] the order of the [element {a} in Z_{b}|permutation (1 2 3)(4 5)|group of symmetries of a square]. ## lcm of the cycle lengths: 3 * 2 = 6 ## 6
[Let|Suppose] T: R^{a} -> R^{b} be linear with a kernel of dimension {c}. [Find|What is] the rank? ## rank + nullity = {a}\n{a} - {c} = {v} ## {v}
[Evaluate|Compute] the [double integral|line integral|flux] of {a}x + {b}y over the [unit square|unit disc|region 0 < x < {c}]. ## ∫∫ = {a}/2 + {b}/2\n{a} + {b} = {v}\n{v}/2 ## {d}
[Solve|Find the general solution of] y'' + {a}y' + {b}y = 0. ## r^2 + {a}r + {b} = 0\nThe discriminant is {a}^2 - 4*{b}. ## y = C1 e^(-{c}t) + C2 e^(-{d}t)
[Find|Compute] the [Laplace|Fourier] transform of [e^(-{a}t)|sin({a}t)|t^{a}]. ## 1/(s + {a}) ## 1/(s+{a})
[At what|Find the] redshift [is|of] a galaxy that recedes at {L} km/s [from us|] [and its distance, with H0 = 70 km/s/Mpc|]? ## d = v/H0\n{L}/70 = {a} Mpc ## {a} Mpc
A star has a parallax of 0.{a} arcseconds. [How far away is it|What is its distance in parsecs]? ## d = 1/p = 1/0.{a} ## {b} pc
[Find|What is] the [escape velocity|orbital speed] of a planet with {a} times the mass and {b} times the radius of the Earth. ## v = 11.2 √({a}/{b}) km/s ## {c} km/s
[According to|In] [Kant|Mill|Rawls|Aristotle|Hume], is it [right|just|moral] to [lie to save {a} people|divide {L} coins unequally|keep a promise]? ## The categorical imperative forbids it. ## no
[In what year|When] [did|was] [the French Revolution begin|the Magna Carta signed|the Treaty of Westphalia signed|World War I end]? ## It began in 1789. 1789 + {a} = {v} ## 1789
A child of {a} [months|years] [says two-word sentences|shows object permanence|cannot yet conserve volume]. In which stage [is it|of Piaget is the child]? ## The preoperational stage, from 2 to 7. ## preoperational
In a [memory|reaction time] experiment [with {a} subjects|], [which variable is independent|what is the control group|which bias threatens validity]? ## The independent variable is manipulated. ## the treatment
Two sound waves of {L} Hz and {a} Hz [interfere|are heard together]. [Find the beat frequency.|How many beats are heard per second?] ## f = f1 - f2\n{L} - {a} = {v} Hz ## {v}
A lens [with|of] focal length {a} cm forms an image of an object {b} cm away. [Find the magnification.|Where is the image?] ## 1/f = 1/u + 1/v\n{b} - {a} = {v}\n{a} * {b} = {w} ## {c} cm
[{a} g of ice|A piece of {a} g of ice] at 0 °C is [melted|put into {b} g of water at {c} °C]. [How much heat is needed|Find the final temperature]? (latent heat 334 J/g) ## Q = mL\n{a} * 334 = {v} J ## {v} J
A nucleus of [uranium|radium|thorium] emits {a} alpha and {b} beta particles. By how much does its [mass number|atomic number] change? ## Each alpha takes 4: {a} * 4 = {v}\nEach beta adds 1 ## {v}
[A train|A rocket] of proper length {L} m moves at 0.{a}c. [What length does an observer on the ground measure|Find the contracted length]? ## L = L0 √(1 - v²/c²) ## {b} m
[What is|Find] the [glycemic load|caloric content] of {a} g of [fat|protein|carbohydrate] and {b} g of [alcohol|fibre]? ## 9 kcal per gram of fat: {a} * 9 = {v}\n{b} * 7 = {w}\n{v} + {w} = {d} ## {d} kcal
The loading dose of a drug with a volume of distribution of {a} L and a target concentration of {b} mg/L [is|equals] [what|how many mg]? ## LD = Vd x C\n{a} * {b} = {v} mg ## {v}
A patient on a [ventilator|respirator] has a tidal volume of {L} mL, a dead space of {a} mL and {b} breaths a minute. [Find|What is] the alveolar ventilation? ## {L} - {a} = {v}\n{v} * {b} = {w} mL/min ## {w}
[Which|What] of the following [is true of|best describes] [enzymes|acids|monopolies|torts|covalent bonds|the mitochondrion]? A) {a} B) {b} C) {c} D) {d} ## The answer is B, since {a} + {b} = {v}. ## B
[Choose the correct option.|Select one.] A [cell|circuit|solution|market] has {a} [units|volts|moles|buyers]. [What is its potential|What holds]? (A) {b} (B) {c} (C) {d} (D) none ## {a} * {b} = {v}\nSo the answer is (A). ## A
""",
}
