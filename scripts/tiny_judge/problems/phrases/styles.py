"""Further habits of writing: division in words, echoes of a result, and additions to the banks of ``answers.py``."""

STEP = """
👉 {E}
➡️ {E}
✅ {E}
Math: {E}
{E} ✓
→ {E}
> {E}
we need {E}
Doing the math, {E}.
Thus {E}.
Hence, {E}.
Okay: {E}
Let me compute: {E}
Working: {E}
({E})
Calculation: {E}
calc: {E}
"""
NARRATED = """
Each gets {E}.
That's {E} each.
So each one is {E}.
Splitting it gives {E}.
Divided up, that is {E}.
One share is {E}.
"""
REASONED = """
We divide because it is shared equally: {E}.
Divide: {E}
To find one share, we divide: {E}.
Dividing gives {E}.
Now split it evenly: {E}
We need the quotient: {E}.
I divide: {E}
Since the parts are equal, {E}.
Per unit: {E}
"""
WORDS = """
{A} divided by {B} is {R}.
{A} divided by {B} equals {R}.
Dividing {A} by {B} gives {R}.
{A} split into {B} equal parts is {R} each.
{A} shared by {B} gives {R}.
I divide {A} by {B} and get {R}.
Divide {A} by {B} to get {R}.
{B} goes into {A} {R} times.
The quotient of {A} and {B} is {R}.
{A} over {B} is {R}.
If we split {A} by {B}, we get {R}.
"""
SETUP = """
Now divide by {B}.
Then we only have to divide {A} by {B}.
The last step is to divide by {B}.
"""
ECHO = """
Subtotal: {R}
So {V}.
That's {V} so far.
→ {V}
Result: {R}
= {V}
So far: {V}
I keep {R} in mind.
So that part is {V}.
Running total: {V}
This part: {V}
({V})
Got {R}.
ok, {V}.
"""
PERCENT = """
{P}% of {A} are {R}.
{P}% out of {A} is {R}
{R} is {P}% of {A}.
{P}% of {A} is {R}.
{P}% of {A} = {R}
{P}% of {A}: {R}
{P} percent of {A} is {R}.
{P}% of {A} equals {R}.
{P}% of {A} makes {R}
We take {P}% of {A}, which is {R}.
Calculate {P}% of {A}: {R}
"""
FRACTION = """
{P} of {A} are {R}
{R} is {P} of {A}.
{P} of {A} is {R}.
{P} of {A} = {R}
{P} of {A}: {R}
{P} of {A} makes {R}.
We take {P} of {A}, that is {R}.
{P} of {A} equals {R}
"""
FINALS = """
Final answer ➡️ {V}
✅ Answer: {F}
👉 {V}
**Answer:** {V}
### Answer\\n{F}
### Final answer\\n{V}
$$\\boxed{F}$$
\\[\\boxed{F}\\]
Hence, the answer is \\boxed{F}.
answer: {V}
Ans: {V}
ans = {F}
=> answer {F}
Therefore: {V}
so {V}
so {F}
{V}!
Answer - {F}
The final result: **{V}**
**Final answer: {V}**
Thus, {V}.
Hence {V}.
So the solution is {V}.
The required number is {F}.
So the answer would be {V}.
Conclusion: {V}
That gives **{V}**.
Final Answer\\n{F}
I'd say {V}.
it comes out to {V}
and that's {V}.
So in total: {V}
Result = {F}
Total: **{V}**
The answer is therefore {F}.
"""

