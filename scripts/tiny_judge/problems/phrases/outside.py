"""Problems outside the judge's domain, with answers: ``question ## answer ## reference``, by sort.

``{a}`` … are numbers; ``{x}``, ``{y}`` letters; ``{N}`` a name. The answers need not be right.
"""

SORTS = {
    "geometry": r"""
A circle has radius {a} cm. What is its area? ## A = πr² = π·{a}² = {b}π cm² ## {b}π
Find the area of a triangle with base {a} and height {b}. ## Area = 1/2 · base · height = {c} ## {c}
A right triangle has legs {a} and {b}. Find the hypotenuse. ## c = sqrt({a}^2 + {b}^2) = sqrt({c}) ## \sqrt{{c}}
What is the volume of a sphere of radius {a}? ## V = 4/3 π r^3 = {b}π ## {b}π
Two angles of a triangle are {a}° and {b}°. What is the third angle? ## 180 - {a} - {b} = {c} degrees ## {c}°
The diagonal of a square is {a}. Find its side. ## side = {a}/√2 = {b} ## {b}
In triangle ABC, AB = {a}, AC = {b} and angle A = 60°. Find BC. ## By the law of cosines, BC² = {c}. ## \sqrt{{c}}
How many diagonals does a polygon with {a} sides have? ## n(n-3)/2 = {b} ## {b}
Find the distance between the points ({a}, {b}) and ({c}, {d}). ## d = \sqrt{({c}-{a})^2 + ({d}-{b})^2} ## {e}
A cylinder has radius {a} and height {b}. Find its surface area. ## 2πr² + 2πrh = {c}π ## {c}π
What is the slope of the line through ({a},{b}) and ({c},{d})? ## slope = ({d} - {b})/({c} - {a}) ## 2
The vertices of a quadrilateral lie on a circle. One angle measures {a}°. What does the opposite angle measure? ## 180° − {a}° = {b}° ## {b}
Find the circumference of a circle with diameter {a}. Use π = 3.14. ## C = 3.14 × {a} = {b} ## {b}
""",
    "algebra": r"""
Solve for {x}: {a}{x} + {b} = {c} ## {a}{x} = {c} - {b}, so {x} = {d} ## {x} = {d}
Solve {x}^2 - {a}{x} + {b} = 0. ## ({x} - {c})({x} - {d}) = 0, so {x} = {c} or {x} = {d}. ## {c}, {d}
If {x} + {y} = {a} and {x} - {y} = {b}, find {x}. ## Adding both: 2{x} = {c}, {x} = {d}. ## {d}
Simplify ({x} + {a})({x} - {b}). ## {x}^2 + {c}{x} - {d} ## {x}^2+{c}{x}-{d}
Factor {x}^2 - {a}. ## ({x} - {b})({x} + {b}) ## ({x}-{b})({x}+{b})
What is log_2({a})? ## log2 {a} = {b} ## {b}
Let f({x}) = {a}{x}^2 + {b}. Find f({c}). ## f({c}) = {a}*{c}^2 + {b} = {d} ## {d}
Find the sum of the first {a} positive integers. ## n(n+1)/2 = {b} ## {b}
{N} thinks of a number, triples it and adds {a}. The result is {b}. What is the number? ## 3{x} + {a} = {b}, {x} = {c} ## {c}
The sum of two numbers is {a} and their difference is {b}. Find the larger number. ## x + y = {a}, x - y = {b} → 2x = {c} ## {d}
{N} is three times as old as her son. In {a} years she will be twice as old. How old is she? ## 3{x} + {a} = 2({x} + {a}), so {x} = {a} ## {b}
What is the determinant of the matrix [[{a}, {b}], [{c}, {d}]]? ## ad - bc = {e} ## {e}
Solve the inequality {a}{x} - {b} > {c}. ## {x} > {d} ## {x} > {d}
Compute {a}^{b}. ## {a}^{b} = {c} ## {c}
What is √{a}? ## It is {b}. ## {b}
Evaluate {a}! / {b}!. ## {c} ## {c}
Find the roots of {x}^3 - {a}{x} = 0. ## {x}({x}^2 - {a}) = 0 ## 0, \pm\sqrt{{a}}
Rationalize the denominator of 1/(√{a} - 1). ## Multiply by the conjugate. ## (\sqrt{{a}}+1)/{b}
Express 0.{a}{a}{a}... as a fraction. ## x = 0.{a}..., 10x - x = {a}, x = {a}/9 ## {a}/9
Find |{a} + {b}i|. ## sqrt({a}^2+{b}^2) = {c} ## {c}
Tickets cost ${a} for adults and ${b} for children. {c} tickets were sold for ${d}. How many adult tickets were sold? ## Let a be adults: {a}a + {b}({c}-a) = {d} ## {e}
A boat goes {a} km downstream in {b} hours and back in {c} hours. Find the speed of the current. ## (v + c) = {d}, (v - c) = {e} ## {e}
Pipe A fills a tank in {a} hours and pipe B in {b} hours. How long do both take together? ## 1/{a} + 1/{b} = 1/t ## {c}
How many liters of a {a}% solution must be mixed with {b} liters of a {c}% solution to get a {d}% solution? ## Let {x} be the liters ... ## {e}
""",
    "numbers": r"""
What is {a}/{b} + {c}/{d}? ## common denominator: {e}/{f} ## {e}/{f}
{a} children go on a trip. Each car has room for {b}. How many cars are needed? ## {a}/{b} = {c}.{d}, so we need {e} cars ## {e}
What is the remainder when {L} is divided by {b}? ## {L} = {b} * {c} + {d}, remainder {d} ## {d}
Find the greatest common divisor of {a} and {b}. ## gcd = {c} ## {c}
Is {L} a prime number? ## Yes, it has no divisors. ## yes
Write {a} in binary. ## {a} = 101101 ## 101101
Write {L} in scientific notation. ## {a}.{b} x 10^4 ## {a}.{b} \times 10^4
Round {L} to the nearest hundred. ## {a}00 ## {a}00
Compute {a}.{L} × {b}.{L}. ## {c}.{L} ## {c}.{L}
How many three-digit numbers are divisible by {a}? ## 999/{a} - 99/{a} = {b} ## {b}
What is the next number: {a}, {b}, {c}, {d}, ...? ## the differences double, so {e} ## {e}
(-{a}) × {b} + (-{c}) = ? ## -{d} - {c} = -{e} ## -{e}
What is the {a}th Fibonacci number? ## F = {b} ## {b}
The ratio of boys to girls is {a}:{b}. There are {c} boys. What is the ratio of girls to all? ## {b}:{d} ## {b}:{d}
{L}{a} × {L}{b} = ? ## {L}{c}{L} ## {L}{c}{L}
A company made ${L}{a},{L} in March and ${L}{b},{L} in April. What was the total revenue? ## {L}{a},{L} + {L}{b},{L} = {L}{c},{L} ## {L}{c},{L}
Find the least common multiple of {a} and {b}. ## lcm({a},{b}) = {c} ## {c}
What is the median of {a}, {b}, {c}, {d}, {e}? ## sorted, the middle one is {c} ## {c}
""",
    "calculus": r"""
Find the derivative of {x}^{a} + {b}{x}. ## f'({x}) = {a}{x}^{c} + {b} ## {a}{x}^{c}+{b}
Evaluate \int_0^{a} {x}^2 \, d{x}. ## [{x}^3/3]_0^{a} = {b} ## {b}
Compute \lim_{{x} \to 0} \frac{\sin {a}{x}}{{x}}. ## By L'Hopital it is {a}. ## {a}
Find the maximum of f({x}) = -{x}^2 + {a}{x}. ## f'({x}) = -2{x} + {a} = 0 ## {b}
Solve the differential equation y' = {a}y, y(0) = {b}. ## y = {b}e^({a}t) ## y={b}e^{{a}t}
Does the series \sum 1/n^{a} converge? ## Yes, p-series with p > 1. ## converges
Differentiate sin({a}{x}). ## {a} cos({a}{x}) ## {a}\cos({a}{x})
What is the integral of 1/{x}? ## ln|{x}| + C ## \ln|{x}|+C
Find the Taylor series of e^{x} up to order {a}. ## 1 + {x} + {x}^2/2 + ... ## 1+{x}+...
Find f'({a}) for f({x}) = {b}{x}^3. ## f'({x}) = {c}{x}^2, f'({a}) = {d} ## {d}
""",
    "physics": r"""
A body of mass {a} kg is accelerated at {b} m/s². What force acts? ## F = ma = {a} * {b} = {c} N ## {c} N
A car accelerates from rest at {a} m/s^2 for {b} s. How far does it go? ## s = 1/2 a t^2 = {c} m ## {c} m
What is the kinetic energy of a {a} kg ball moving at {b} m/s? ## E = 1/2 m v² = {c} J ## {c} J
A current of {a} A flows through a resistor of {b} Ω. Find the voltage. ## U = R·I = {c} V ## {c} V
How many moles are in {a} g of water? ## n = m/M = {a}/18 = {b} mol ## {b}
Balance: H2 + O2 -> H2O ## 2 H2 + O2 -> 2 H2O ## 2H2 + O2 -> 2H2O
What is the pH of a 0.0{a} M HCl solution? ## pH = -log(0.0{a}) = {b} ## {b}
A ball is thrown upwards with {a} m/s. When does it reach its highest point? (g = 9.8 m/s²) ## t = v/g = {b} s ## {b} s
A wave has frequency {a} Hz and wavelength {b} m. What is its speed? ## v = fλ = {c} m/s ## {c} m/s
What is the density of {a} g of metal with a volume of {b} cm³? ## ρ = m/V = {c} g/cm³ ## {c}
How much heat is needed to warm {a} g of water by {b} °C? ## Q = mcΔT = {c} J ## {c} J
Two genes Aa x Aa are crossed. What share of the offspring is aa? ## 1/4 by the Punnett square ## 25%
A lens has focal length {a} cm. An object stands {b} cm away. Where is the image? ## 1/f = 1/v + 1/u ## {c} cm
""",
    "chance": r"""
A bag holds {a} red and {b} blue balls. What is the probability of drawing a red one? ## P = {a}/({a}+{b}) = {c}/{d} ## {c}/{d}
Two dice are rolled. What is the probability that the sum is {a}? ## {b} of 36, so {b}/36 ## {b}/36
In how many ways can {a} people sit in a row? ## {a}! = {b} ## {b}
How many subsets of size {a} does a set of {b} elements have? ## C({b},{a}) = {c} ## {c}
A coin is tossed {a} times. What is the chance of exactly {b} heads? ## C({a},{b})/2^{a} ## {c}/{d}
What is the expected value of a fair die with {a} sides? ## ({a}+1)/2 ## {b}.5
What is the standard deviation of {a}, {b}, {c}? ## sqrt of the variance = {d} ## {d}
How many different words can be made from the letters of {N}? ## n! / repeats = {a} ## {a}
Cards are drawn from a deck of 52. P(two aces)? ## 4/52 * 3/51 = 1/221 ## 1/221
""",
    "code": r"""
Write a Python function that returns the sum of a list. ## def total(xs):\n    return sum(xs) ## def total(xs): return sum(xs)
What does this print? for i in range({a}): print(i*{b}) ## It prints 0, {b}, ... ## 0 {b} {c}
What is the time complexity of binary search? ## It halves the range each time: O(log n) ## O(log n)
Write an SQL query that counts the users older than {a}. ## SELECT COUNT(*) FROM users WHERE age > {a}; ## SELECT COUNT(*) FROM users WHERE age > {a}
Fix the bug: def f(n): return n * f(n-1) ## add a base case: if n == 0: return 1 ## base case missing
What is the output of print("{N}"[::-1])? ## the string reversed ## {N}
Given an array of {a} integers, find the two numbers that add up to {b}. ## use a hash map, O(n) ## hash map
What does `git rebase -i HEAD~{a}` do? ## It rewrites the last {a} commits. ## interactive rebase
Convert the hex number 0x{a} to decimal. ## 16 * 1 + {b} = {c} ## {c}
int x = {a}; x += {b}; printf("%d", x); What is printed? ## {c} ## {c}
""",
    "knowledge": r"""
What is the capital of France? ## The capital of France is Paris. ## Paris
Who wrote Romeo and Juliet? ## William Shakespeare ## Shakespeare
In which year did the Second World War end? ## It ended in 1945. ## 1945
Which planet is the largest in the solar system? ## Jupiter is the largest planet. ## Jupiter
What is the chemical symbol of gold? ## Au ## Au
Name the longest river in the world. ## The Nile ## Nile
Who painted the Mona Lisa? ## Leonardo da Vinci painted it. ## Leonardo da Vinci
How many bones does an adult human have? ## An adult has 206 bones. ## 206
Summarize the following text in one sentence. {N} went to the market and met an old friend. ## {N} met a friend at the market. ## {N} met a friend
Translate "good morning" into Spanish. ## Buenos días ## Buenos días
Is the following review positive or negative? "I loved every minute of it." ## positive ## positive
Which of these is a mammal? (A) shark (B) whale (C) frog (D) eagle ## B ## B
What is the past tense of "go"? ## went ## went
Explain why the sky is blue. ## Rayleigh scattering: short wavelengths scatter more. ## Rayleigh scattering
What organ pumps blood? ## The heart pumps blood through the body. ## heart
Who was the first president of the United States? ## George Washington ## George Washington
Write a haiku about {N}. ## Snow falls on the pond / silent as an unread page / {N} smiles ## (any)
Does the premise entail the hypothesis? Premise: {N} plays the piano. Hypothesis: {N} is a musician. ## neutral ## neutral
At what temperature does water boil in Fahrenheit? ## 212 degrees ## 212
What is the powerhouse of the cell? ## the mitochondrion ## mitochondria
All cats are animals. Some animals are black. Are all cats black? ## That does not follow. ## no
Choose the correct answer. {a} + {b} is closest to (A) {c} (B) {d} (C) {e} (D) {f} ## The answer is C. ## C
{N} lives next to the baker. The baker does not live next to the doctor. Who lives in the middle? ## the baker ## baker
Continue the story: Once upon a time, {N} found a key. ## The key opened a small green door. ## (open)
Is this sentence grammatical? "{N} have went home." ## No: it should be "has gone". ## no
""",
    "language": r"""
{N} hat {a} Äpfel und kauft {b} dazu. Wie viele Äpfel hat {N} jetzt? ## {a} + {b} = {c} Äpfel ## {c}
{N} tiene {a} manzanas y compra {b} más. ¿Cuántas manzanas tiene ahora? ## {a} + {b} = {c} manzanas ## {c}
{N} a {a} pommes et en mange {b}. Combien lui en reste-t-il ? ## {a} - {b} = {c}. Il en reste {c}. ## {c}
{N} ha {a} mele e ne compra altre {b}. Quante mele ha adesso? ## {a} + {b} = {c} ## {c}
{N} tem {a} maçãs e dá {b} a um amigo. Quantas maçãs sobram? ## {a} - {b} = {c} ## {c}
小明有{a}个苹果，又买了{b}个。他现在有多少个苹果？ ## {a} + {b} = {c}，所以有{c}个。 ## {c}
太郎はりんごを{a}個持っています。{b}個食べました。残りは何個ですか。 ## {a} - {b} = {c} 個 ## {c}
У {N} было {a} яблок, он купил ещё {b}. Сколько яблок у него стало? ## {a} + {b} = {c} яблок ## {c}
{N} ma {a} jabłek i kupuje {b} kolejnych. Ile jabłek ma teraz? ## {a} + {b} = {c} ## {c}
철수는 사과 {a}개를 가지고 있습니다. {b}개를 더 샀습니다. 모두 몇 개입니까? ## {a} + {b} = {c} ## {c}
كان لدى {N} {a} تفاحة واشترى {b} أخرى. كم تفاحة لديه الآن؟ ## {a} + {b} = {c} ## {c}
{N} heeft {a} appels en koopt er {b} bij. Hoeveel appels heeft {N} nu? ## {a} + {b} = {c} ## {c}
{N}'in {a} elması var, {b} tane daha alıyor. Kaç elması olur? ## {a} + {b} = {c} ## {c}
Ein Buch kostet {a} Euro. Wie viel kosten {b} Bücher? ## {a} · {b} = {c} Euro ## {c} Euro
Une boîte contient {a} crayons. Combien y a-t-il de crayons dans {b} boîtes ? ## {a} × {b} = {c} ## {c}
En una clase hay {a} niños y {b} niñas. ¿Cuántos alumnos hay en total? ## Sumamos: {a} + {b} = {c}. ## {c}
{N} के पास {a} सेब हैं। वह {b} और खरीदता है। अब कितने सेब हैं? ## {a} + {b} = {c} ## {c}
""",
    "units": r"""
Convert {a} miles to kilometers. ## {a} * 1.609 = {b} km ## {b} km
Convert {a} °F to °C. ## ({a} - 32) * 5/9 = {b} ## {b} °C
How many pounds are {a} kilograms? ## {a} × 2.2046 = {b} lb ## {b}
Convert {a} inches to centimeters. ## {a} * 2.54 = {b} cm ## {b}
How many gallons are {a} liters? ## {a} / 3.785 = {b} ## {b}
If 1 dollar is 0.{L} euros, how many euros are {a} dollars? ## {a} * 0.{L} = {b} ## {b}
How many seconds are in {a} light years? ## about {b} x 10^7 ## {b}
Express {a} km/h in m/s. ## {a}/3.6 = {b} m/s ## {b}
How many bits are {a} megabytes? ## {a} * 8 * 10^6 ## {b}000000
Convert {a} degrees to radians. ## {a}π/180 ## {b}π/{c}
{a} ounces are how many grams? ## {a} * 28.35 = {b} ## {b}
How many feet are {a} yards and {b} inches? ## {c} ft ## {c}
""",
    "advanced": r"""
{N} invests ${L} at {a}% interest compounded annually for {b} years. How much does he have? ## {L} × (1.0{a})^{b} = {L}.{c} ## ${L}.{c}
A population doubles every {a} years. How large is it after {b} years if it starts at {L}? ## {L} × 2^({b}/{a}) ## {c}
Prove that the square root of 2 is irrational. ## Suppose √2 = p/q in lowest terms ... ## proof
Let G be a group of order {a}. Show that it is abelian. ## By Lagrange ... ## proof
Find the eigenvalues of [[{a}, 0], [{b}, {c}]]. ## {a} and {c} ## {a}, {c}
How many integers {x} satisfy {x}^2 < {a}? ## -{b} < {x} < {b}, so {c} ## {c}
Find all pairs of integers ({x}, {y}) with {x}{y} = {a}. ## the divisors of {a} ## {b} pairs
Compute {a}^{L} mod {b}. ## by Fermat's little theorem: {c} ## {c}
What is the sum of the geometric series {a} + {a}/2 + {a}/4 + ...? ## {a}/(1 - 1/2) = {b} ## {b}
If sin θ = {a}/{b}, find cos θ. ## cos θ = sqrt(1 - ({a}/{b})²) ## {c}/{b}
Find the number of zeros at the end of {a}!. ## {a}/5 + {a}/25 = {b} ## {b}
Let a_1 = {a} and a_{n+1} = a_n + {b}. Find a_{{c}}. ## a_n = {a} + {b}(n-1) ## {d}
Express \frac{{a}+i}{{b}-i} in the form a+bi. ## multiply by the conjugate ## {c}+{d}i
The function f satisfies f(x+y) = f(x)f(y) and f(1) = {a}. Find f({b}). ## f(n) = {a}^n ## {c}
What is the vertex of the parabola y = {x}^2 - {a}{x} + {b}? ## complete the square ## ({c}, {d})
Let \vec{u} = ({a}, {b}) and \vec{v} = ({c}, {d}). Find \vec{u} \cdot \vec{v}. ## {a}*{c} + {b}*{d} = {e} ## {e}
""",
}

PREFIXES = """
Solve.
Question:
Problem {a}.
Answer the following.
Please help:
Q{a}:
Read the question and answer it.
(Version {a}.)
Explain your answer.
"""

REMARKS = """
First, let us recall the definition.
We use the formula.
Let me think about it.
By symmetry, the result follows.
So the answer is as stated.
This is a known fact.
Let's solve this step by step.
Substituting the values gives the result.
Therefore the answer is correct.
I am fairly sure.
Here is my solution.
"""