MORE_WORDS = {
    "+": """
{A} and {B} more makes {R}.
{A} and {B} is {R}
{A}, then {B} on top: {R}.
{A} + {B}, so {R}.
add {B} to the {A} -> {R}
{A} with {B} added comes to {R}.
plus {B} to {A} is {R}
When we put {A} and {B} together we have {R}.
{A} go up by {B} to {R}.
{B} more than {A} is {R}.
Summing {A} and {B} yields {R}.
take {A}, add {B}, get {R}
That makes {R} ({A} plus {B}).
{R} in all, because {A} + {B}.
""",
    "-": """
{A} - {B}, so {R}.
take {B} off {A} -> {R}
{B} less than {A} is {R}.
From {A} take {B}: {R}.
{A} go down by {B} to {R}.
{A}, but {B} are gone, so {R}.
Of the {A}, {B} go, which leaves {R}.
Subtracting {B} from {A} yields {R}.
minus {B} from {A} is {R}
take {A}, remove {B}, get {R}
{R} remain ({A} minus {B}).
{R} are left, because {A} - {B}.
Between {A} and {B} there is a difference of {R}.
""",
    "*": """
{A} at {B} each is {R}.
{A} with {B} each makes {R}.
{A} of {B} is {R}
{A} x {B}, so {R}.
multiply {A} by {B} -> {R}
{B} for each of the {A}: {R}.
{A} sets of {B} come to {R}.
{B}, {A} times, is {R}.
{A} by {B} is {R}
Multiplying {A} and {B} yields {R}.
take {A}, multiply by {B}, get {R}
{R} in all ({A} times {B}).
{R}, because {A} x {B}.
""",
    "/": """
{A} into {B} equal groups is {R} per group.
{A} by {B}: {R} each.
{A} / {B}, so {R}.
divide {A} by {B} -> {R}
{A} among {B} is {R} apiece.
Dividing {A} by {B} yields {R}.
{R} each ({A} over {B}).
{A} in {B} parts: {R} per part.
""",
}
CONTINUED = {
    "+": """
plus {B} is {R}
plus {B} = {R}
and {B} more is {R}
add {B}, {R}
then +{B} gives {R}
with {B} more that's {R}
""",
    "-": """
minus {B} is {R}
minus {B} = {R}
take away {B}, {R}
less {B} leaves {R}
then -{B} gives {R}
without {B} that's {R}
""",
    "*": """
times {B} is {R}
times {B} = {R}
multiplied by {B} gives {R}
x {B} makes {R}
then times {B}, {R}
""",
    "/": """
divided by {B} is {R}
divided by {B} = {R}
over {B} gives {R}
split by {B}, {R}
then by {B} that's {R}
""",
}
EMOJI = "🙂 😀 👍 🎉 🍎 🎵 ✅ 🤔 🙏 💰 🚗 📚 🐶 !! ... :) ;) xD".split()

GIVEN = """
Given: {T}
We know: {T}
Known: {T}
The problem says: {T}
From the problem: {T}
We are told that {T}
Facts: {T}
**Given:** {T}
> {T}
Question says "{T}"
"""
CHECKS = """
Check: {E}
Check: {E} ✓
Checking: {E}, correct.
(check: {E})
To verify: {E}.
Proof: {E}
Test: {E} ✔
We can check this: {E}.
"""

CONVERSION = """
{A} = {R}
{A} is {R}
{A} are {R}.
{A} makes {R}.
{A} → {R}
Convert: {A} = {R}
{A} equals {R}.
First I convert {A} into {R}.
That means {A}, which is {R}.
({A} = {R})
In other units, {A} is {R}.
"""
IMPLIED = {
    "+": """
That makes {V} altogether.
Together {V}.
Now it is {V}.
So {V} in all.
With that, {V}.
Adding that up: {V}.
{L}: {V}
Sum: {V}
""",
    "-": """
That leaves {V}.
So {V} remain.
Which leaves {V}.
{V} are left.
Left: {V}
{L}: {V}
So there are still {V}.
What remains: {V}
""",
}

# like IMPLIED, with the number that is added, taken away, multiplied or divided by
IMPLIED_WITH = {
    "+": """
{B} more, so {R}.
{B} more makes {R}
Another {B}, that's {R}.
Then {B} come on top: {R}
Add {B}: {R}
with the {B} it's {R}
Plus the {B}, and we are at {R}.
{B} are added, giving {R}.
The other {B} bring it to {R}.
and {B}, so {R} in all
""",
    "-": """
{B} are gone, so {R}.
Take off {B}: {R}
{B} go, {R} stay.
gave {B} away so {R}
Less the {B}, {R}.
Minus {B} leaves {R}.
{B} fewer is {R}.
Then {B} come off: {R}
Now {B} are taken, so only {R}.
without the {B} it's {R}
""",
    "*": """
{B} of those is {R}.
Times {B} makes {R}
{B} times that: {R}
For {B} it is {R}.
so {B} of them make {R}
That {B} times over is {R}.
And this for all {B}: {R}
""",
    "/": """
Among {B} that's {R} each.
Divided by {B}: {R}
Split {B} ways it is {R}.
{B} equal parts of {R}
so for each of the {B}, {R}
Over {B}, so {R}.
""",
}
